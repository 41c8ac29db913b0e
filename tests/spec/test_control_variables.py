"""Which variable a header moves, where several hold a State: the one of the type that it names."""

from __future__ import annotations

from typing import Any

import pytest

from lawful import Refused
from lawful.checks.explore import explore
from lawful.diagrams.chart import chart
from lawful.spec import ir
from lawful.spec.lower import lower
from lawful.spec.resolve import Resolved, resolve
from lawful.spec.text import statements
from tests.spec import texts

HEAD = """
class Phase(State):
    READY = 1
    RUNNING = 2
    OVER = 3


class Player(State):
    WHITE = 1
    BLACK = 2
"""
CLOCK = f"""{HEAD}

class Clock(Machine):
    turn: Player = Player.WHITE
    phase: Phase = Phase.READY
    first: Param[Phase] = Phase.READY
    seen: set[Phase] = set()
    before: Ghost[Phase] = Phase.READY
    left: Nat = 2

    @transition(source=Phase.READY, target=Phase.RUNNING)
    def start(self) -> None: ...

    @transition(source=Phase.RUNNING)
    def press(self) -> None:
        self.turn = Player.BLACK if self.turn is Player.WHITE else Player.WHITE

    @transition(source=(Player.WHITE, Player.BLACK), target=Player.WHITE)
    def swap(self) -> None:
        require(self.phase == Phase.READY, "started")

    @transition(source=Phase.RUNNING)
    def second(self, n: Nat) -> None:
        require(n < self.left, "too many")
        self.left -= 1
        if self.left == 1:
            self.phase = Phase.OVER

    @transition
    def hurry(self) -> None:
        self.turn = Player.BLACK

    late = ignore("press", source=Phase.OVER, because="it is over")
    more = ignore(
        "second", source=[Phase.READY, Phase.OVER], when=lambda self, n: n > 1, because="no"
    )
    deadlock_ok = True
    scope = Scope(Nat=range(0, 3))
"""
NAMED = (
    CLOCK.replace("source=Phase", 'of="phase", source=Phase')
    .replace("source=(Player", 'of="turn", source=(Player')
    .replace('ignore("press", of="phase", source=Phase.OVER', 'ignore("press", when=LATE')
    .replace("source=[Phase.READY, Phase.OVER], when=lambda self, n: n > 1", "when=MORE")
    .replace("LATE", "lambda self: self.phase == Phase.OVER")
    .replace(
        "MORE",
        "lambda self, n: (self.phase == Phase.READY or self.phase == Phase.OVER) and n > 1",
    )
)


def shown(found: Resolved) -> str:
    return statements.machine(found.machine)


def test_the_type_of_the_states_says_which_variable() -> None:
    found, named = texts.resolved(CLOCK), texts.resolved(NAMED)
    controls = {
        row.name: row.control.name if isinstance(row.control, ir.Field) else ""
        for row in found.machine.transitions
    }
    # The last one names no state, and its body assigns what other headers move.
    assert controls == {
        "start": "phase",
        "press": "phase",
        "swap": "turn",
        "second": "phase",
        "hurry": "turn",
    }
    targets = {row.name: row.target for row in found.machine.transitions}
    assert targets["second"] == ("RUNNING", "OVER")
    assert (targets["press"], targets["hurry"]) == (None, ("BLACK",))
    assert found.machine.ignores == named.machine.ignores
    assert [row.source for row in found.machine.ignores] == [None, None]
    assert shown(found) == shown(named)


@pytest.mark.parametrize("base", ["Enum", "State"])
def test_every_engine_follows_that_variable(base: str) -> None:
    text = CLOCK.replace("(State)", f"({base})")
    found = texts.resolved(text)
    flat = lower(found.machine, found.scopes["scope"])
    answers = [explore(flat, found.world, {}, engine=each) for each in ("reference", "generated")]
    counts = {(each.distinct, each.generated) for each in answers}
    assert len(counts) == 1
    clock: Any = texts.machine(text)()
    with pytest.raises(Refused, match="phase is READY, not RUNNING"):
        clock.press()
    clock.second(2)  # It is ignored.
    with pytest.raises(Refused):
        clock.second(1)
    clock.start()
    clock.second(0)
    assert (clock.phase.name, clock.turn.name) == ("OVER", "WHITE")
    clock.press()
    assert (clock.phase.name, clock.turn.name) == ("OVER", "WHITE")


