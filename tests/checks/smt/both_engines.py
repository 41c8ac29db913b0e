"""One machine in two engines: the Z3 step, with values put in, and the reference step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from lawful.checks.reference import Done, Fault, Outcome, Reference, Refusal
from lawful.checks.smt.encode.bounds import inside
from lawful.checks.smt.encode.conversion import contains
from lawful.checks.smt.encode.execution import Execution
from lawful.checks.smt.encode.sorts import Options, fields_of
from lawful.checks.smt.encode.symbolic import (
    Composite,
    Element,
    Elements,
    OtherState,
    SymbolicStep,
    Unencodable,
    Value,
)
from lawful.checks.smt.encode.values import Encoding
from lawful.checks.smt.solver.budget import UNITS, Effort
from lawful.checks.smt.solver.models import literal
from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.named_elements import explored, named_elements
from lawful.spec.errors import NOWHERE
from lawful.spec.resolve import resolve
from lawful.spec.values import bounds
from lawful.spec.values.world import encode, encoded_map
from tests.checks.smt.deciding import decide


class Untold(AssertionError):
    """Z3 cannot tell within its budget."""


def machine_of(machine: ir.Machine, name: str) -> ir.Machine:
    found = [m for m in (machine, *machine.parts) if m.name == name]
    return found[0]


def to_json(value: Any, kind: t.Type, machine: ir.Machine) -> Any:
    """The JSON form; of parts, field by field."""
    match kind:
        case t.Part(machine=name):
            part = machine_of(machine, name)
            pairs = zip(fields_of(part), value, strict=True)
            return {field: to_json(v, of, machine) for (field, of), v in pairs}
        case t.Map(key=key, value=t.Part() | t.Timer(ticks=True) as of):
            return encoded_map(((k, to_json(v, of, machine)) for k, v in value.items()), key)
        case _:
            return encode(value, kind)


def longest(data: Any) -> int:
    """The length of the longest list in a value's JSON form."""
    match data:
        case {"$set": elements}:
            return max([0, *map(longest, elements)])
        case dict():
            return max([0, *map(longest, cast(dict[str, Any], data).values())])
        case [*items]:
            return max([len(items), *map(longest, items)])
        case _:
            return 0


