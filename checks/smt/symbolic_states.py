"""The states of a machine as terms: an arbitrary state, what is assumed of it, and its properties.

The same machine can be encoded exactly, within a small window of integers (where models are found
easily), or with values put in (where a model is confirmed).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.composition import machines_in
from lawful.spec.flat import Timed
from lawful.spec.ir import Json
from lawful.spec.verdicts import SAFETY, PropertyKind

from .algebra.term import Term
from .encode.bounds import limit
from .encode.conversion import now as present
from .encode.execution import Execution
from .encode.parts import members, unlisted
from .encode.places import read
from .encode.sorts import NotEncodable, Options
from .encode.symbolic import State, StatePath, Unencodable, Value, state_path
from .encode.time import same_time
from .encode.values import Encoding
from .obligations import Fixed, attempt
from .solver.models import literal
from .timer_clauses import TimerClause


@dataclass(frozen=True)
class SafetyProperty:
    """A property to check: of the machine itself, or of the part at `path`, named `part.property`.

    A map on the path stands for all of its members.
    """

    name: str
    row: ir.Property
    machine: ir.Machine
    path: StatePath


class SymbolicStates:
    """One machine in one encoding: its `parameters` and an arbitrary `state`.

    `fixed` gives some of them fixed values. `timer_clauses` are known to be true in every state.
    `hypotheses` are the invariants as terms; those in `dropped` are not assumed.
    """

    def __init__(
        self,
        machine: Timed,
        options: Options,
        fixed: Fixed | None = None,
        timer_clauses: Sequence[TimerClause] = (),
    ) -> None:
        self.machine = machine
        self.encoding = Encoding(machine, options)
        self.logic = self.encoding.logic
        self.fixed = fixed
        self.dropped: set[str] = set()  # Names of invariants that are not assumed.
        self.lost: list[str] = []  # Facts without an encoding: models may violate them.
        self.properties = {j.name: j for j in safety_properties(machine)}
        self.constraints = [*properties_of(machine, "constraint")]
        self.scoped = self.encoding.lengths.variables(machine)
        self._facts: list[Term] = []
        self.parameters = {
            p.name: self._value(p.name, p.type, None if fixed is None else fixed.parameters)
            for p in machine.parameters
        }
        self._bound(self.parameters, {p.name: p.type for p in machine.parameters})
        assumed = {p.name: attempt(self._assumed, p) for p in machine.of_kind("assume")}
        self.lost += [f"@assume {n}" for n, a in assumed.items() if isinstance(a, NotEncodable)]
        self._parameter_facts = (*self._facts, *known(assumed.values()))
        self._facts = []
        self.state = {
            v.name: self._value(v.name, v.type, None if fixed is None else fixed.state)
            for v in machine.variables
        } | self.parameters
        self._bound(self.state, {v.name: v.type for v in machine.variables})
        self._bound(self.state, self.scoped)
        self._facts += self._clocks_agree()
        self._facts += known(attempt(each.term, self.run(self.state)) for each in timer_clauses)
        # A part is made with parameters that its @assume allows.
        found = [attempt(self.always, j, self.state) for j in self.of_kind("assume") if j.path]
        self._facts += known(found)
        self.hypotheses = {
            j.name: attempt(self.always, j, self.state) for j in self.of_kind("invariant")
        }

    def of_kind(self, kind: PropertyKind) -> list[SafetyProperty]:
        """The properties of one kind, in the order of the declaration, those of parts last."""
        return [j for j in self.properties.values() if j.row.kind == kind]

    # Facts.

    def facts(self) -> tuple[Term, ...]:
        """What is assumed of an arbitrary state: assumptions, bounds, invariants."""
        return (*self.state_facts(), *self.assumed.values())

    def state_facts(self) -> tuple[Term, ...]:
        """The same without the invariants."""
        return (*self.parameter_facts(), *self._facts)

    def parameter_facts(self) -> tuple[Term, ...]:
        """What is assumed of the parameters of an instance."""
        return (*self.encoding.facts, *self._parameter_facts)

    @property
    def assumed(self) -> dict[str, Term]:
        """The invariants that are assumed, by name."""
        return {
            name: h
            for name, h in self.hypotheses.items()
            if name not in self.dropped and not isinstance(h, NotEncodable)
        }

    def _value(self, name: str, kind: t.Type, fixed: Mapping[str, Json] | None) -> Value:
        try:
            if fixed is None or name not in fixed:
                return self.encoding.fresh(name, kind)
            return literal(self.encoding, fixed[name], kind)
        except NotEncodable as error:
            return Unencodable(f"{name}: {error.construct}")

    def _bound(self, values: State, types: Mapping[str, t.Type]) -> None:
        for name, kind in types.items():
            value = values[name]
            if isinstance(value, Term):
                found = attempt(self.encoding.bounds, value, kind)
                self._facts += known([found])
                limit(self.logic, value, kind)
                if isinstance(found, NotEncodable):
                    self.lost.append(f"the bounds of {name}")

    def _clocks_agree(self) -> list[Term]:
        """The condition that the clocks of parts agree with the clock of the whole."""
        now = present(self.run(self.state))
        rows = [(self.state[v.name], v.type) for v in self.machine.variables]
        return [
            same_time(self.encoding, value, kind, now)
            for value, kind in rows
            if isinstance(value, Term)
        ]

    # Properties.

    def run(self, state: State) -> Execution:
        """An execution that begins in this state."""
        return Execution(self.encoding, state, self.machine)

    def _assumed(self, p: ir.Property) -> Term:
        """The value of an assumption; false where it is undefined."""
        value, defined = self.run(self.parameters).judge(p.function, {})
        return self.logic.all((defined, value))

    def always(self, j: SafetyProperty, state: State, after: State | None = None) -> Term:
        """The condition that the property holds for all values of its parameters and all members.

        For a step property: all members that exist before and after. Where the property is
        undefined, it fails.
        """
        logic = self.logic
        return logic.all(
            logic.forall(names, where, logic.all((defined, value)))
            for names, where, defined, value in self._of_members(j, state, after)
        )

    def broken(
        self, j: SafetyProperty, state: State, after: State | None = None
    ) -> tuple[Term, Term]:
        """The conditions that the property is false, and that it is undefined, for some values.

        Both name the values and the member by the same constants, so that one model decides both.
        """
        logic, rows = self.logic, list(self._of_members(j, state, after))
        fails = [logic.all((w, logic.negate(logic.all((d, v))))) for _, w, d, v in rows]
        return logic.any(fails), logic.any(logic.all((w, logic.negate(d))) for _, w, d, _ in rows)

    def _of_members(
        self, j: SafetyProperty, state: State, after: State | None
    ) -> Iterator[tuple[list[Term], Term, Term, Term]]:
        """For each member: the constants for the parameters, where they are allowed and the member
        exists, where the property is defined, and where it is true."""
        for place, there in self._members(j, *((state,) if after is None else (state, after))):
            names, where = unlisted(place), list(there)
            args: dict[str, Value] = {}
            for i, (name, kind) in enumerate(j.row.function.params):
                if after is not None and i == 0:
                    args[name] = read(self.run(after), place)
                    continue
                term = self.logic.fresh(name, self.encoding.shape(kind))
                names.append(term)
                where.append(self.encoding.bounds(term, kind))
                args[name] = term
            value, defined = self.run(state).judge(j.row.function, args, place, j.machine)
            yield names, self.logic.all(where), defined, value

    def _members(self, j: SafetyProperty, *states: State) -> list[tuple[StatePath, list[Term]]]:
        """The paths to the part that the property belongs to, each with where it exists."""
        return members(self.encoding, j.path, [self.run(each) for each in states])


def safety_properties(machine: ir.Machine) -> Iterator[SafetyProperty]:
    """The safety properties of a machine and of its parts, and what these assume."""
    return properties_of(machine, *SAFETY, "assume")


def properties_of(machine: ir.Machine, *kinds: PropertyKind) -> Iterator[SafetyProperty]:
    """The properties of these kinds, of a machine and of its parts."""
    for inner in machines_in(machine):
        path = state_path(inner.path)
        for p in inner.machine.properties:
            if p.kind in kinds:
                yield SafetyProperty(inner.prefix + p.name, p, inner.machine, path)


def known(found: Iterable[Term | NotEncodable]) -> list[Term]:
    """The terms among these; whatever has no encoding is skipped."""
    return [each for each in found if not isinstance(each, NotEncodable)]
