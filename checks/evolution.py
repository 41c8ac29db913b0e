"""From one version of a machine to the next: is every state taken over?

What the older version's invariants allow, seen through the names that variables have now, is what
the newer version's invariants allow; or a state that is not is shown. As in `restore`, what is new
begins as declared, and what is no more is left out.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.ir import Json
from lawful.spec.ticks import with_ticks

from .asked import State, tried
from .budget import USUAL, Budget, Effort
from .covers import covers, sorts, types
from .nearest import near_the_start
from .obligation import ENDED, Obligation
from .shapes import NotEncodable, Options, fields_of
from .solve import Answer, ask, nearest
from .spread import in_order
from .subject import Subject
from .symbols import Made, Many, Missing, Whole
from .term import Term
from .terms import Execution
from .verdict import Verdict
from .witness import Witness

STEP = "taken over"
NEAREST_UNITS = 6_000_000
NO_STATE = "the older invariants allow no state, or none that is found: nothing is proved of it"


@dataclass(frozen=True, slots=True)
class Versions:
    """Two versions of a machine; `renamed` gives the former names of what had others."""

    old: ir.Machine
    new: ir.Machine
    renamed: Mapping[str, str]

    def former(self, name: str) -> str | None:
        """What a variable or parameter was called; None for what is new."""
        was = self.renamed.get(name, name)
        mine, theirs = _kinds(self.new), _kinds(self.old)
        return was if mine[name] == theirs.get(was) else None

    def check(self) -> None:
        """Raise ValueError for a name that is none, or of a parameter that was a variable."""
        for name, was in self.renamed.items():
            kind = _kinds(self.new).get(name)
            if kind is None or _kinds(self.old).get(was) != kind:
                raise ValueError(f"{self.new.name}.{name} was not {was}: no such {kind or 'name'}")

    def lines(self) -> Iterator[str]:
        """What became of each variable and parameter, in words."""
        kinds = dict(fields_of(self.new))
        before = dict(fields_of(self.old))
        taken: set[str] = set()
        for name, kind in kinds.items():
            was = self.former(name)
            if was is None:
                yield f"{name} is new"
                continue
            taken.add(was)
            if was != name:
                yield f"{name} was {was}"
            if before[was] != kind:
                yield f"{name} is a {kind}, and was a {before[was]}"
        yield from (f"{name} is no more" for name in before if name not in taken)


def evolve(
    versions: Versions, sizes: Mapping[str, int], effort: Effort = USUAL,
    workers: int = 1,
) -> list[Obligation]:
    """What of the newer version is kept by every state of the older one that is taken over; by so
    many processes, as in `prove`.

    Raises ValueError for names that are none.
    """
    versions.check()
    taking = tried(_Taking, versions, sorts(versions.old, sizes), effort)
    about, within = covers(versions.old, sizes)
    names = ("bounds", *_judged(versions.new))
    rows = [Obligation(name, STEP, Verdict.UNKNOWN, about, 0.0) for name in names]
    if isinstance(taking, NotEncodable):
        return [replace(open, note=f"not encodable: {taking}") for open in rows]
    (possible,) = in_order(_Taking.is_possible, lambda _, _how: False, [taking], workers)

    def answer(open: Obligation) -> Obligation:
        began, budget = time.perf_counter(), taking.effort.begin()
        done = taking.answer(open, budget, within, possible=possible)
        return replace(done, seconds=time.perf_counter() - began, units=budget.spent)

    def ended(open: Obligation, how: str) -> Obligation:
        return replace(open, note=f"{ENDED} ({how})")

    return in_order(answer, ended, rows, workers)


def _judged(machine: ir.Machine) -> list[str]:
    return [p.name for p in machine.properties if p.kind in ("assume", "invariant")]


def _kinds(machine: ir.Machine) -> dict[str, str]:
    rows = {v.name: "ghost" if v.ghost else "variable" for v in machine.variables}
    return rows | {p.name: "parameter" for p in machine.parameters}


class _Taking:
    """A state of the older version, and what it is in the newer one; raises NotEncodable."""

    def __init__(self, versions: Versions, sizes: Mapping[str, int], effort: Effort) -> None:
        _same_types(versions.old, versions.new)
        self.versions, self.effort = versions, effort
        self.old, self.new = with_ticks(versions.old), with_ticks(versions.new)
        self.subject = Subject(self.old, Options(sizes))
        self.logic = self.subject.logic
        self.after = self._after()
        lost = [n for n, h in self.subject.hypotheses.items() if isinstance(h, NotEncodable)]
        self.lost = f"; not assumed, being not encodable: {', '.join(lost)}" if lost else ""

    def _after(self) -> State:
        encoding, before = self.subject.encoding, dict(fields_of(self.old))
        given: dict[str, Term] = {}
        for name, kind in fields_of(self.new):
            was = self.versions.former(name)
            if was is not None:
                value = self.subject.state[was]
                if isinstance(value, Many | Made | Missing | Whole):
                    raise NotEncodable(f"the variable {was}")
                given[name] = encoding.coerce(value, before[was], kind)
        return self._run({}).defaults(given)

    def _run(self, state: State) -> Execution:
        return Execution(self.subject.encoding, state, self.new)

    def is_possible(self) -> bool:
        """Whether there is a state that the older version's invariants allow."""
        return ask(self.logic, self.subject.facts(), self.effort.begin()).status == "sat"

    def answer(
        self, open: Obligation, budget: Budget, within: bool, *, possible: bool
    ) -> Obligation:
        """One thing that the newer version says, tried."""
        goal = tried(self._goal, open.property)
        if isinstance(goal, NotEncodable):
            return replace(open, note=f"not encodable: {goal}")
        facts = (*self.subject.facts(), self.logic.negate(goal))
        answer = ask(self.logic, facts, budget)
        if answer.status == "unsat":
            proved = Verdict.PROVED_WITHIN if within else Verdict.PROVED
            done = replace(open, verdict=proved, before=answer.before)
            return done if possible else replace(open, note=NO_STATE)
        if answer.status == "sat":
            wished = near_the_start(self.subject, self.subject.state)
            near = nearest(self.logic, facts, wished, budget.units(NEAREST_UNITS))
            shown = self._told(near) or self._told(answer)
            if shown is not None and not self.lost:
                return replace(open, verdict=Verdict.VIOLATED, counterexample=shown)
            return replace(open, note=f"a state is not taken over{self.lost}")
        return replace(open, note=f"Z3 does not decide it: {answer.why}")

    def _goal(self, name: str) -> Term:
        if name == "bounds":
            return self.logic.all(self._bounds())
        p = next(p for p in self.new.properties if p.name == name)
        names: list[Term] = []
        where: list[Term] = []
        for param, kind in p.function.params:
            names.append(self.logic.fresh(param, self.subject.encoding.shape(kind)))
            where.append(self.subject.encoding.bounds(names[-1], kind))
        args = dict(zip((n for n, _ in p.function.params), names, strict=True))
        value, defined = self._run(self.after).judge(p.function, args)
        return self.logic.forall(names, self.logic.all(where), self.logic.all((defined, value)))

    def _bounds(self) -> Iterator[Term]:
        for name, kind in fields_of(self.new):
            value = self.after[name]
            if isinstance(value, Missing):
                raise NotEncodable(value.why)
            if not isinstance(value, Many | Made | Whole):
                yield self.subject.encoding.bounds(value, kind)

    def _told(self, answer: Answer) -> dict[str, Json] | None:
        """The state and what it would be; None where it is not finite."""
        if answer.model is None:
            return None
        witness, out = Witness(self.subject.encoding, answer.model), dict[str, Json]()
        for key, machine, state in (
            ("state", self.old, self.subject.state), ("after", self.new, self.after)
        ):
            out[key] = {n: witness.value(state[n], kind) for n, kind in fields_of(machine)}
        return None if witness.infinite else out


def _same_types(old: ir.Machine, new: ir.Machine) -> None:
    """Raise NotEncodable where a name is of one type in one version, of another in the other."""
    if old.parts or new.parts:
        raise NotEncodable("a machine with parts, of which an older version is taken over")
    named: dict[tuple[str, str], t.Type] = {}
    for kind in (*types(old), *types(new)):
        if not isinstance(kind, t.Enum | t.Sort | t.Record | t.Opaque):
            continue
        if named.setdefault((type(kind).__name__, kind.name), kind) != kind:
            raise NotEncodable(f"{kind.name}, which is another type in the older version")
