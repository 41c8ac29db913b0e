"""Each guard of the scheduler is true and refuses in some scope, or is listed with its reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from lawful import machines as package
from lawful.machines.message_scheduler.ageing import MessagingAgeing
from lawful.machines.message_scheduler.system import (
    MessagingFair,
    MessagingFixed,
    MessagingInTime,
    MessagingOpen,
)
from lawful.machines.message_scheduler.threads import Threads
from tests.machines.covering import Guard, exercised, texts

FOLDER = Path(package.__path__[0]) / "message_scheduler"
# What is odd about a guard in every scope, and why.
LISTED: dict[Guard, tuple[str, str]] = {
    ("declaration", "needed(number)"): (
        "never refuses",
        "Two requests wait at most, of three numbers. `test_scheduler` uses all numbers.",
    ),
    ("declaration", "timeout > 0"): (
        "never refuses",
        "Senders give a time within every scope. `test_service` gives none, and is refused.",
    ),
}
OF_TIME = {("system", "no urgent timer is due"): "never refuses"}  # Of `tick`, which has no text.


def test_what_is_listed_is_in_the_source() -> None:
    assert set(texts(FOLDER, {guard: odd for guard, (odd, _) in LISTED.items()}).values()) == {True}


@pytest.mark.nightly
def test_everything_else_happens() -> None:
    systems = (MessagingFixed, MessagingFair, MessagingAgeing, MessagingOpen, MessagingInTime)
    found = exercised(*((cls, "scope") for cls in (*systems, Threads)))
    assert found.odd == {guard: odd for guard, (odd, _) in LISTED.items()} | OF_TIME
    assert (found.unreached, found.never) == (frozenset(), frozenset())
