"""Hypothesis finds the same in every run of `make test`; under `nightly` it searches on."""

from __future__ import annotations

import os

from hypothesis import settings

# Without a profile of our own, Hypothesis takes another one where CI is set.
settings.register_profile(
    "lawful", derandomize=True, database=None, deadline=None, print_blob=False
)
settings.register_profile("nightly", parent=settings.get_profile("lawful"), derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "lawful"))
