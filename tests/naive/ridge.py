"""alpha = (H + lambda I)^-1 h, one solve for each lambda."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def ridge(H: Any, h: Any, lambdas: Sequence[float]) -> NDArray[np.float64]:
    """One row for each lambda."""
    return np.array([np.linalg.solve(H + lam * np.eye(len(h)), h) for lam in lambdas])
