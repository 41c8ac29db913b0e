"""What the tests of the command line get: proofs in this process."""

from __future__ import annotations

import pytest

from lawful.commands import diff
from lawful.commands import prove as command


@pytest.fixture(autouse=True)
def proofs_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """To fork the workers takes more time than the proofs of most tests.

    Commands that a test runs as processes have workers, and so have the tests of `checks/prove`.
    """
    for module in (command, diff):
        monkeypatch.setattr(module, "workers", lambda: 1)
