"""The growth of a sort in journals and stores: told as an event is, replayed, brought back."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from lawful import Machine, Nat, total, transition
from lawful.checks.replay.fold import fold
from lawful.checks.replay.problems import InstanceVerdict
from lawful.checks.replay.program import ReplayProgram
from lawful.checks.replay.rows import Row, journal_row
from lawful.runtime.journal import Journal, read, rotated
from lawful.runtime.recovery import Policy
from lawful.runtime.store import Store
from tests.checks.declarations.growing import Cluster, Node

A = Node("a")


def fresh() -> Cluster:
    return Cluster(universe={Node: ["a"]})


def run(made: Cluster) -> None:
    made.lawful.grow(Node, "b")
    made.start(A)
    made.put(A)
    made.lawful.grow(Node, "c")
    made.put(A)


def judged(rows: list[dict[str, Any]]) -> InstanceVerdict:
    told = [journal_row(row, "") for row in rows]
    return fold(
        ReplayProgram((Cluster.lawful.ir,)), "x", [row for row in told if isinstance(row, Row)]
    )


def journalled(path: Path, **how: Any) -> list[dict[str, Any]]:
    with Journal(path, **how) as journal:
        made = fresh()
        journal.attach(made, "x")
        made.start(A)
        made.lawful.grow(Node, "b")
        made.put(A)
    return [row for each in (*rotated(path), path) for row in read(each)]


def test_a_row_tells_the_element_and_replay_follows(tmp_path: Path) -> None:
    rows = journalled(tmp_path / "j")
    grown = rows[2]
    assert {key: grown[key] for key in ("event", "transition", "outcome", "args", "changed")} == {
        "event": "grow_Node",
        "transition": "grow_Node",
        "outcome": "done",
        "args": {"element": "b"},
        "changed": {
            "load": {"a": 0, "b": 0},
            "links": {
                "$map": [
                    [{"$tuple": ["a", "a"]}, False],
                    [{"$tuple": ["a", "b"]}, False],
                    [{"$tuple": ["b", "a"]}, False],
                    [{"$tuple": ["b", "b"]}, True],
                ]
            },
        },
    }
    verdict = judged(rows)
    assert (verdict.verdict, verdict.events) == ("fits", 3)
    assert verdict.transitions == {"start": 1, "grow_Node": 1, "put": 1}


@pytest.mark.parametrize(
    ("lie", "verdict", "kind"),
    [
        ({"args": {"element": "a"}}, "deviates", "argument"),
        ({"args": {}}, "quarantined", "quarantined"),
        ({"args": {"element": "c"}}, "deviates", "changed"),
        ({"outcome": "refused"}, "quarantined", "quarantined"),
        ({"changed": {"load": {"a": 0, "b": 1}}}, "deviates", "changed"),
    ],
)
def test_a_row_that_lies_does_not_fit(
    tmp_path: Path, lie: dict[str, Any], verdict: str, kind: str
) -> None:
    rows = journalled(tmp_path / "j")
    rows[2] |= lie
    found = judged(rows)
    assert found.finding is not None
    assert (found.verdict, found.finding.kind, found.finding.index) == (verdict, kind, 2)


def test_an_event_of_an_element_that_never_joined_does_not_fit(tmp_path: Path) -> None:
    rows = journalled(tmp_path / "j")
    del rows[2]
    rows[2] |= {"seq": 2, "args": {"n": "b"}}
    found = judged(rows)
    assert found.finding is not None and found.finding.clause.startswith("n: b is not in the univ")


def test_a_file_that_begins_later_has_the_universe_of_then(tmp_path: Path) -> None:
    path = tmp_path / "j"
    with Journal(path, buffer=0, largest=1000) as journal:
        made = fresh()
        journal.attach(made, "x")
        run(made)
    files = [*rotated(path), path]
    assert len(files) > 2
    rows = [row for each in files for row in read(each)]
    assert judged(rows).verdict == "fits"
    later = [[*read(each)] for each in files[1:]]
    assert all(judged(each).verdict == "fits" for each in later if each)
    assert later[0][0]["outcome"] == "continued"
    assert later[0][0]["universe"]["Node"][:2] == ["a", "b"]


class Inner(Machine):
    """A part with a total map of its own: it runs and is replayed, and is not explored."""

    marks: dict[Node, Nat] = total(0)

    @transition()
    def mark(self, n: Node) -> None:
        self.marks[n] += 1


class Outer(Machine):
    inner: Inner = Inner()
    several: dict[bool, Inner] = {}

    @transition()
    def add(self, which: bool) -> None:
        self.several[which] = Inner()

    @transition()
    def mark(self, n: Node) -> None:
        self.inner.mark(n)
        for each in self.several.values():
            each.mark(n)


def test_maps_of_parts_grow_and_are_replayed(tmp_path: Path) -> None:
    path = tmp_path / "j"
    with Journal(path) as journal, Store(tmp_path / "s.db") as store:
        made = store.add(Outer(universe={Node: ["a"]}), "x")
        journal.attach(made, "x")
        made.add(True)
        made.mark(A)
        made.lawful.grow(Node, "b")
        made.add(False)
        made.mark(Node("b"))
    program = ReplayProgram((Outer.lawful.ir,))
    rows = [journal_row(row, "") for row in read(path)]
    verdict = fold(program, "x", [row for row in rows if isinstance(row, Row)])
    assert (verdict.verdict, verdict.finding, verdict.events) == ("fits", None, 5)
    with Store(tmp_path / "s.db") as store:
        back = store.restore(Outer, "x")
        assert back == made
        held = [dict(e.marks) for e in (back.inner, back.several[True], back.several[False])]
        assert held == [{A: 1, Node("b"): 1}, {A: 1, Node("b"): 1}, {A: 0, Node("b"): 1}]


@pytest.mark.parametrize("policy", ["take", "replay", "same"])
@pytest.mark.parametrize("closed", [False, True])
def test_a_stored_instance_comes_back_with_its_universe(
    tmp_path: Path, policy: Policy, closed: bool
) -> None:
    path, kept = tmp_path / "s.db", tmp_path / "kept.db"
    with Store(path) as store:
        made = store.add(fresh(), "x")
        run(made)
        if not closed:
            for suffix in ("", "-wal"):
                if Path(f"{path}{suffix}").exists():
                    shutil.copy(f"{path}{suffix}", f"{kept}{suffix}")
    with Store(path if closed else kept) as store:
        back = store.restore(Cluster, "x", policy=policy)
        assert back == made
        assert back.lawful.snapshot() == made.lawful.snapshot()
        assert [row["transition"] for row in store.events("x")][::3] == ["grow_Node", "grow_Node"]
        back.lawful.grow(Node, "d")
    with Store(path if closed else kept) as store:
        assert len(store.restore(Cluster, "x", policy=policy).load) == 4


def test_a_row_that_cannot_be_written_undoes_the_growth(tmp_path: Path) -> None:
    with Store(tmp_path / "s.db", timeout=0.01) as store, Store(tmp_path / "s.db") as other:
        made = store.add(fresh(), "x")
        before = made.lawful.snapshot()
        other.restore(Cluster, "x").lawful.grow(Node, "c")
        with pytest.raises(Exception, match="went on elsewhere"):
            made.lawful.grow(Node, "b")
        assert made.lawful.snapshot() == before
