"""Advice on scopes: which bounds cut, the smallest scope without cuts, one element more."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from lawful import Machine, Scope
from lawful.checks.explore import explore
from lawful.checks.explore.advice import advise
from lawful.checks.explore.compiled import engine
from lawful.checks.explore.compiled.edges import Labels, Step
from lawful.checks.explore.compiled.engine import NotGenerated
from lawful.checks.explore.compiled.state_store import Followed
from lawful.checks.explore.limits import Limits
from lawful.checks.explore.result import Advice, Bound, OneMore, Widened
from lawful.checks.report import advice
from lawful.cli import main
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve
from tests.spec import texts

BOUNDED = """
class Walk(Machine):
    at: Nat = 0
    deep: int = 0
    log: list[bool] = []
    deadlock_ok = True

    @transition()
    def up(self) -> None:
        require(self.at < 6)
        self.at += 2

    @transition()
    def down(self) -> None:
        require(self.deep > -3)
        self.deep -= 1

    @transition()
    def write(self) -> None:
        require(len(self.log) < 3)
        self.log.append(True)

    scope = Scope(Nat=range(0, 3), int=range(-1, 2), log=1)
"""
ENDLESS = """
class Endless(Machine):
    at: Nat = 0

    @transition()
    def up(self) -> None:
        self.at += 1

    @constraint
    def odd_ones_end(self) -> bool:
        return self.at != 7

    scope = Scope(Nat=range(0, 3))
"""
CROWD = """
class Node(Sort): ...

class Crowd(Machine):
    inside: set[Node] = set()
    deadlock_ok = True

    @transition()
    def enter(self, n: Node) -> None:
        self.inside.add(n)

    @transition()
    def close(self) -> None:
        require(len(self.inside) > 2)
        self.inside.clear()

    @invariant
    def few(self) -> bool:
        return len(self.inside) < 3

    scope = Scope(Node=2)
"""


def advised(cls: type[Machine], seconds: float | None = None, states: int | None = None) -> Advice:
    found = resolve(cls)
    return advise(found, found.scopes["scope"], found.expects, Limits(states, seconds))


def cuts(cls: type[Machine], **bounds: object) -> int:
    """How many steps leave the scope with these bounds."""
    found = resolve(cls)
    flat = lower(found.machine, found.scopes["scope"].widened(bounds))
    return explore(flat, found.world, found.expects).cuts


def test_the_widening_is_the_smallest_that_cuts_nothing() -> None:
    walk = texts.machine(BOUNDED)
    found = advised(walk)
    # Of 2 * 2 * 2 states half are at each bound.
    assert found.cuts == (
        (Bound("Nat", False), 4),
        (Bound("int", True), 4),
        (Bound("log", False), 4),
    )
    changes: dict[str, Any] = {"Nat": range(7), "int": range(-3, 2), "log": 3}
    assert found.widened == Widened(changes, 4 * 4 * 4)
    assert not cuts(walk, **changes)
    smaller = {"Nat": range(6), "int": range(-2, 2), "log": 2}
    assert all(cuts(walk, **{**changes, key: value}) for key, value in smaller.items())


def test_where_none_is_found_that_is_said_with_how_far_it_came(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks = count()  # Each look at the clock is a millisecond after the last one.
    monkeypatch.setattr("time.perf_counter", lambda: next(looks) / 1000)
    found = advised(texts.machine(ENDLESS.replace("!= 7", ">= 0")), seconds=0.5)
    assert found.widened is not None and found.widened.why == "seconds"
    assert found.widened.distinct > 3
    (text,) = (line for line in advice.text(found) if "no scope" in line)
    came = found.widened.changes["Nat"]
    assert isinstance(came, range)
    assert text == (
        "  no scope without cuts was found: the time limit was reached; "
        f"the last one tried was Nat=0..{came.stop - 1}"
    )


def test_it_ends_when_it_is_asked_to_in_the_midst_of_many_states() -> None:
    found = resolve(texts.machine(ENDLESS.replace("!= 7", ">= 0")))
    wide = found.scopes["scope"].widened({"Nat": range(300)})
    times = count()
    late = advise(found, wide, {}, Limits(seconds=60.0, stop=lambda: next(times) > 200))
    assert late == Advice(60.0, why="asked")
    assert advice.text(late) == [
        "advice: none, the scope was not explored to its end: it was stopped"
    ]
    times = count()
    later = advise(found, wide, {}, Limits(seconds=60.0, stop=lambda: next(times) > 1000))
    assert later.cuts == ((Bound("Nat", False), 1),)
    assert later.widened is not None and later.widened.why == "asked"


def test_what_a_constraint_cuts_no_bound_can_mend() -> None:
    found = advised(texts.machine(ENDLESS))
    assert found.cuts == ((Bound("Nat", False), 1),) and found.constraints == {}
    assert found.widened == Widened({"Nat": range(8)}, 7)
    wide = resolve(texts.machine(ENDLESS.replace("range(0, 3)", "range(0, 9)")))
    more = advise(wide, wide.scopes["scope"], {}, Limits())
    assert more.cuts == () and more.constraints == {"odd_ones_end": 1}
    assert more.widened == Widened({}, 7)
    assert "  no bound cuts a step" in advice.text(more)


def test_one_element_more_may_change_what_fires_and_the_verdicts() -> None:
    found = advised(texts.machine(CROWD))
    changed = {"few": ("holds", "violated")}
    assert found.sizes == (OneMore("Node", 3, 8, ("close",), (), changed),)
    again = resolve(texts.machine(CROWD))
    wide = advise(again, Scope(Node=3), {}, Limits())
    assert wide.sizes == (OneMore("Node", 4, 16, (), (), {}),)
    assert advice.text(wide)[-2:] == [
        "  Node=4: the same transitions fire, and every verdict is the same (16 states)",
        "  compared: which transitions fire, and the verdicts; larger scopes were not explored",
    ]


REACHED = """
    @reachable
    def four_came(self) -> bool:
        return self.came > 3

    came: Nat = 0

    @transition()
    def come(self) -> None:
        require(self.came < 2)
        self.came += 1

    scope = Scope(Node=2, Nat=range(0, 2))