def test_each_variable_is_drawn_with_its_own_states() -> None:
    drawn = chart(resolve(texts.machine(CLOCK)).machine)
    regions = {each.name: [state.name for state in each.states] for each in drawn.regions}
    assert regions == {"phase": ["READY", "RUNNING", "OVER"], "turn": ["WHITE", "BLACK"]}


def test_state_is_the_variable_where_it_is_of_that_type() -> None:
    text = f"""{HEAD}
class M(Machine):
    turn: Player = Player.WHITE
    state: Phase = Phase.READY
    other: Phase = Phase.READY

    @transition(source=Player.WHITE, target=Player.BLACK)
    def turned(self) -> None: ...

    @transition(source=Phase.READY, target=Phase.OVER)
    def go(self) -> None: ...

    late = ignore("go", source=Phase.OVER, because="it is over")
"""
    found = texts.resolved(text)
    controls = [row.control for row in found.machine.transitions]
    assert [each.name for each in controls if isinstance(each, ir.Field)] == ["turn", "state"]
    assert [row.source for row in found.machine.ignores] == [("OVER",)]
    # Its own type, though the first header is of the other.
    assert 'ignore("go", source=Phase.OVER' in shown(found)


def test_the_type_of_ignored_states_is_shown_as_a_state() -> None:
    text = f"""{HEAD}
class M(Machine):
    turn: Player = Player.WHITE
    state: Phase = Phase.READY

    @transition(source=Player.WHITE, target=Player.BLACK)
    def turned(self) -> None: ...

    late = ignore("turned", source=Phase.OVER, because="it is over")
"""
    assert "class Phase(State):" in shown(texts.resolved(text))


TWO = """
class M(Machine):
    first: Phase = Phase.READY
    second: Phase = Phase.READY
    {more}

    @transition({header})
    def go(self) -> None: ...
"""


@pytest.mark.parametrize("base", ["Enum", "IntEnum", "State"])
def test_members_of_any_enum_may_be_states(base: str) -> None:
    text = CLOCK.replace("(State)", f"({base})").replace(
        "class Phase", "from enum import *\n\n\nclass Phase", 1
    )
    assert shown(texts.resolved(text)) == shown(texts.resolved(CLOCK))


@pytest.mark.parametrize("more", ["", "turn: Player = Player.WHITE", "state: Nat = 0"])
def test_two_variables_of_one_type_are_told_apart_by_name(more: str) -> None:
    (problem,) = texts.problems(HEAD + TWO.format(more=more, header="source=Phase.READY"))
    assert (problem.number, problem.place.line) == ("L212", 25)
    assert problem.found == "a source or target of Phase, which first and second hold"
    assert problem.rewrite == 'name it: of="first"'
    named = TWO.format(more=more, header='source=Phase.READY, of="first"')
    assert texts.problems(HEAD + named) == ()


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("source=Player.WHITE", "a source or target, but no variable `state`"),
        ("target=Player.WHITE", "a source or target, but no variable `state`"),
        ('of="first", source=Player.WHITE', "Player.WHITE, a state of Player"),
        ('of="first", source=Phase.READY, target=Player.WHITE', "Player.WHITE, a state of Player"),
    ],
)
def test_states_that_no_variable_holds_are_refused(header: str, said: str) -> None:
    (problem,) = texts.problems(
        HEAD + TWO.format(more="k: Param[Player] = Player.WHITE", header=header)
    )
    assert (problem.number, problem.found) == ("L212", said)


def test_a_state_that_is_held_as_an_option_alone_is_none_of_the_control_state() -> None:
    text = TWO.format(more="state: Phase = Phase.READY", header="source=Player.WHITE")
    (problem,) = texts.problems(HEAD + text + "    last: Player | None = None\n")
    assert (problem.number, problem.found) == ("L212", "Player.WHITE, a state of Player")


def test_an_ignore_of_two_variables_says_that_it_needs_a_condition() -> None:
    text = TWO.format(more="", header="") + (
        '    late = ignore("go", source=Phase.OVER, because="it is over")\n'
    )
    (problem,) = texts.problems(HEAD + text)
    assert (problem.number, problem.found) == (
        "L212",
        "a source or target of Phase, which first and second hold",
    )
    assert problem.rewrite == "say it by a condition: when=lambda self: self.first == Phase.OVER"
