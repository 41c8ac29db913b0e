"""Lifting a trace of a scope to runs of the class: the same events with unscoped values.

In a scope serial numbers may have fewer bits, and opaque values are tokens. A serial number of the
trace stands for all numbers that are equal to it modulo the bits of the scope. Candidates are the
number itself and those nearest to the serial numbers in the state (at a start: to the last number).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.callee import bind
from lawful.spec.lower import lower
from lawful.spec.quick_dataclass import dataclass
from lawful.spec.resolve import Resolved, abstract_scopes
from lawful.spec.values.bounds import Values
from lawful.spec.values.opaques import values as values_of
from lawful.spec.values.world import Token, World, decode
from lawful.spec.words import Scope

from ..explore.leaves import Leaves
from ..explore.space import Args, Space, elements_of, sizes_of
from ..reference import Done, Fault, Refusal
from ..reference.missing_values import NoValue
from ..reference.states import State
from ..verdict import Trace, TraceStep
from .oracle import Answer, EntryPoint, answer_of, entry_points

MOST = 10_000  # Steps that are tried for one trace, beyond its length.
NEAR = 8  # Serial numbers of a state near which candidates are made.


@dataclass(frozen=True, slots=True)
class RunStart:
    """The start of a run: the parameters, the `@initial` or None, and its arguments."""

    parameters: Mapping[str, Any]
    function: ir.Function | None
    args: Args


@dataclass(frozen=True, slots=True)
class RunStep:
    """One event of a run, and its outcome in the reference engine."""

    entry_point: EntryPoint
    row: ir.Transition
    args: Args
    answer: Answer


@dataclass(frozen=True, slots=True)
class Run:
    """A run in the reference engine; `fault` is set where its start ended with one."""

    begun: RunStart
    states: tuple[State, ...]
    steps: tuple[RunStep, ...]
    fault: Fault | None = None

    @property
    def faulty(self) -> bool:
        """Whether its start or its last event violates a built-in property."""
        return self.fault is not None or (bool(self.steps) and not _completed(self.steps[-1]))


class UnscopedMachine:
    """A machine with its declared types (`space`) and the same machine within a scope (`scoped`).

    `less` says, in words, where the declared types have fewer values than the scope.
    """

    def __init__(
        self, found: Resolved, scope: Scope, abstracts: Mapping[str, Scope] | None = None
    ) -> None:
        """`abstracts`: the scopes of the machines that it refines, where its classes are not at
        hand."""
        if abstracts is None:
            abstracts = abstract_scopes(found)
        self.world = found.world
        flat = lower(found.machine, scope, abstracts)
        self.scoped = Space(flat, found.world)
        # Only serial numbers with fewer bits than declared tell the two apart.
        fewer = any(each.serials for each in (flat, *flat.abstracts))
        self.flat = lower(found.machine, scope, abstracts, all_bits=True) if fewer else flat
        self.machine = self.flat.machine
        self.bits = _bits(self.machine, self.scoped.machine)
        self.opaques = _opaque_values(found.world, sizes_of(self.flat))
        self.less = _less(self.scoped, self.bits, self.opaques)
        self.leaves = Leaves(self.machine, lambda k: isinstance(k, t.Opaque | t.Serial))
        self.entry_points = {
            entry_point.name: entry_point for entry_point in entry_points(self.machine)
        }
        self.space = self.trying({serial: tuple(range(2**b)) for serial, b in self.bits.items()})

    def trying(self, serials: Mapping[t.Type, tuple[int, ...]]) -> Space:
        """The space of the machine in which arguments take these serial numbers."""
        elements = elements_of(self.flat, self.world) | self.opaques
        values = Values(self.world, sizes_of(self.flat), elements, serials)
        return Space(self.flat, self.world, values)

    def around(self, states: Sequence[State]) -> Space:
        """The space in which the last state of a run is judged.

        Serial numbers are the first and the last ones, as many as the scope has, and those near
        the numbers in the states.
        """
        found: dict[t.Type, set[int]] = {}
        for serial, bits in self.bits.items():
            few = 2**bits
            found[serial] = {*range(few), *range(serial.modulus - few, serial.modulus)}
        if not found:
            return self.space
        for state in states:
            for value, kind in self.serials(state):
                few = 2 ** self.bits[kind]
                found[kind].update((value + i) % kind.modulus for i in range(-few, few + 1))
        return self.trying({kind: tuple(sorted(held)) for kind, held in found.items()})

    def serials(self, state: State) -> dict[tuple[int, t.Serial], None]:
        """The serial numbers in a state, each once, in the order of the state."""
        found: dict[tuple[int, t.Serial], None] = {}

        def note(value: Any, kind: t.Type) -> Any:
            if isinstance(kind, t.Serial):
                found[value, kind] = None
            return value

        self.leaves.state(state, note)
        return found


class _TooMany(Exception):
    """The Python type of an opaque type has too few values; the message says how many."""


class CandidateRuns:
    """The runs of the class that a trace may stand for; those with the trace's values first.

    `why` says how the run failed that came farthest.
    """

    def __init__(self, whole: UnscopedMachine, name: str, trace: Trace) -> None:
        self.whole = whole
        self.name = name
        self.trace = trace
        self.left = MOST + len(trace)
        self.why = "no start leads to its first state"
        self.known = -1

    def note(self, at: int, why: str) -> None:
        """Keep the reason of the failure that came farthest."""
        if at > self.known:
            self.known, self.why = at, why

    def all(self) -> Iterator[Run]:
        """Every run with the events of the trace, until too many steps were tried."""
        for begun in self._starts():
            outcome = self._begin(begun)
            if isinstance(outcome, Done) and not self.trace.states:
                yield Run(begun, (outcome.state,), ())  # In that state a constraint is undefined.
            elif isinstance(outcome, Fault):
                if not self.trace.states and outcome.name == self.name:
                    yield Run(begun, (), (), outcome)
                self.note(0, f"its start violates {outcome.name}: {outcome.what}")
            elif isinstance(outcome, Refusal):
                self.note(0, f"its start is refused: {outcome.reason()}")
            else:
                for steps in self._steps(outcome.state):
                    states = (outcome.state, *(s.answer.state for s in steps if _completed(s)))
                    yield Run(begun, states, steps)

    # Starts.

    def _starts(self) -> Iterator[RunStart]:
        """The starts of the scope that lead to the first state of the trace, lifted."""
        scoped = self.whole.scoped
        for made in scoped.parameters():
            for name, args, outcome in scoped.starts(made):
                if self._begins(scoped, outcome):
                    yield from self._begun(made, name, args)
                    return

    def _begins(self, scoped: Space, outcome: Done | Fault) -> bool:
        if not self.trace.states:
            placed, _ = scoped.placed(outcome)
            return isinstance(placed, Fault) and placed.name == self.name
        return isinstance(outcome, Done) and scoped.shown(outcome.state) == self.trace.initial

    def _begun(self, made: Mapping[str, Any], name: str | None, args: Args) -> Iterator[RunStart]:
        machine = self.whole.machine
        function = next((f for f in machine.initials if f.name == name), None)
        kinds = {p.name: p.type for p in machine.parameters}
        params = () if function is None else function.params
        rows = [*((made[n], kinds[n]) for n in made)]
        rows += [(arg, kind) for arg, (_, kind) in zip(args, params, strict=True)]
        for values in self._lifted(rows, None):
            given = dict(zip(made, values, strict=False))
            yield RunStart(given, function, values[len(made) :])

    def _begin(self, begun: RunStart) -> Done | Fault | Refusal:
        reference = self.whole.space.reference
        machine = self.whole.machine
        if not self.whole.space.assumed(reference.parameters(begun.parameters)):
            return Fault("bounds", "an assumption is false", "")
        try:
            state = reference.initial(begun.parameters)
        except NoValue as error:
            return Fault("undefined", str(error), "")
        if begun.function is None:
            found = reference.breach(machine.name, state)
            return Fault("bounds", found, "") if found else Done(state, None, "")
        names = (name for name, _ in begun.function.params)
        return reference.start(state, begun.function, dict(zip(names, begun.args, strict=True)))

    # Steps.

    def _steps(self, first: State) -> Iterator[tuple[RunStep, ...]]:
        """Every sequence of lifted steps for all events of the trace, by depth-first search."""
        if not self.trace.steps:
            yield ()
            return
        path: list[RunStep] = []
        open_ = [self._next(first, 0)]
        while open_ and self.left > 0:
            did = next(open_[-1], None)
            if did is None:
                open_.pop()
                if path:
                    path.pop()
                continue
            if len(open_) == len(self.trace.steps):
                yield (*path, did)
                continue
            path.append(did)
            open_.append(self._next(did.answer.state, len(path)))

    def _next(self, state: State, at: int) -> Iterator[RunStep]:
        """The lifted steps for one event of the trace."""
        step, last = self.trace.steps[at], at == len(self.trace.steps) - 1
        row = self.whole.machine.transition(step.transition)
        for args in self._arguments(step, row, state):
            self.left -= 1
            entry_point = self._entry_point(row, last)
            answer = self._answer(entry_point, row, state, args)
            done = answer.kind == "done"
            if done or (last and answer.kind == "fault" and answer.name == self.name):
                yield RunStep(entry_point, row, args, answer)
            else:
                what = f"{answer.name}: {answer.why}" if answer.name else answer.why
                self.note(at + 1, f"event {at + 1}, {row.name}, is {answer.kind}: {what}")

    def _entry_point(self, row: ir.Transition, last: bool) -> EntryPoint:
        """The entry point: the transition, or its event where the trace ends as ambiguous or in
        an `ignore`."""
        machine = self.whole.machine
        if machine.is_of_ignores(row):
            rows = machine.serving(row.event)
            return EntryPoint(machine.event(row.event), rows, timed=False)
        ambiguous = last and self.name == "ambiguous"
        name = row.event if ambiguous and row.event in self.whole.entry_points else row.name
        found = self.whole.entry_points.get(name)
        return found or EntryPoint(machine.event(row.event), (row,), timed=False, own=True)

    def _answer(
        self, entry_point: EntryPoint, row: ir.Transition, state: State, args: Args
    ) -> Answer:
        reference = self.whole.space.reference
        tried = [
            reference.step(state, each.name, bind(each.function.params, args))
            for each in entry_point.rows
        ]
        return answer_of(reference, entry_point, state, args, tried)

    def _arguments(self, step: TraceStep, row: ir.Transition, state: State) -> Iterator[Args]:
        was = self.whole.scoped.machine.transition(step.transition)
        kinds = dict(row.function.params)
        rows = [
            (decode(step.args[name], kind, self.whole.world), kinds[name])
            for name, kind in was.function.params
        ]
        yield from self._lifted(rows, state)

    # Values.

    def _lifted(
        self, rows: Sequence[tuple[Any, t.Type]], state: State | None
    ) -> Iterator[tuple[Any, ...]]:
        """The values of the scope as values of the class, in every way, each once."""
        seen: set[tuple[Any, ...]] = set()
        for near in (None, *self._near(state)):

            def change(value: Any, kind: t.Type, near: int | None = near) -> Any:
                return self._own(value, kind, near)

            leaves = self.whole.leaves
            try:
                found = tuple(leaves.value(value, kind, change) for value, kind in rows)
            except _TooMany as error:
                self.note(len(self.trace) + 2, str(error))
                return
            if found not in seen:
                seen.add(found)
                yield found

    def _near(self, state: State | None) -> list[int]:
        """The serial numbers near which candidates are made; at a start, the last one."""
        if all(kind.bits == bits for kind, bits in self.whole.bits.items()):
            return []
        if state is None:
            return [-1]
        found = dict.fromkeys(value for value, _ in self.whole.serials(state))
        return list(found)[:NEAR]

    def _own(self, value: Any, kind: t.Type, near: int | None) -> Any:
        """The value of the class for a value of the scope; serial numbers nearest to `near`."""
        if isinstance(kind, t.Serial):
            few = 2 ** self.whole.bits[kind]
            if near is None or few == kind.modulus:
                return value
            back = (near - value) % few
            aside = -back if back <= few // 2 else few - back
            return (near + aside) % kind.modulus
        if not isinstance(value, Token):
            return value
        own = self.whole.opaques.get(value.opaque)
        if own is None:
            return value
        if int(value.id) >= len(own):
            have = f"its Python type has {len(own)}"
            raise _TooMany(f"it needs more values of {value.opaque}: {have}")
        return own[int(value.id)]


def _completed(did: RunStep) -> bool:
    """Whether a step ended in a state."""
    return did.answer.kind == "done"


def _opaque_values(world: World, sizes: Mapping[str, int]) -> dict[str, tuple[Any, ...]]:
    """Values of the Python types of opaque types: as many as the scope has, or all there are.

    Where no values of the Python type can be made, the type is missing here and keeps tokens.
    """
    made = {
        name: values_of(annotations, sizes[name])
        for name, annotations in world.opaque_annotations.items()
        if name in sizes
    }
    return {name: found for name, found in made.items() if found is not None}


def _bits(whole: ir.Machine, scoped: ir.Machine) -> dict[t.Serial, int]:
    """For each type of serial numbers, its number of bits in the scope."""
    found: dict[t.Serial, int] = {}
    for kind, was in zip(_kinds(whole), _kinds(scoped), strict=True):
        for one, other in zip(t.inside(kind), t.inside(was), strict=True):
            if isinstance(one, t.Serial) and isinstance(other, t.Serial):
                found[one] = other.bits
    return found


def _kinds(machine: ir.Machine) -> Iterator[t.Type]:
    """The types of all variables, parameters, arguments and outputs of a machine."""
    for m in (machine, *machine.parts, *machine.abstracts):
        yield from (v.type for v in m.variables)
        yield from (p.type for p in m.parameters)
        functions = (*m.initials, *(r.function for r in m.transitions))
        functions += (*m.functions, *(p.function for p in m.properties))
        for f in functions:
            yield from (kind for _, kind in f.params)
            yield f.output


def _less(
    scoped: Space, bits: Mapping[t.Serial, int], opaques: Mapping[str, tuple[Any, ...]]
) -> str:
    """Where the class has other value ranges than the scope, in words; empty where it has not."""
    differences = [
        f"serial numbers of {kind.bits} bits have {few}"
        for kind, few in bits.items()
        if few < kind.bits
    ]
    sizes = sizes_of(scoped.flat)
    differences += [
        f"{name} has {sizes[name]} values and its Python type {len(found)}"
        for name, found in opaques.items()
        if len(found) < sizes[name]
    ]
    return " and ".join(differences)
