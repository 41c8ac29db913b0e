"""Migration: is every state of the older version of a machine valid in the newer one?

The older version's invariants describe a state; the newer version's have to be true of what
`restore` makes of it, or a state is shown of which they are not. As in `restore`, new variables
begin as declared, and removed ones are left out. `handover` says which values can be read.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from lawful.runtime.instances import enforcement
from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.composition import machines_in
from lawful.spec.analysis.named_elements import named_elements
from lawful.spec.codec.as_json import fingerprints, is_object
from lawful.spec.ir import Json
from lawful.spec.lower import Sized, sized
from lawful.spec.resolve import Resolved
from lawful.spec.values.opaques import ENCODED, text_class
from lawful.spec.values.time import clock_of, with_ticks

from ..smt.algebra.term import Term
from ..smt.encode.bounds import inside
from ..smt.encode.conversion import as_term, field_of
from ..smt.encode.execution import Execution
from ..smt.encode.parts import members, unlisted
from ..smt.encode.places import read
from ..smt.encode.sorts import NotEncodable, Options, fields_of
from ..smt.encode.symbolic import State, StatePath, Unencodable, Value, state_path
from ..smt.obligations import attempt
from ..smt.solver.budget import USUAL, Budget, Effort
from ..smt.solver.models import Witness
from ..smt.solver.processes import map_in_order
from ..smt.solver.small_models import close_to_start
from ..smt.solver.solve import Answer, ask, preferred_model
from ..smt.symbolic_states import SafetyProperty, properties_of
from ..smt.system import TransitionSystem
from ..verdict import Verdict
from .declared_parameters import PartVariable, declared
from .handover import Handover, Taken
from .older_types import apart, as_declared, changed_enums, changed_records
from .result import ENDED, Obligation
from .scope_text import covers, types

STEP = "taken over"
PREFERRED_UNITS = 6_000_000
NO_STATE = "the older invariants allow no state, or none that is found: nothing is proved of it"
NOT_READ = "no state is found that has values of the newer types: nothing is proved of it"


@dataclass(frozen=True, slots=True)
class Versions:
    """Two versions of a machine; `renamed` gives the former names.

    `dropped`: variables and parameters of the older version that the newer one lacks on purpose.
    `refused`: an opaque type whose values the newer version refuses by their Python type, with
    whether it refuses all of them. The IR does not have these Python types.
    """

    old: ir.Machine
    new: ir.Machine
    renamed: Mapping[str, str]
    refused: Mapping[str, bool] = field(default_factory=dict[str, bool])
    dropped: tuple[str, ...] = ()

    @staticmethod
    def of(
        old: Resolved, new: Resolved, renamed: Mapping[str, str], dropped: Iterable[str] = ()
    ) -> Versions:
        """The versions of two resolved classes."""
        every = frozenset(ENCODED)
        rows = {
            name: (was, now)
            for name, now in new.world.encodable.items()
            if (was := old.world.encodable.get(name, every))
        }
        forms = {name: (text_class(was), text_class(now)) for name, (was, now) in rows.items()}
        refused = {
            name: not was & now or len({*forms[name]}) > 1
            for name, (was, now) in rows.items()
            if was - now or len({*forms[name]}) > 1
        }
        return Versions(old.machine, new.machine, renamed, refused, tuple(dropped))

    def former(self, name: str) -> str | None:
        """The former name of a variable or parameter; None for a new one."""
        was = self.renamed.get(name, name)
        mine, theirs = _kinds(self.new), _kinds(self.old)
        return was if mine[name] == theirs.get(was) else None

    def check(self) -> None:
        """Raise ValueError for an unknown name, for a parameter that was a variable, and where some
        that vanish are told as dropped and others not."""
        for name, was in self.renamed.items():
            kind = _kinds(self.new).get(name)
            if kind is None or _kinds(self.old).get(was) != kind:
                raise ValueError(f"{self.new.name}.{name} was not {was}: no such {kind or 'name'}")
        lost = self.lost()
        for name in self.dropped:
            if name not in lost:
                what = "it is taken over" if name in _kinds(self.old) else "there is none"
                raise ValueError(f"{self.new.name} does not drop {name}: {what}")
        if self.dropped and set(lost) - set(self.dropped):
            more = ", ".join(name for name in lost if name not in self.dropped)
            raise ValueError(f"{self.new.name} drops {more}, too")
        others = [name for name, was in self.renamed.items() if name != was]
        if others and fingerprints(self.old).shape == fingerprints(self.new).shape:
            raise ValueError(
                f"{', '.join(others)} cannot be renamed: both versions of {self.new.name} have the"
                " same shape, so that restore takes a snapshot of the older one as it is"
            )

    def lines(self) -> Iterator[str]:
        """What became of each variable and parameter, a line each."""
        kinds = dict(fields_of(self.new))
        before = dict(fields_of(self.old))
        for enum, had, has in changed_enums(self.old, self.new):
            more = ", ".join(name for name in has if name not in had)
            less = ", ".join(name for name in had if name not in has)
            yield from [f"{enum} has {more}, too"] * bool(more)
            yield from [f"{enum} no longer has {less}"] * bool(less)
        for record, now in changed_records(self.old, self.new):
            yield from _fields_apart(record.name, dict(record.fields), dict(now.fields))
        for part in self.new.parts:
            older = next((each for each in self.old.parts if each.name == part.name), None)
            if older is not None:
                yield from _fields_apart(part.name, dict(fields_of(older)), dict(fields_of(part)))
        for name, kind in kinds.items():
            was = self.former(name)
            if was is None:
                yield f"{name} is new"
                continue
            if was != name:
                yield f"{name} was {was}"
            if str(before[was]) != str(kind):
                yield f"{name} is a {kind}, and was a {before[was]}"
        for name in self.lost():
            if name in self.dropped:
                yield f"{name} is dropped"
            else:
                yield f"{name} vanishes with its values; --dropped {name} says that it shall"

    def lost(self) -> list[str]:
        """The variables and parameters of the older version that are not taken over."""
        taken = {self.former(name) for name, _ in fields_of(self.new)}
        return [name for name, _ in fields_of(self.old) if name not in taken]


def _fields_apart(of: str, had: Mapping[str, t.Type], has: Mapping[str, t.Type]) -> Iterator[str]:
    """What became of the fields of a record or a part, a line each."""
    more, less = (", ".join(n for n in a if n not in b) for a, b in ((has, had), (had, has)))
    if more or less:
        words = [f"has {more}, too"] * bool(more) + [f"no longer has {less}"] * bool(less)
        yield f"{of} {' and '.join(words)}: restore takes over no older {of}"
    for name in has:
        if name in had and str(had[name]) != str(has[name]):
            yield f"{of}.{name} is a {has[name]}, and was a {had[name]}"


def evolve(
    versions: Versions, sizes: Mapping[str, int], effort: Effort = USUAL, workers: int = 1
) -> list[Obligation]:
    """The obligations of the newer version about every restored state of the older one.

    `workers` is the number of processes, as in `prove`. Raises ValueError for unknown names.
    """
    versions.check()
    lowered = sized(apart(versions.old, versions.new), sizes)
    taking = attempt(_Taking, versions, lowered, effort)
    about, within = covers(lowered)
    names = ("bounds", *_judged(versions.new))
    rows = [Obligation(name, STEP, Verdict.UNKNOWN, about, 0.0) for name in names]
    if isinstance(taking, NotEncodable):
        return [replace(open, note=f"not encodable: {taking}") for open in rows]
    facts = [taking.known(), taking.facts()]
    some, read = map_in_order(taking.is_possible, lambda _, _how: False, facts, workers)
    nothing = "" if some else NO_STATE

    def answer(open: Obligation) -> Obligation:
        began, budget = time.perf_counter(), taking.effort.begin()
        none = nothing if read or open.property == "bounds" else nothing or NOT_READ
        done = taking.answer(open, budget, within, none)
        return replace(done, seconds=time.perf_counter() - began, units=budget.spent)

    def ended(open: Obligation, how: str) -> Obligation:
        return replace(open, note=f"{ENDED} ({how})")

    return map_in_order(answer, ended, rows, workers)


def _judged(machine: ir.Machine) -> dict[str, SafetyProperty]:
    """What `restore` judges of a state, of the machine and of its parts."""
    return {j.name: j for j in properties_of(machine, "assume", "invariant")}


def _kinds(machine: ir.Machine) -> dict[str, str]:
    rows = {v.name: "ghost" if v.ghost else "variable" for v in machine.variables}
    return rows | {p.name: "parameter" for p in machine.parameters}


class _Taking:
    """A state of the older version, and the restored state; raises NotEncodable."""

    def __init__(self, versions: Versions, old: Sized, effort: Effort) -> None:
        _same_types(old.machine, versions.new)
        self.versions, self.effort = versions, effort
        self.old, self.new = old.machine, with_ticks(versions.new)
        self.judged = _judged(self.new)
        self.system = TransitionSystem(self.old, Options(old.sizes))
        self.logic = self.system.logic
        self.read: dict[str, Term] = {}  # Whether a variable or parameter is taken over.
        self.unset: list[str] = []  # New variables whose declaration gives no value.
        self.made = tuple(self._made())
        self.after = self._after()
        lost = [n for n, h in self.system.hypotheses.items() if isinstance(h, NotEncodable)]
        self.lost = f"; not assumed, being not encodable: {', '.join(lost)}" if lost else ""

    def _after(self) -> State:
        encoding, before = self.system.encoding, dict(fields_of(self.old))
        encoding.know(self.new.parts)
        handover = Handover(encoding, self.versions.refused, self._declared)
        variables = {v.name: v for v in self.new.variables}
        given: dict[str, Value] = {}
        known = _kinds(self.new)
        for name, kind, initial in _beginnings(self.new):
            was = self.versions.former(name)
            if was is not None:
                value = self.system.state[was]
                if not isinstance(value, Term):
                    raise NotEncodable(f"the variable {was}")
                found: Taken | None
                if name in variables:
                    found = handover.variable(value, before[was], self.new, variables[name])
                else:
                    found = handover.taken(value, before[was], kind)
                none = Unencodable(f"{name}: no {before[was]} is a {kind}")
                given[name] = none if found is None else found.value
                if known[name] != "ghost":  # No snapshot has one.
                    self.read[name] = self.logic.false if found is None else found.there
            elif isinstance(kind, t.Clock):
                given[name] = self.logic.number(0)
            elif initial is None and not isinstance(kind, t.Timer | t.Part):
                self.unset.append(name)
        return self._run({}).defaults(given)

    def _declared(self, at: PartVariable, part: ir.Machine, name: str) -> tuple[Term, ...]:
        return declared(self._run({}), at, part, name)

    def _made(self) -> Iterator[Term]:
        """That the older version's parts have the parameters with which it makes them: `restore`
        has read no others."""
        encoding, run = self.system.encoding, self.system.run(self.system.state)
        owners = {m.name: m for m in (self.old, *self.old.parts)}
        for inner in machines_in(self.old):
            if not inner.path:
                continue
            at = PartVariable(owners[inner.path[-1].owner], inner.path[-1].variable)
            rows = members(encoding, state_path(inner.path), [run])
            for (place, there), p in product(rows, inner.machine.parameters):
                values = declared(self.system.run({}), at, inner.machine, p.name)
                if values:
                    found = as_term(
                        field_of(run, read(run, place), t.Part(inner.machine.name), p.name)
                    )
                    one = self.logic.any(encoding.equal(found, each, p.type) for each in values)
                    yield self.logic.forall(unlisted(place), self.logic.all(there), one)

    def _run(self, state: State) -> Execution:
        return Execution(self.system.encoding, state, self.new)

    def known(self) -> tuple[Term, ...]:
        """What is assumed of a state of the older version."""
        return (*self.system.facts(), *self.made)

    def facts(self) -> tuple[Term, ...]:
        """What is assumed of a state whose values the newer version can read."""
        return (*self.known(), *self.read.values())

    def is_possible(self, facts: tuple[Term, ...]) -> bool:
        """Whether some state makes these terms true."""
        return ask(self.logic, facts, self.effort.begin()).status == "sat"

    def answer(self, open: Obligation, budget: Budget, within: bool, none: str) -> Obligation:
        """One obligation, tried; `none` says why no state could have it, if so."""
        refused = self._refused(open.property)
        if refused:
            found = Verdict.UNKNOWN if none else Verdict.VIOLATED
            return replace(open, verdict=found, note=none or f"restore refuses all: {refused}")
        goal = attempt(self._goal, open.property)
        if isinstance(goal, NotEncodable):
            return replace(open, note=f"not encodable: {goal}")
        of_types = open.property == "bounds"
        facts = self.known() if of_types else self.facts()
        facts = (*facts, self.logic.negate(goal))
        answer = ask(self.logic, facts, budget)
        if answer.status == "unsat":
            proved = Verdict.PROVED_WITHIN if within else Verdict.PROVED
            done = replace(open, verdict=proved, cached=answer.cached)
            return replace(open, note=none) if none else done
        if answer.status == "sat":
            wished = close_to_start(self.system, self.system.state)
            near = preferred_model(self.logic, facts, wished, budget.units(PREFERRED_UNITS))
            shown = self._values_of(near) or self._values_of(answer)
            if shown is not None and not self.lost:
                note = self._unread(shown) if of_types else ""
                return replace(open, verdict=Verdict.VIOLATED, counterexample=shown, note=note)
            return replace(open, note=f"a state is not taken over{self.lost}")
        return replace(open, note=f"Z3 does not decide it: {answer.why}")

    def _refused(self, name: str) -> str:
        """Why `restore` refuses every state; an empty text where it does not."""
        if name == "bounds":
            return f"{', '.join(self.unset)} is new, and begins with no value" * bool(self.unset)
        p = self.judged[name].row
        return enforcement.without_a_list(p) if p.kind == "invariant" else ""

    def _unread(self, shown: Mapping[str, Json]) -> str:
        """Which variables have values that are not values of their newer type."""
        after, before = shown["after"], dict(fields_of(self.old))
        assert is_object(after)
        return "; ".join(
            f"{name} is a {kind}, and this {before[was]} is none"
            for name, kind in fields_of(self.new)
            if name not in after and (was := self.versions.former(name)) is not None
        )

    def _goal(self, name: str) -> Term:
        if name == "bounds":
            return self.logic.all((*self.read.values(), *self._bounds()))
        j, run = self.judged[name], self._run(self.after)
        return self.logic.all(
            self._holds(j, place, there)
            for place, there in members(self.system.encoding, j.path, [run])
        )

    def _holds(self, j: SafetyProperty, place: StatePath, there: Sequence[Term]) -> Term:
        """The condition that the property holds at a place for all values of its parameters."""
        names, where = unlisted(place), [*there]
        args: dict[str, Value] = {}
        for param, kind in j.row.function.params:
            term = self.logic.fresh(param, self.system.encoding.shape(kind))
            names.append(term)
            where.append(self.system.encoding.bounds(term, kind))
            args[param] = term
        value, defined = self._run(self.after).judge(j.row.function, args, place, j.machine)
        return self.logic.forall(names, self.logic.all(where), self.logic.all((defined, value)))

    def _bounds(self) -> Iterator[Term]:
        known = _kinds(self.new)
        for name, kind in fields_of(self.new):
            value = self.after[name]
            if known[name] == "ghost" or self.read.get(name) is self.logic.false:
                continue
            if isinstance(value, Unencodable):
                raise NotEncodable(value.why)
            kept = inside(self.system.encoding, value, kind)
            yield self.logic.implies(self.read.get(name, self.logic.true), kept)

    def _values_of(self, answer: Answer) -> dict[str, Json] | None:
        """The values of the state and of the restored state; None where one is infinite."""
        if answer.model is None:
            return None
        witness, out = Witness(self.system.encoding, answer.model), dict[str, Json]()
        for key, machine, state in (
            ("state", self.old, self.system.state),
            ("after", self.new, self.after),
        ):
            read = {} if machine is self.old else self.read
            out[key] = {
                n: as_declared(witness.value(state[n], kind))
                for n, kind in fields_of(machine)
                if n not in read or answer.model.truth(read[n])
            }
        return None if witness.infinite else out


def _beginnings(machine: ir.Machine) -> Iterator[tuple[str, t.Type, ir.Expr | None]]:
    """The default value of each variable and parameter."""
    yield from ((v.name, v.type, v.initial) for v in machine.variables)
    yield from ((p.name, p.type, p.default) for p in machine.parameters)


def _clocks(machine: ir.Machine) -> list[tuple[str, t.Type]]:
    return [(v.name, v.type) for v in machine.variables if isinstance(v.type, t.Clock)]


def _same_types(old: ir.Machine, new: ir.Machine) -> None:
    """Raise NotEncodable where a name means another type in the other version."""
    if _clocks(old) != _clocks(new) and any(map(_clocks, (*old.parts, *new.parts))):
        raise NotEncodable("a part with a clock, in a machine whose own clock is another")
    had = named_elements(old)
    for sort, texts in named_elements(new).items():
        for text in texts:
            if text not in had.get(sort, ()):
                raise NotEncodable(f"{text} of {sort}, which the older version does not name")
    ticks = {clock.type for clock in map(clock_of, (old, new)) if clock is not None}
    if len(ticks) > 1 and any(isinstance(kind, t.Timer) for kind in (*types(old), *types(new))):
        raise NotEncodable("timers beside a clock that had other ticks")
    named: dict[tuple[str, str], t.Type] = {}
    for kind in (*types(old), *types(new)):
        if not isinstance(kind, t.Enum | t.Sort | t.Record | t.Opaque):
            continue
        if named.setdefault((type(kind).__name__, kind.name), kind) != kind:
            raise NotEncodable(f"{kind.name}, which is another type in the older version")
