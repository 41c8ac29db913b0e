"""Hypothesis finds the same in every run of `make test`; under `nightly` it searches on."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

from lawful.checks.smt.solver import cache

# Without a profile of our own, Hypothesis takes another one where CI is set.
settings.register_profile(
    "lawful", derandomize=True, database=None, deadline=None, print_blob=False
)
settings.register_profile("nightly", parent=settings.get_profile("lawful"), derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "lawful"))


@pytest.fixture(autouse=True)
def nothing_proved_before(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """What the user's proofs showed is not known to a test, and no test adds to it."""
    monkeypatch.setattr(cache, "users", lambda: tmp_path_factory.mktemp("proofs"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What the comparison of all engines met: the shard that ended last has summed it."""
    reports = terminalreporter.getreports("passed") + terminalreporter.getreports("failed")
    told = (row for each in reports if each.when == "call" for row in each.user_properties)
    text = next((text for name, text in told if name == "agreement"), None)
    if text is not None:  # Of two shards that end at once both have summed it.
        terminalreporter.section("agreement of all engines")
        terminalreporter.write_line(str(text))
