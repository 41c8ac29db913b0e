"""The Z3 step equals the reference step: random machines' states, events and arguments."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lawful.checks.boxes import PartState
from lawful.checks.encode import Encoding
from lawful.checks.operators import OPERATORS, REFUSED
from lawful.checks.reference import Done, Fault, Reference, Refusal
from lawful.checks.shapes import Options, fields_of
from lawful.checks.solve import decide
from lawful.checks.subject import inside
from lawful.checks.symbols import Made, Many, Missing, Row, Value, Whole
from lawful.checks.terms import Execution, Symbolic
from lawful.checks.witness import literal
from lawful.machines.message_scheduler.declaration import RequestFixed
from lawful.machines.read_only_windows.as_seed import WindowAsSeed
from lawful.machines.unicast.as_seed import ReceiverEntryAsSeed, SenderEntryAsSeed
from lawful.machines.unicast.declaration import ReceiverEntryFixed, SenderEntryFixed
from lawful.spec import bounds, ir, ops
from lawful.spec import types as t
from lawful.spec.errors import NOWHERE
from lawful.spec.resolve import Resolved, resolve
from lawful.spec.values import FrozenBag, FrozenMap, Token, encode, encoded_map
from tests.checks.families import Hub, Rack
from tests.checks.rings import Choices, Feast, Ring, Window
from tests.checks.small import Board, Cell, Collections, Lamp, Numbers, Table
from tests.classics.peterson import Peterson
from tests.classics.two_phase import TwoPhase

SIZES = {"Node": 2, "Peer": 2, "RM": 3, "Seat": 3}
NODE = t.Sort("Node")
OFF = Lamp.OFF
KINDS = ("done", "refused", "undefined", "asserts", "bounds", "ambiguous")
DISPLAYS = {"map"}  # The front end's own; its meaning stands beside the reference engine.


def values(kind: t.Type, resolved: Resolved) -> st.SearchStrategy[Any]:
    """Python values of a type, small ones, inside its bounds."""
    world = resolved.world
    match kind:
        case t.Bool() | t.Timer():
            return st.booleans()
        case t.Int(low=low, high=high):
            return st.integers(-2 if low is None else low, 3 if high is None else high)
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


def machine_of(machine: ir.Machine, name: str) -> ir.Machine:
    found = [m for m in (machine, *machine.parts) if m.name == name]
    return found[0]


def states(machine: ir.Machine, resolved: Resolved) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.tuples(*(values(kind, resolved) for _, kind in fields_of(machine)))


def to_json(value: Any, kind: t.Type, machine: ir.Machine) -> Any:
    """The JSON form; of parts, field by field."""
    match kind:
        case t.Part(machine=name):
            part = machine_of(machine, name)
            pairs = zip(fields_of(part), value, strict=True)
            return {field: to_json(v, of, machine) for (field, of), v in pairs}
        case t.Map(key=key, value=t.Part() as of):
            return encoded_map(((k, to_json(v, of, machine)) for k, v in value.items()), key)
        case _:
            return encode(value, kind)


class Both:
    """One machine in both engines."""

    def __init__(self, cls: Any) -> None:
        self.resolved = resolve(cls)
        self.machine = self.resolved.machine
        self.reference = Reference(self.machine, self.resolved.world)
        self.reference.domains = bounds.Values(self.resolved.world, SIZES).of
        self.encoding = Encoding(self.machine, Options(SIZES))
        self.fields = dict(fields_of(self.machine))
        self.steps: dict[str, tuple[dict[str, Any], Symbolic]] = {}

    def term(self, value: Any, kind: t.Type) -> Any:
        return literal(self.encoding, to_json(value, kind, self.machine), kind)

    def sure(self, term: Any) -> bool:
        known = decide(self.encoding.logic, term, self.encoding.facts, 20.0)
        assert known is not None, f"Z3 cannot tell: {term}"
        return known

    def compare(
        self, row: ir.Transition, state: tuple[Any, ...], args: dict[str, Any], late: bool
    ) -> None:
        """Both take the step and agree; `late`: values are put in after the symbolic execution."""
        pairs = zip(self.fields.items(), state, strict=True)
        before = {name: self.term(value, kind) for (name, kind), value in pairs}
        given = {n: self.term(args[n], kind) for n, kind in row.function.params}
        if late:
            step = self.put_in(row, before, given)
        else:
            step = Execution(self.encoding, before, self.machine).step(row, given)
        outcome = self.reference.step(state, row.name, args)
        match outcome:
            case Refusal():
                assert self.sure(step.refused)
            case Fault(name="bounds"):
                assert self.sure(step.bounds) or self.sure(step.done)
                assert self.sure(step.bounds) or not self.inside(step, row)
            case Fault(name=name):
                assert self.sure(getattr(step, name)), name
            case Done(state=after, output=output):
                assert self.sure(step.done)
                assert self.inside(step, row)
                self.same_after(step, after)
                self.same_output(step, output, row.function.output)

    def put_in(self, row: ir.Transition, before: dict[str, Any], given: dict[str, Any]) -> Symbolic:
        """The step executed once for all values, with these put in its result."""
        encoding = self.encoding
        if row.name not in self.steps:
            state = {name: encoding.fresh(name, kind) for name, kind in self.fields.items()}
            args = {n: encoding.fresh(n, kind) for n, kind in row.function.params}
            step = Execution(encoding, state, self.machine).step(row, args)
            self.steps[row.name] = ({**state, **{f"{n}()": v for n, v in args.items()}}, step)
        names, step = self.steps[row.name]
        values = {**before, **{f"{n}()": v for n, v in given.items()}}
        pairs = [(names[n], values[n]) for n in names]

        def put(value: Any) -> Any:
            match value:
                case Many(rows=rows, item=item):
                    made = [Row(r.names, put(r.when), put(r.value)) for r in rows]
                    return Many(tuple(made), item)
                case Made(fields=fields):
                    return Made(tuple(put(v) for v in fields))
                case _:
                    return encoding.logic.replace(value, pairs)

        return replace(
            step,
            **{kind: put(getattr(step, kind)) for kind in KINDS},
            after={name: put(v) for name, v in step.after.items()},
            outputs=tuple((put(when), put(v)) for when, v in step.outputs),
        )

    def inside(self, step: Symbolic, row: ir.Transition) -> bool:
        """Whether the state after and the output keep their bounds."""
        kinds = {v.name: v.type for v in self.machine.variables}
        found = [inside(self.encoding, step.after[name], kind) for name, kind in kinds.items()]
        found += [
            self.encoding.logic.implies(when, inside(self.encoding, v, row.function.output))
            for when, v in step.outputs
        ]
        return self.sure(self.encoding.logic.all(found))

    def same_after(self, step: Symbolic, after: tuple[Any, ...]) -> None:
        for (name, kind), value in zip(self.fields.items(), after, strict=True):
            assert self.same(step.after[name], value, kind), name

    def same_output(self, step: Symbolic, output: Any, kind: t.Type) -> None:
        reached = [value for when, value in step.outputs if self.sure(when)]
        if not reached:
            assert output is None
            return
        assert len(reached) == 1
        assert self.same(reached[0], output, kind)

    def same(self, found: Value, value: Any, kind: t.Type) -> bool:
        match found, kind:
            case Many(rows=rows), t.Seq():
                if any(row.names for row in rows):
                    return self.same_elements(found, value, kind)
                kept = [row.value for row in rows if self.sure(row.when)]
                return len(kept) == len(value) and all(
                    self.same(a, b, kind.item) for a, b in zip(kept, value, strict=True)
                )
            case Made(fields=fields), t.Record(fields=kinds):
                pairs = zip(fields, kinds, strict=True)
                return all(self.same(v, getattr(value, name), of) for v, (name, of) in pairs)
            case ((Many() | Made() | Missing() | Whole()), _):
                raise AssertionError(found)
            case _:
                return self.sure(self.encoding.equal(found, self.term(value, kind), kind))

    def same_elements(self, many: Many, value: Any, kind: t.Seq) -> bool:
        """Of a sequence that is known by its elements only."""
        node = ir.Self(NOWHERE, kind)
        run = Execution(self.encoding, {}, self.machine)
        inside = all(
            self.sure(run.member(many, self.term(v, kind.item), kind.item, node)) for v in value
        )
        others = [i for i in range(-2, 6) if i not in value]
        return inside and not any(
            self.sure(run.member(many, self.term(i, kind.item), kind.item, node)) for i in others
        )


MACHINES: dict[str, Both] = {}
CLASSES = (
    Numbers,
    Collections,
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
    WindowAsSeed,
    RequestFixed,
)


def both(cls: Any) -> Both:
    if cls.__name__ not in MACHINES:
        MACHINES[cls.__name__] = Both(cls)
    return MACHINES[cls.__name__]


@pytest.mark.parametrize("late", [False, True], ids=["put in before", "put in after"])
@pytest.mark.parametrize("cls", CLASSES, ids=lambda c: c.__name__)
@settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(data=st.data())
def test_the_step_is_that_of_the_reference(cls: Any, late: bool, data: st.DataObject) -> None:
    machine = both(cls)
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
    machine = both(Collections)
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


def test_every_operator_has_a_row() -> None:
    assert OPERATORS.keys() | REFUSED.keys() == ops.TABLE.keys() | DISPLAYS
    assert not OPERATORS.keys() & REFUSED.keys()
