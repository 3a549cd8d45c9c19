"""Times of other libraries, measured elsewhere on a comparable machine (two cores of an x86-64 server with AVX-512).

They are NOT from this run: those libraries are C and C++ programs that pip does not install. Wall seconds with the
data already in each library's own type. praznik is C with OpenMP (1 and 2 threads), FEAST is C, fast-mRMR is C++
(its time less that of a run with k = 1).
"""

from __future__ import annotations

from .worlds import World

ORIGIN = (
    "* measured elsewhere on a comparable machine with two cores, NOT in this run; data already in each library's"
    " own type, of the same shape but not the same numbers. 'gain' compares like numbers of threads: the best time"
    " of ours against the fastest of those. How much lazy cmim has to count depends on the data, so its gain is"
    " only a hint."
)

_SETS = ((10_000, 2_000), (10_000, 1_000), (50_000, 500), (100, 10_000))
_SELECTIONS: dict[str, dict[str, tuple[float, float, float, float]]] = {
    "mrmr": {
        "praznik 1": (1.03, 0.48, 1.11, 0.17),
        "praznik 2": (0.51, 0.23, 0.57, 0.09),
        "FEAST": (1.95, 0.83, 1.88, 0.43),
        "fast-mRMR": (0.58, 0.22, 0.48, 0.16),
    },
    "jmi": {
        "praznik 1": (1.97, 1.00, 2.40, 0.41),
        "praznik 2": (1.04, 0.50, 1.23, 0.30),
        "FEAST": (3.24, 1.52, 3.68, 0.76),
    },
    "cmim": {
        "praznik 1": (0.10, 0.10, 0.35, 0.017),
        "praznik 2": (0.07, 0.06, 0.25, 0.019),
        "FEAST": (0.21, 0.18, 0.59, 0.011),
    },
    "disr": {
        "praznik 1": (1.87, 0.94, 2.35, 0.49),
        "praznik 2": (1.00, 0.47, 1.18, 0.33),
        "FEAST": (5.05, 2.33, 5.44, 1.20),
    },
    "mim": {
        "praznik 1": (0.027, 0.013, 0.029, 0.003),
        "praznik 2": (0.017, 0.008, 0.018, 0.002),
        "FEAST": (0.040, 0.017, 0.040, 0.005),
    },
}
LIBRARIES = ("praznik 1", "praznik 2", "FEAST", "fast-mRMR")
MATRICES = {"mi": {"praznik 1": 4.55, "praznik 2": 2.28}, "cmi": {"praznik 1": 5.54, "praznik 2": 2.80}}


def selection(criterion: str, world: World) -> dict[str, float]:
    """Seconds by library for this criterion and data set; empty where nothing was measured."""
    asked = 100 if world.n == 100 else 50  # the last data set was measured with k = 100
    if (world.n, world.m) not in _SETS or world.k != asked:
        return {}
    column = _SETS.index((world.n, world.m))
    return {library: seconds[column] for library, seconds in _SELECTIONS.get(criterion, {}).items()}


def fastest(seconds: dict[str, float], threads: int) -> float | None:
    """The fastest of the others with that many threads; the serial programs count as one thread and as two."""
    other = "praznik 2" if threads == 1 else "praznik 1"
    return min((s for library, s in seconds.items() if library != other), default=None)
