"""Counterexamples to induction compared with an exploration: is the state reachable at all?

Where it is not, simple clauses are sought that hold in every explored state and exclude it. They
are tried together, and those that are not inductive are dropped until the rest is (C. Flanagan,
K. R. M. Leino, "Houdini, an annotation assistant for ESC/Java", 2001).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.flat import Flat
from lawful.spec.ir import Json
from lawful.spec.lower import sized
from lawful.spec.lower.steps import with_all_steps
from lawful.spec.values.world import World, decode

from ..explore.limits import Budget, looked
from ..explore.refinement import refinements
from ..explore.retrace import again
from ..explore.search import Limits as Short
from ..explore.short_search import short_search
from ..explore.space import Space
from ..explore.traces import trace_json
from ..reference.states import State
from ..smt.solver.budget import Effort
from ..verdict import Trace
from .candidate_clauses import NAME, CandidateClause, CandidateClauses
from .induction import Induction
from .result import NOT_SHOWN, VACUOUS, Obligation, ProofResult, Proposal
from .schedule import in_turn

STATES = 3000
TRIED = 150_000  # Events of the search, including refused ones.
LOOKS = 200_000  # Of the budget: one event may have long loops.
EACH = 12  # Clauses tried for one counterexample.
ROUNDS = 10


Limits = tuple[Mapping[str, int], Effort, int]  # Sizes of sorts, for each question, processes.


class Seen:
    """The states of a search of limited length within a scope, and the violations it met.

    `declared` is the machine without the scope: its serial numbers may have more bits. Raises
    ValueError where no initial state is within the scope.
    """

    def __init__(self, flat: Flat, world: World, declared: ir.Machine) -> None:
        self.space = Space(flat, world)
        enough = looked(LOOKS)
        short = Short(STATES, stop=lambda: self.space.tried >= TRIED or enough())
        self.search = short_search(self.space, short)
        self.refinements = refinements(self.space)
        self.space.budget = Budget()  # That of the search may be met.
        whole = with_all_steps(declared)
        self.narrowed = flat.machine != whole
        self._whole = Space(replace(flat, machine=whole), world)

    @property
    def whole(self) -> bool:
        """Whether these are all states of the machine, within the scope and beyond it."""
        return self.search.complete and not self.search.cut_by

    def is_real(self, name: str, trace: Trace) -> bool:
        """Whether the run violates the property with all bits of serial numbers, too."""
        if not self.narrowed:
            return True
        if not trace.states or name == "ambiguous":
            return False
        rows: Any = trace_json(trace)
        return again(self._whole, name, rows) is not None

    def state(self, example: Mapping[str, Json]) -> State | None:
        """The state of a counterexample; None where it is not a state of this world."""
        machine = self.space.machine
        rows: list[Any] = []
        try:
            for where, fields in (("state", machine.variables), ("parameters", machine.parameters)):
                shown = example[where]
                assert isinstance(shown, Mapping)
                rows += [decode(shown[f.name], f.type, self.space.world) for f in fields]
        except (KeyError, TypeError, ValueError):
            return None
        return tuple(rows)

    def number(self, example: Mapping[str, Json]) -> int | None:
        """The number of a counterexample's state; None where exploration did not reach it."""
        state = None if example.get("state") is None else self.state(example)
        found = -1 if state is None else self.search.find(state)
        return None if found < 0 else found

    def reachability(self, example: Mapping[str, Json]) -> str:
        """Whether the state of a counterexample was reached, in words."""
        number, many = self.number(example), len(self.search.states)
        if number is None:
            states = f"none of the {many:,} states" if many > 1 else "not the 1 state"
            there = "there are" if many > 1 else "there is"
            return f"is {states} {there if self.whole else 'seen within the scope'}: strengthen"
        events = 0
        while self.search.before(number) >= 0:
            number, events = self.search.before(number), events + 1
        return f"is reached after {events} events within the scope: a bug"


def looked_up(result: ProofResult, seen: Seen) -> ProofResult:
    """The result; each counterexample to induction says whether its state was reached."""
    rows: list[Obligation] = []
    open = open_of(result)
    for o in result.obligations:
        if o in open and o.counterexample is not None:
            example = {**o.counterexample, "reachable": seen.reachability(o.counterexample)}
            rows.append(replace(o, counterexample=example))
        else:
            rows.append(o)
    return replace(result, obligations=tuple(rows))


def open_of(result: ProofResult) -> list[Obligation]:
    """The obligations refuted by a state that may be unreachable."""
    rows = [o for o in result.counted if o.counterexample is not None]
    return [o for o in rows if o.counterexample and o.counterexample.get("state") is not None]


