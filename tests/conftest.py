"""Settings shared by all tests: the Hypothesis profiles `quick` (default) and `deep` (HYPOTHESIS_PROFILE=deep)."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# the first example of a process may compile or load kernels, so no deadline and no complaint about slow examples
CALM = [HealthCheck.too_slow, HealthCheck.data_too_large]

settings.register_profile(
    "quick", max_examples=40, deadline=None, print_blob=True, suppress_health_check=CALM
)
settings.register_profile(
    "deep", max_examples=1000, deadline=None, print_blob=True, suppress_health_check=CALM
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))
