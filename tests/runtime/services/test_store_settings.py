"""Settings of a store, and words of its `restore`, that mean nothing: an error, and no file."""

from __future__ import annotations

import itertools
import math
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from lawful import Machine, Nat, transition
from lawful.runtime.journal import Journal, read
from lawful.runtime.registry import Registry
from lawful.runtime.store import Store, StoreError


class Sender(Machine):
    sent: Nat = 0

    @transition()
    def send(self) -> None:
        self.sent += 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"snapshot_every": 0}, "a snapshot follows one event or more, not 0"),
        ({"snapshot_every": 1.5}, "a snapshot follows one event or more, not 1.5"),
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


@pytest.mark.parametrize("most", [0, math.nan, 2.5, True])
def test_a_registry_holds_a_number_of_instances(most: Any, tmp_path: Path) -> None:
    """More than NaN there would never be."""
    message = r"^a registry holds one instance or more, not "
    with Store(tmp_path / "s.db") as kept, pytest.raises(ValueError, match=message):
        Registry(kept, Sender, most=most)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"buffer": -1}, "buffer: a number of rows, from 0 on, not -1"),
        ({"buffer": "64"}, "buffer: a number of rows, from 0 on, not '64'"),
        ({"largest": 0}, "largest: a number of bytes, from 1 on, not 0"),
        ({"largest": 1e6}, "largest: a number of bytes, from 1 on, not 1000000.0"),
    ],
)
def test_a_journal_refuses_settings_that_mean_nothing(
    given: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        Journal(tmp_path / "j.jsonl", **given)
    assert [*tmp_path.iterdir()] == []


def test_a_name_that_is_no_text_is_refused_and_harms_nobody(tmp_path: Path) -> None:
    """SQLite takes 3 for the text; a row of a journal with it could not be read."""
    names: tuple[Any, ...] = (3, None, b"a", ["a"])
    no_text = r"^the name of an instance is a text, not "
    with Store(tmp_path / "s.db") as kept, Journal(tmp_path / "j.jsonl") as journal:
        one, other = kept.add(Sender(), "3"), Sender()
        journal.attach(one, "3")
        one.send()
        calls = (
            partial(kept.add, other),
            partial(kept.restore, Sender),
            partial(journal.attach, other),
            kept.events,
            kept.remove,
        )
        for call, name in itertools.product(calls, names):
            with pytest.raises(TypeError, match=no_text):
                call(name)
        for name in names:
            with pytest.raises(TypeError, match=r"^a key is a text, not "):
                kept.once(name, one.send)
            assert name not in kept
    assert [row["instance"] for row in read(tmp_path / "j.jsonl")] == ["3", "3"]
    with Store(tmp_path / "s.db") as kept:
        assert kept.restore(Sender, "3").sent == 1


def test_a_name_or_key_without_an_encoding_is_refused(tmp_path: Path) -> None:
    with Store(tmp_path / "s.db") as kept:
        one = kept.add(Sender(), "a")
        with pytest.raises(StoreError, match="cannot be a name"):
            kept.restore(Sender, "\ud800")
        with pytest.raises(ValueError, match=r"'\\ud800' cannot be a key: .*surrogates"):
            kept.once("\ud800", one.send)
        assert (one.sent, kept.events("a")) == (0, [])


def test_a_store_is_in_no_file_that_sqlite_deletes_in_the_end() -> None:
    with pytest.raises(ValueError, match=r"^a store is in a file; the path is empty$"):
        Store("")


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