def proposed(machine: ir.Machine, seen: Seen, how: Limits, result: ProofResult) -> ProofResult:
    """The result with clauses that prove more of what is open, where some are found.

    `how` gives the sizes of sorts, the effort for each obligation, and the number of processes.
    """
    proposal = _propose(machine, seen, how, result.counted)
    none = "" if proposal else "no clause that it tried proves more of what is open"
    return replace(result, proposal=proposal, no_proposal=none, by_reference=("candidates",))


def _propose(
    machine: ir.Machine,
    seen: Seen,
    how: Limits,
    obligations: Sequence[Obligation],
) -> Proposal | None:
    """Clauses with which more can be proved; None where none are found."""
    clauses = CandidateClauses(seen.space.reference, dict(_elements(seen)), seen.search.states)
    pool: dict[str, ir.Property] = {}
    # Obligations of cases that cannot happen stay open with any clauses.
    known = [o for o in obligations if not o.note.startswith((VACUOUS, NOT_SHOWN))]
    best = list(known)
    for _ in range(ROUNDS):
        found = [c for o in best for c in _excluding(seen, clauses, (o, pool))]
        new = {c.text: c for c in found}
        if not new:
            break
        for text, clause in new.items():
            pool[text] = _property(machine, clause, f"clause_{len(pool) + 1}")
        best = _tried(machine, tuple(pool.values()), how, known)
        if all(o.verdict.good for o in best if o.property not in _names(pool)):
            break
    return _needed(pool, obligations, best)


def _names(pool: Mapping[str, ir.Property]) -> set[str]:
    return {p.name for p in pool.values()}


def _elements(seen: Seen) -> Iterator[tuple[t.Type, list[Any]]]:
    """The sorts, and their elements within the scope."""
    for kind in seen.space.machine.types:
        if isinstance(kind, t.Sort):
            yield kind, list(seen.space.values.of(kind))


def _excluding(
    seen: Seen, clauses: CandidateClauses, about: tuple[Obligation, Collection[str]]
) -> list[CandidateClause]:
    """The next untried clauses that exclude the state of a counterexample."""
    o, attempt = about
    example = o.counterexample
    if o.verdict.good or example is None or example.get("state") is None:
        return []
    state = seen.state(example)
    if state is None or seen.search.find(state) >= 0:
        return []
    return [c for c in clauses.excluding(state) if c.text not in attempt][:EACH]


def _property(machine: ir.Machine, clause: CandidateClause, name: str) -> ir.Property:
    params = () if clause.of is None else ((NAME, clause.of),)
    body = (ir.Return(machine.place, clause.value),)
    function = ir.Function(machine.place, name, params, t.BOOL, body)
    return ir.Property(machine.place, name, "invariant", function, "")


def _tried(
    machine: ir.Machine,
    clauses: tuple[ir.Property, ...],
    how: Limits,
    known: Sequence[Obligation],
) -> list[Obligation]:
    """Try the open obligations and the clauses together; clauses that fail are dropped."""
    whole = replace(machine, properties=(*machine.properties, *clauses))
    sizes, effort, workers = how
    induction, names = Induction(sized(whole, sizes), effort, workers), {p.name for p in clauses}
    open = {(o.obligation, o.property) for o in known if not o.verdict.good}
    asked = [q for q in induction.questions() if q[1] in names or q in open]
    good = [o for o in known if o.verdict.good]
    sifted = induction.sift([*good, *in_turn(induction, asked)])
    # An obligation whose proof used a dropped clause has no counterexample yet.
    again = [
        (o.obligation, o.property)
        for o in sifted
        if (o.obligation, o.property) in open and not o.verdict.good and o.counterexample is None
    ]
    found = dict(zip(again, in_turn(induction, again), strict=True))
    return [found.get((o.obligation, o.property), o) for o in sifted]


def _needed(
    pool: Mapping[str, ir.Property], known: Sequence[Obligation], best: Sequence[Obligation]
) -> Proposal | None:
    """The clauses that new proofs use, and those that these use; all obligations with them."""
    names = _names(pool)
    was_open = {(o.obligation, o.property) for o in known if not o.verdict.good}
    won = [o for o in best if o.verdict.good and (o.obligation, o.property) in was_open]
    used = {name for o in won for name in o.uses if name in names}
    while True:
        more = {n for o in best if o.property in used for n in o.uses if n in names} - used
        if not more:
            break
        used |= more
    if not used:
        return None
    order = {(o.obligation, o.property): o for o in best}
    rows = tuple(order.get((o.obligation, o.property), o) for o in known)
    return Proposal(tuple(p for p in pool.values() if p.name in used), rows)
