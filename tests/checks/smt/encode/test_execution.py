"""The Z3 step equals the reference step: random machines' states, events and arguments."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lawful.checks.prove import prove
from lawful.checks.reference.states import PartState
from lawful.checks.smt.algebra.logic import Logic
from lawful.checks.smt.encode import execution
from lawful.checks.smt.encode.sorts import fields_of
from lawful.machines.read_only_windows.as_seed import WindowAsSeed
from lawful.machines.unicast.as_seed import ReceiverEntryAsSeed, SenderEntryAsSeed
from lawful.machines.unicast.declaration import ReceiverEntryFixed, SenderEntryFixed
from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.resolve import Resolved, resolve
from lawful.spec.values import bounds
from lawful.spec.values.world import FrozenBag, FrozenMap, Token
from tests.checks.declarations.encoding import Board, Cell, Collections, Lamp, Numbers, Table
from tests.checks.declarations.families import Hub, Rack
from tests.checks.declarations.lists_and_keys import Keys, Lists, Removals, Routes
from tests.checks.declarations.rings import Choices, Feast, Ring, Window
from tests.checks.declarations.timed import House
from tests.checks.smt.both_engines import Both, machine_of
from tests.classics.peterson import Peterson
from tests.classics.two_phase import TwoPhase

SIZES = {"Node": 2, "Peer": 2, "RM": 3, "Seat": 3, "Floor": 2, "queue": 3, "boxes": 3, "past": 3}
NODE = t.Sort("Node")
OFF = Lamp.OFF


def values(kind: t.Type, resolved: Resolved) -> st.SearchStrategy[Any]:
    """Python values of a type, small ones, inside its bounds."""
    world = resolved.world
    match kind:
        case t.Bool() | t.Timer():
            return st.booleans()
        case t.Int(low=low, high=high):
            return st.integers(-2 if low is None else low, 3 if high is None else high)
        case t.Clock():
            return st.integers(0, 3)
        case t.Float():
            return st.sampled_from([0.0, 0.5, 120.0])
        case t.Nothing():
            return st.none()
        case t.Enum(name=name):
            return st.sampled_from(list(world.enums[name]))
        case t.Sort(name=name):
            return st.sampled_from(
                [world.sorts[name](f"{name}{i + 1}") for i in range(SIZES[name])]
            )
        case t.Opaque(name=name):
            return st.sampled_from([Token(name, 0), Token(name, 1)])
        case t.Record(name=name, fields=fields):
            return st.builds(world.records[name], *(values(of, resolved) for _, of in fields))
        case t.Union(options=options):
            return st.one_of([values(option, resolved) for option in options])
        case t.Tuple(items=items):
            return st.tuples(*(values(item, resolved) for item in items))
        case _:
            return containers(kind, resolved)


def containers(kind: t.Type, resolved: Resolved) -> st.SearchStrategy[Any]:
    match kind:
        case t.Set(item=item):
            return st.frozensets(values(item, resolved), max_size=4)
        case t.Seq(item=item, most=most):
            items = st.lists(values(item, resolved), max_size=3 if most is None else most)
            return items.map(tuple)
        case t.Bag(item=item):
            counts = st.dictionaries(values(item, resolved), st.integers(1, 3), max_size=3)
            return counts.map(FrozenBag)
        case t.Map(key=key, value=value, total=True):
            keys = list(bounds.Values(resolved.world, SIZES).of(key))
            made = st.fixed_dictionaries({k: values(value, resolved) for k in keys})
            return made.map(FrozenMap)
        case t.Map(key=key, value=value):
            pairs = st.dictionaries(values(key, resolved), values(value, resolved), max_size=4)
            return pairs.map(FrozenMap)
        case t.Part(machine=machine):
            return states(machine_of(resolved.machine, machine), resolved).map(PartState)
        case _:
            raise AssertionError(kind)


def states(machine: ir.Machine, resolved: Resolved) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.tuples(*(values(kind, resolved) for _, kind in fields_of(machine)))


MACHINES: dict[tuple[str, str], Both] = {}
CLASSES = (
    Numbers,
    Collections,
    Keys,
    Lists,
    Routes,
    Cell,
    Board,
    Table,
    Ring,
    Choices,
    Feast,
    Window,
    TwoPhase,
    Peterson,
    SenderEntryFixed,
    ReceiverEntryFixed,
    SenderEntryAsSeed,
    ReceiverEntryAsSeed,
    Hub,
    Rack,
    House,
    WindowAsSeed,
)


def both(cls: Any, test: str) -> Both:
    """The machine in both engines, for one test alone: what Z3 does depends on what it met."""
    if (cls.__name__, test) not in MACHINES:
        MACHINES[cls.__name__, test] = Both(cls, SIZES)
    return MACHINES[cls.__name__, test]


@pytest.mark.one_in(8)
@pytest.mark.parametrize(
    ("cls", "late"),
    [  # `make test` has each machine in one of the two ways.
        pytest.param(
            cls,
            late,
            id=f"{cls.__name__}-put in {'after' if late else 'before'}",
            marks=() if late == n % 2 else pytest.mark.nightly,
        )
        for n, cls in enumerate(CLASSES)
        for late in (False, True)
    ],
)
@settings(
    max_examples=3,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(data=st.data())
def test_the_step_is_that_of_the_reference(cls: Any, late: bool, data: st.DataObject) -> None:
    machine = both(cls, f"late {late}")
    # Each transition has its turn in every example: a draw among them would leave some out.
    for row in machine.machine.transitions:
        state = data.draw(states(machine.machine, machine.resolved), label=row.name)
        args = {
            name: data.draw(values(kind, machine.resolved), label=name)
            for name, kind in row.function.params
        }
        machine.compare(row, state, args, late)


@pytest.mark.parametrize("late", [False, True])
def test_an_ordered_all_stops_at_the_first_that_is_false(late: bool) -> None:
    """`names[n + 2]` has no value; whether it is asked for depends on `names[n + 1]`."""
    machine = both(Collections, f"in order, late {late}")
    row = machine.machine.transition("in_order")
    nodes = bounds.Values(machine.resolved.world, SIZES).of(NODE)
    one, two = Token("Payload", 0), Token("Payload", 1)
    for second in (one, two):
        names = FrozenMap({1: one, 2: second})
        levels = FrozenMap({node: OFF for node in nodes})
        empty: frozenset[Any] = frozenset()
        no_owner: FrozenMap[Any, Any] = FrozenMap()
        no_counts: FrozenBag[Any] = FrozenBag()
        state = (empty, empty, names, no_owner, levels, empty, no_counts, None)
        machine.compare(row, state, {"n": 1}, late)


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("name", ["removed", "taken"])
@pytest.mark.parametrize("key", [0, 1, 2])
def test_the_default_of_a_removed_key_has_a_value(name: str, key: int, late: bool) -> None:
    """The default is evaluated whether or not the key is there, and whether or not it is used."""
    machine = both(Removals, f"{name} {key}, late {late}")
    state = (FrozenMap({0: 5, 1: 6}), FrozenMap({0: 7}), 0)
    machine.compare(machine.machine.transition(name), state, {"k": key}, late)


def test_what_a_term_can_be_is_known_by_how_it_is_made() -> None:
    logic = Logic()
    test, n = logic.fresh("test", logic.bool), logic.fresh("n", logic.int)
    some = logic.choose(test, logic.number(3), logic.number(-1))
    assert logic.span(logic.number(2)) == (2, 2)
    assert logic.span(logic.add(some, some, logic.number(1))) == (-1, 7)
    assert logic.span(logic.add(logic.number(1), logic.negative(some))) == (-2, 2)
    assert logic.span(logic.add(some, n)) is None
    assert logic.span(logic.choose(test, n, logic.number(0))) is None


def test_a_step_of_too_many_terms_is_not_encoded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execution, "MOST_TERMS", 20)
    found = prove(resolve(Peterson).machine, sizes={})
    notes = {o.note for o in found.obligations if not o.verdict.good}
    assert any("a step of more than 20 terms" in note for note in notes), notes