class Both:
    """One machine in both engines."""

    def __init__(self, cls: Any, sizes: Mapping[str, int], units: float = 2 * UNITS) -> None:
        self.resolved = resolve(cls)
        self.effort = Effort(units)
        self.step: SymbolicStep | None = None  # That was compared last.
        self.machine = self.read(self.resolved.machine)
        self.reference = Reference(self.machine, self.resolved.world)
        named, world = named_elements(self.machine), self.resolved.world
        rows = [(sort, explored(sort, sizes[sort], named)) for sort in world.sorts if sort in sizes]
        self.reference.domains = bounds.Values(world, sizes, world.elements(rows)).of
        self.encoding = Encoding(self.machine, Options(sizes))
        self.fields = dict(fields_of(self.machine))
        self.steps: dict[str, tuple[dict[str, Any], SymbolicStep]] = {}

    def read(self, machine: ir.Machine) -> ir.Machine:
        """The machine that is compared: the declaration's, without time's own step."""
        return machine

    def term(self, value: Any, kind: t.Type) -> Any:
        return literal(self.encoding, to_json(value, kind, self.machine), kind)

    def sure(self, term: Any) -> bool:
        laws = () if self.step is None else (self.step.laws,)
        facts = *self.encoding.facts, *laws
        known = decide(self.encoding.logic, term, facts, self.effort.begin())
        if known is None:
            raise Untold(str(term))
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
        self.step = step
        outcome = self.reference.step(state, row.name, args)
        if self.sure(self.encoding.logic.any((step.stopped["beyond"], step.stopped["excess"]))):
            self.outgrown(outcome)
            return
        match outcome:
            case Refusal():
                assert self.sure(step.stopped["refused"])
            case Fault(name="bounds"):
                assert self.sure(step.stopped["bounds"]) or self.sure(step.done)
                assert self.sure(step.stopped["bounds"]) or not self.inside(step, row)
            case Fault(name=name):
                stops = {str(kind): where for kind, where in step.stopped.items()}
                assert self.sure(stops[name]), name
            case Done(state=after, output=output):
                assert self.sure(step.done)
                assert self.inside(step, row)
                self.same_after(step, after)
                self.same_output(step, output, row.function.output)

    def outgrown(self, outcome: Outcome) -> None:
        """The encoding follows no further, because a list got too long: it is too long, indeed."""
        assert isinstance(outcome, Done | Fault)
        if isinstance(outcome, Done):
            found = zip(self.fields.values(), outcome.state, strict=True)
            assert any(longest(to_json(v, k, self.machine)) > 3 for k, v in found)

    def put_in(
        self, row: ir.Transition, before: dict[str, Any], given: dict[str, Any]
    ) -> SymbolicStep:
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
                case Elements(rows=rows, item=item):
                    made = [Element(r.names, put(r.when), put(r.value)) for r in rows]
                    return Elements(tuple(made), item)
                case Composite(fields=fields):
                    return Composite(tuple(put(v) for v in fields))
                case _:
                    return encoding.logic.replace(value, pairs)

        return replace(
            step,
            done=put(step.done),
            laws=put(step.laws),
            stopped={kind: put(where) for kind, where in step.stopped.items()},
            after={name: put(v) for name, v in step.after.items()},
            outputs=tuple((put(when), put(v)) for when, v in step.outputs),
        )

    def inside(self, step: SymbolicStep, row: ir.Transition) -> bool:
        """Whether the state after and the output keep their bounds."""
        kinds = {v.name: v.type for v in self.machine.variables}
        found = [inside(self.encoding, step.after[name], kind) for name, kind in kinds.items()]
        found += [
            self.encoding.logic.implies(when, inside(self.encoding, v, row.function.output))
            for when, v in step.outputs
        ]
        return self.sure(self.encoding.logic.all(found))

    def same_after(self, step: SymbolicStep, after: tuple[Any, ...]) -> None:
        for (name, kind), value in zip(self.fields.items(), after, strict=True):
            assert self.same(step.after[name], value, kind), name

    def same_output(self, step: SymbolicStep, output: Any, kind: t.Type) -> None:
        reached = [value for when, value in step.outputs if self.sure(when)]
        if not reached:
            assert output is None
            return
        assert len(reached) == 1
        assert self.same(reached[0], output, kind)

    def same(self, found: Value, value: Any, kind: t.Type) -> bool:
        match found, kind:
            case Elements(rows=rows), t.Seq():
                if any(row.names for row in rows):
                    return self.same_elements(found, value, kind)
                kept = [row.value for row in rows if self.sure(row.when)]
                return len(kept) == len(value) and all(
                    self.same(a, b, kind.item) for a, b in zip(kept, value, strict=True)
                )
            case Composite(fields=fields), t.Record(fields=kinds):
                pairs = zip(fields, kinds, strict=True)
                return all(self.same(v, getattr(value, name), of) for v, (name, of) in pairs)
            case ((Elements() | Composite() | Unencodable() | OtherState()), _):
                raise AssertionError(found)
            case _:
                return self.sure(self.encoding.equal(found, self.term(value, kind), kind))

    def same_elements(self, many: Elements, value: Any, kind: t.Seq) -> bool:
        """Of a sequence that is known by its elements only."""
        node = ir.Self(NOWHERE, kind)
        run = Execution(self.encoding, {}, self.machine)
        inside = all(
            self.sure(contains(run, many, self.term(v, kind.item), kind.item, node)) for v in value
        )
        numbers = range(-2, 6) if isinstance(kind.item, t.Int) else ()
        others = [i for i in numbers if i not in value]
        return inside and not any(
            self.sure(contains(run, many, self.term(i, kind.item), kind.item, node)) for i in others
        )
