"""Variables that are long tuples and frozensets: a store brings them back from its rows."""

from __future__ import annotations

import shutil
from pathlib import Path

from lawful import Machine, Nat, transition
from lawful.checks.replay import ReplayProgram, replay
from lawful.runtime.journal import Journal
from lawful.runtime.store import Store


class Trail(Machine):
    steps: tuple[Nat, ...] = ()
    seen: frozenset[Nat] = frozenset()

    @transition()
    def go(self, to: Nat) -> None:
        self.steps = self.steps + (to,)
        self.seen = self.seen | {to}


def test_a_long_tuple_comes_back_without_a_snapshot(tmp_path: Path) -> None:
    (tmp_path / "copy").mkdir()
    with Store(tmp_path / "a.db") as store, Journal(tmp_path / "j.jsonl") as journal:
        trail = store.add(Trail(), "a")
        journal.attach(trail, "a")
        for to in range(12):
            trail.go(to)
        assert store.events("a")[-1]["changed"] == (
            '{"variables":{"steps":{"$changed":{"at":11,"removed":0,"added":[11]}},'
            '"seen":{"$changed":{"added":[11],"removed":[]}}}}'
        )
        for file in tmp_path.glob("a.db*"):  # As after a kill: no snapshot was left.
            shutil.copy(file, tmp_path / "copy" / file.name)
    with Store(tmp_path / "copy" / "a.db") as store:
        trail = store.restore(Trail, "a")
        assert (trail.steps, trail.seen) == (tuple(range(12)), frozenset(range(12)))
    result = replay([tmp_path / "j.jsonl"], ReplayProgram((Trail.lawful.ir,)))
    assert result.verdicts["fits"] == 1
