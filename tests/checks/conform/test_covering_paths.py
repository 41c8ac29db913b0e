"""Paths as tests: they can be walked, cover all that is asked for, and are few."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import pytest

from lawful import Machine, Scope
from lawful.checks.conform.covering_paths import Cover, Path
from lawful.checks.explore.space import Space
from lawful.checks.reference import Done
from lawful.checks.reference.states import State
from lawful.spec.ir import Json
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve
from lawful.testing import paths
from tests.classics.jugs import Jugs
from tests.classics.peterson import Peterson
from tests.classics.two_phase import TwoPhase
from tests.spec import texts

TURNSTILE = """
class Gate(State):
    LOCKED = "locked"
    OPEN = "open"

class Turnstile(Machine):
    state: Gate = Gate.LOCKED
    coins: Nat = 0

    @transition(source=Gate.LOCKED, target=Gate.OPEN)
    def pay(self, coin: Nat) -> Nat:
        require(coin > 0, "nothing paid")
        self.coins += coin
        return self.coins

    @transition(source=Gate.OPEN, target=Gate.LOCKED)
    def push(self) -> None: ...

    @transition(source=Gate.LOCKED)
    def kick(self) -> None: ...

    scope = Scope(Nat=range(0, 3))
"""


def turnstile() -> type[Machine]:
    return texts.last_machine(texts.module(TURNSTILE))


def walked(cls: type[Machine], found: list[Path]) -> None:
    """Every path is one of the machine's runtime, with these outputs and states."""
    space = Space(lower(resolve(cls).machine, Scope(Nat=range(0, 3))), resolve(cls).world)
    for path in found:
        instance = cls()
        for call in path:
            given = getattr(instance, call.event)(*call.args.values())
            assert given == call.output
        names = [v.name for v in space.machine.variables]
        state = tuple(getattr(instance, name) for name in names)
        assert space.shown(state) == (path.trace.states[-1])


def test_paths_run_on_the_machine_itself() -> None:
    for cover in ("transitions", "states", "pairs"):
        walked(turnstile(), paths(turnstile(), cover=cover))


def test_few_paths_cover_all() -> None:
    cls = turnstile()
    assert list(map(str, paths(cls))) == ["pay-push-kick"]
    assert list(map(str, paths(cls, cover="states"))) == ["pay"]
    assert list(map(str, paths(cls, cover="pairs"))) == [
        "pay-push-pay-push-kick-kick",
        "kick-pay",
    ]
    (path,) = paths(cls, cover="states")
    assert [(c.event, dict(c.args), c.output, dict(c.after)) for c in path] == [
        ("pay", {"coin": 1}, 1, {"state": "OPEN", "coins": 1})
    ]


MACHINES: list[type[Machine]] = [Jugs, Peterson, TwoPhase]


def steps_of(space: Space) -> tuple[list[State], list[tuple[str, State]]]:
    """Every state, and every step by name with the state that it leads to."""
    states = [o.state for _, _, o in space.initial() if isinstance(o, Done)]
    steps: list[tuple[str, State]] = []
    for state in states:  # Grows.
        for edge in space.edges(state):
            assert isinstance(edge.outcome, Done)
            steps.append((space.rules[edge.rule][1].name, edge.outcome.state))
            if edge.outcome.state not in states:
                states.append(edge.outcome.state)
    return states, steps


@pytest.mark.parametrize("cls", MACHINES, ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("cover", ["transitions", "states", "pairs"])
def test_everything_that_can_happen_is_covered(cls: type[Machine], cover: Cover) -> None:
    found = paths(cls, cover=cover)
    known = resolve(cls)
    space = Space(lower(known.machine, known.scopes.get("scope", Scope())), known.world)
    states, steps = steps_of(space)
    names = [[call.transition for call in path] for path in found]
    if cover == "transitions":
        assert {name for row in names for name in row} == {name for name, _ in steps}
    elif cover == "pairs":
        pairs = {
            (name, space.rules[edge.rule][1].name)
            for name, state in steps
            for edge in space.edges(state)
        }
        assert {pair for row in names for pair in itertools.pairwise(row)} == pairs
    elif cls is Jugs:  # It has no control state: every state is meant.
        shown = [state for path in found for state in path.trace.states]
        assert all(space.shown(state) in shown for state in states)
    else:
        held = [control(state) for path in found for state in path.trace.states]
        everywhere = [control(space.shown(state)) for state in states]
        assert set().union(*held) == set().union(*everywhere)
    assert len(found) <= {"transitions": 3, "states": 4, "pairs": 8}[cover]


def control(state: Mapping[str, Json]) -> set[str]:
    """The control states in a state's JSON form: of Peterson `pc`, of two-phase commit both."""
    pc = state.get("pc", state.get("rms"))
    assert isinstance(pc, dict)
    rows = pc.get("$map", list(map(list, pc.items())))
    assert isinstance(rows, list)
    return {str(row) for row in rows}


def test_a_machine_that_is_too_large_is_named() -> None:
    with pytest.raises(ValueError, match="Jugs has 5 states or more: give it a smaller scope"):
        paths(Jugs, max_states=5)
