"""Conditional information between features and class, as a quadratic form [Vinh et al. 2014]:

    x'Qx,   Q_ii = I(X_i;Y),   Q_ij = [I(X_i;Y|X_j) + I(X_j;Y|X_i)] / 2

over sets of k features, x their 0/1 vector. `spec_cmi` ranks by the dominant eigenvector of Q, `sdp_cmi` rounds a
semidefinite relaxation; both are the same form, and any strategy that takes a form or a set function can be used.
A constant feature has Q_ii = 0 but Q_ij = I(X_j;Y)/2, so it can be chosen: leave it out with drop_constant.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from jifs import Info, Stats, criterion, info


@criterion(
    "sdp_cmi",
    default="sdp",
    cite="[Vinh et al. 2014]",
    summary="sum I(X_i;Y) + sum I(X_i;Y|X_j) over a set, by semidefinite relaxation",
)
@criterion(
    "spec_cmi",
    default="spectral",
    cite="[Vinh et al. 2014]",
    summary="sum I(X_i;Y) + sum I(X_i;Y|X_j) over a set, by the dominant eigenvector",
)
@dataclass(frozen=True)
class ConditionalForm:
    """Relevance of each feature of a set, plus the relevance of each given each other one."""

    info: Info = field(default_factory=lambda: info("plugin"))

    def pairs(self, stats: Stats) -> tuple[np.ndarray, np.ndarray]:
        """q = diag Q, and Q."""
        given = self.info.matrix(stats, "cmi_target")
        form = given + given.T
        form *= 0.5
        relevance = self.info.relevance(stats)
        np.fill_diagonal(form, relevance)
        return relevance, form
