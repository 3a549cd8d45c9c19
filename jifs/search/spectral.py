"""Spectral relaxation of a quadratic form [Vinh et al. 2014]:  w = argmax w'Mw over |w| = 1;  the k largest weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from jifs.errors import InputError, MismatchError
from jifs.registry import strategy
from jifs.relax import spectral
from jifs.search.base import Outcome, Task
from jifs.search.form import Form, by_weight, read_form


@strategy("spectral", cite="[Vinh et al. 2014]")
@dataclass(frozen=True)
class Spectral:
    """Features by their weight in the non-negative dominant eigenvector of the form: one ranking for every k.

    At small k it can be far from the best set; strategy 'swap' or 'tabu' repairs most of that. nystrom: the share of
    the rows (or a list of features) from which the eigenvector is approximated. An included feature counts as fixed,
    with weight 1; an excluded one has weight 0.
    """

    nystrom: Any = None

    needs = "pairs"

    def __post_init__(self) -> None:
        spectral.checked_nystrom(self.nystrom)

    def run(self, face: Callable[..., Any], stats: Any, task: Task) -> Outcome:
        """Weights from the form, the features in their order."""
        form = read_form(face, stats, task)
        _refuse_negative(form, stats, task)
        weights, facts = np.zeros(task.free.size), dict[str, Any]()
        weights[list(task.include)] = 1.0
        if form.members:
            # a multiple of the identity changes the eigenvalue alone
            lift = max(0.0, -float(form.matrix.diagonal().min()))
            lifted = form.matrix + np.diag(np.full(len(form.members), lift)) if lift else form.matrix
            found = spectral.weights(lifted, self._rows(form), task.seed)
            weights[form.members] = found.weights
            facts = {"eigenvalue": found.eigenvalue - lift, "multiple_eigenvalue": found.multiple}
            if found.multiple:
                stats.warn(
                    f"the largest eigenvalue of the form of '{task.name}' is multiple: other weights are as good as"
                    " these, and a ranking by them is partly arbitrary"
                )
        out = by_weight(weights, form.unwanted, stats, task)
        place = {j: i for i, j in enumerate(form.members)}
        chosen = [place[s.feature] for s in out.steps if s.feature in place]
        return replace(out, facts={**facts, "value": form.value(chosen), **out.facts})

    def _rows(self, form: Form) -> Any:
        """Rows of the matrix from a list of features."""
        given = spectral.checked_nystrom(self.nystrom)
        if not isinstance(given, list):
            return given
        place = {j: i for i, j in enumerate(form.members)}
        lost = [j for j in given if j not in place]
        if lost:
            raise InputError(
                f"nystrom names feature {lost[0]}, which is not among those that may be chosen; leave it out"
            )
        return [place[j] for j in given]


def _refuse_negative(form: Form, stats: Any, task: Task) -> None:
    """A negative pair would let the dominant eigenvector have both signs, and then it is no ranking."""
    if not form.members or form.matrix.min() >= 0:
        return
    off = form.matrix.copy()
    np.fill_diagonal(off, 0.0)
    if off.min() < -1e-12 * float(np.abs(form.matrix).max()):
        i, j = (form.members[p] for p in np.unravel_index(int(off.argmin()), off.shape))
        raise MismatchError(
            f"strategy 'spectral' needs a form whose pairs are never negative, and '{task.name}' gives the pair of"
            f" '{stats.name_of(i)}' and '{stats.name_of(j)}' {off.min():.3g}; use strategy 'sdp', 'forward' or, for a"
            " form that is concave, 'qp'"
        )