"""


def test_a_verdict_that_is_unknown_is_compared_with_none() -> None:
    found = advised(texts.machine(CROWD.replace("    scope = Scope(Node=2)\n", REACHED)))
    assert found.sizes == (
        OneMore(
            "Node",
            3,
            16,
            ("close",),
            (),
            {"few": ("holds-within-scope", "violated")},
            ("four_came",),
        ),
    )
    assert [line for line in advice.text(found) if "Node" in line] == [
        "  Node=3: close fires; few is violated, not holds-within-scope (16 states)",
        "  Node=3: not compared, because the verdict is unknown: four_came",
    ]


def test_of_a_scope_that_was_not_explored_nothing_is_said() -> None:
    found = advised(texts.machine(CROWD), states=2)
    assert found == Advice(60.0, why="states")
    assert advice.text(found) == [
        "advice: none, the scope was not explored to its end: the limit on states was reached"
    ]


def test_the_command_tells_it_and_writes_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, answer = tmp_path / "walk.py", tmp_path / "a.json"
    file.write_text(texts.HEAD + BOUNDED, encoding="utf-8")
    assert main(["check", str(file), "--advice", "--json", str(answer)]) == 0
    out = capsys.readouterr().out.splitlines()
    assert "    Nat: its high end cuts 4 steps" in out
    assert (
        "    no bound cuts with Nat=0..6 int=-3..1 log=3; with less, some bound does: 64 states"
        in out
    )
    (machine,) = json.loads(answer.read_text(encoding="utf-8"))["machines"]
    assert machine["advice"] == {
        "seconds": 60.0,
        "cuts": [
            {"bound": "Nat", "end": "high", "steps": 4},
            {"bound": "int", "end": "low", "steps": 4},
            {"bound": "log", "end": "high", "steps": 4},
        ],
        "left_out": [],
        "serials": [],
        "constraints": {},
        "without_cuts": {
            "found": True,
            "why": "",
            "distinct": 64,
            "scope": {"Nat": "0..6", "int": "-3..1", "log": "3"},
        },
        "one_more": [],
        "why": "",
    }
    with pytest.raises(SystemExit, match="5"):
        main(["simulate", str(file), "--advice"])


def refused(*_given: object) -> None:
    raise NotGenerated("a set over too many values")


@pytest.mark.parametrize("text", [BOUNDED, ENDLESS, CROWD])
def test_the_reference_engine_gives_the_same_and_says_so(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fast = advised(texts.machine(text))
    monkeypatch.setattr(engine, "stepping", refused)
    slow = advised(texts.machine(text))
    why = "a set over too many values"
    assert slow == replace(fast, not_generated=why)
    assert advice.text(slow)[-1] == f"  slow: steps cannot be generated for {why}"
    said: Any = advice.to_json(slow)
    assert (said["engine"], said["not_generated"]) == ("reference", why)


def test_a_cut_that_is_left_out_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = Labels.steps

    def fewer(labels: Labels, followed: Followed) -> Iterator[Step]:
        rows = [*steps(labels, followed)]
        return iter(rows if rows[0][1] >= 0 else rows[1:])

    whole = advised(texts.machine(BOUNDED))
    monkeypatch.setattr(Labels, "steps", fewer)
    assert advised(texts.machine(BOUNDED)).cuts != whole.cuts
