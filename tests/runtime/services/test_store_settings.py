"""Settings of a store, and words of its `restore`, that mean nothing: an error, and no file."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from lawful import Machine, Nat, transition
from lawful.runtime.store import Store


class Sender(Machine):
    sent: Nat = 0

    @transition()
    def send(self) -> None:
        self.sent += 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"snapshot_every": 0}, "a snapshot follows one event or more, not 0"),
        ({"synchronous": "FUL"}, "synchronous: one of FULL, NORMAL, EXTRA, OFF, not 'FUL'"),
        ({"timeout": -1.0}, "timeout: seconds, from 0 on, not -1.0"),
        ({"timeout": math.nan}, "timeout: seconds, from 0 on, not nan"),
    ],
)
def test_a_store_refuses_settings_that_mean_nothing(
    given: dict[str, Any], message: str, tmp_path: Path
) -> None:
    """SQLite takes any word for `synchronous`, and does nothing."""
    with pytest.raises(ValueError, match=f"^{message}$"):
        Store(tmp_path / "other.db", **given)
    assert [*tmp_path.iterdir()] == []


def test_a_store_is_in_a_file_or_a_database() -> None:
    place: Any = 3
    with pytest.raises(TypeError, match=r"^a store is in an SQLite file or a Database, not in 3$"):
        Store(place)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"policy": "replya"}, "policy: one of take, replay, same, not 'replya'"),
        ({"timers": "rest"}, "timers: one of remaining, deadline, restart, not 'rest'"),
    ],
)
def test_a_word_that_restore_does_not_know_is_refused(
    given: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with Store(tmp_path / "s.db") as kept:
        kept.add(Sender(), "a").send()
    with Store(tmp_path / "s.db") as kept:
        with pytest.raises(ValueError, match=f"^{message}$"):
            kept.restore(Sender, "a", **given)
        assert [row["seq"] for row in kept.events("a")] == [1]
