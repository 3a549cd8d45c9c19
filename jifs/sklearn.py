"""`Selector`: the same selection as a scikit-learn transformer, for pipelines and grid searches."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import _check_feature_names, _check_n_features, check_is_fitted, validate_data

from jifs.selector import select
from jifs.table import as_table


class Selector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Keep the k features that `jifs.select` chooses; the parameters are those of `jifs.select`.

    After `fit`: `result_` (the whole Result), `selected_` (indices in the order of selection), `scores_` (the score of
    each when it was chosen), `get_support()`, `get_feature_names_out()`.
    """

    def __init__(
        self,
        criterion: Any = "jmi",
        k: int = 10,
        *,
        strategy: str | None = None,
        info: str = "plugin",
        bins: Any = 5,
        task: str | None = None,
        discrete: Any = None,
        include: Any = (),
        exclude: Any = (),
        stop: Any = None,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        progress: Any = False,
        drop_constant: bool = False,
        params: dict[str, Any] | None = None,
    ) -> None:
        self.criterion = criterion
        self.k = k
        self.strategy = strategy
        self.info = info
        self.bins = bins
        self.task = task
        self.discrete = discrete
        self.include = include
        self.exclude = exclude
        self.stop = stop
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress
        self.drop_constant = drop_constant
        self.params = params

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Select features of X for the target y."""
        table = as_table(
            self._checked(X, reset=True),
            y,
            task=self.task,
            discrete=self.discrete,
            sample_weight=sample_weight,
        )
        settings = self.get_params(deep=False)
        for own in ("task", "discrete"):
            settings.pop(own)
        self.result_ = select(table, **settings)
        if str(self.result_.facts.get("stopped", "")).startswith("interrupted"):
            raise KeyboardInterrupt("the selection was interrupted; what was found by then is in result_")
        self.selected_ = self.result_.indices
        self.scores_ = self.result_.scores
        return self

    def _checked(self, X: Any, reset: bool) -> Any:
        """X with its names and width on record: frames as they are (they may hold text), the rest as arrays."""
        if hasattr(X, "columns") or hasattr(X, "column_names"):
            _check_feature_names(self, X, reset=reset)
            _check_n_features(self, X, reset=reset)
            return X
        return validate_data(
            self,
            X,
            reset=reset,
            accept_sparse=True,
            dtype=None,
            ensure_all_finite=False,
            ensure_min_samples=2,
        )

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return self.result_.mask()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        return tags
