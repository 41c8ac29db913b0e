"""Whether the properties of a machine notice a mutant: by exploration, by coverage, by proof.

Exploration notices a mutant if a property holds of the machine and fails of the mutant. Where a
verdict is only weaker, `holds-within-scope` for `holds`, or a limit ended the search, that is not
decided. The same is true of a failure that the machine does not have with its declared types, only
with the fewer serial numbers or the more opaque values of the scope. Coverage notices a mutant in
which a transition never happens that happens in the machine. A proof notices a mutant if it proves
a property of the machine and not of the mutant.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from lawful.spec import ir
from lawful.spec.errors import DeclarationError, Problems, Unsupported
from lawful.spec.legal.starts import note_partial_starts
from lawful.spec.lower import lower
from lawful.spec.resolve import Resolved, abstract_scopes
from lawful.spec.text.expressions import expr
from lawful.spec.values.world import World
from lawful.spec.words import Scope

from ..conform.trace_lifting import UnscopedMachine
from ..conform.trace_verdicts import confirmed
from ..explore import CheckResult, Limits, explore
from ..prove import How, prove
from ..verdict import Verdict
from .mutants import Mutant
from .narrowings import unfounded

HOLDING = frozenset({Verdict.HOLDS, Verdict.HOLDS_WITHIN_SCOPE})
FAILING = frozenset({Verdict.VIOLATED, Verdict.UNDEFINED})
MORE_STATES, MORE = 4, 1000  # A mutant may have so many times the states, and so many more.

Outcome = Literal["noticed", "survived", "undecided", "no machine"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """What became of a mutant.

    `by` is what noticed it: `check p`, `coverage t` or `prove p`; or why it is undecided, or no
    machine. `engine` explored it, `not_generated` is the construct that needed the slow one.
    """

    outcome: Outcome
    by: str = ""
    engine: str = ""
    not_generated: str = ""


class Judge:
    """A machine within a scope, with the verdicts that those of its mutants are compared with.

    Raises `ValueError` where the machine itself cannot be explored within the limits.
    """

    def __init__(
        self, found: Resolved, scope: Scope, limits: Limits, proving: bool = False
    ) -> None:
        self.found, self.scope, self.abstracts = found, scope, abstract_scopes(found)
        result = self._explored(found.machine, limits)
        if not result.complete:
            raise ValueError(
                f"{found.machine.name} was not explored to its end, {result.distinct:,} states:"
                " its mutants need a smaller scope"
            )
        self.own = self._confirmed(found.machine, result)
        self.bounds, self.happening = result.scope, _happening(result)
        # A violation is enough, where the machine itself has none.
        first = not FAILING & {*self.own.values()}
        states = MORE_STATES * result.distinct + MORE
        self.limits = dataclasses.replace(limits, states=states, first=first)
        self.unfounded = unfounded(found.machine)
        self.proving = proving
        self.proved = self._proved(found.machine, self.happening) if proving else frozenset[str]()

    def __getstate__(self) -> dict[str, Any]:
        """A pickled judge needs no source where it arrives, and judges with one thread.

        Opaque values keep the classes that annotate them, because those tell how many there are.
        """
        own = self.found.world
        world = World({}, {}, {}, own.opaques, own.opaque_annotations, own.encodable)
        found = Resolved(self.found.machine, world, {}, {}, {})
        limits = dataclasses.replace(self.limits, stop=None, workers=1)
        return {**vars(self), "found": found, "limits": limits}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Classes of the same names are made for the machine's values."""
        vars(self).update(state)
        machine = self.found.machine
        made = World.made_of(t for each in (machine, *machine.abstracts) for t in each.types)
        kept = dataclasses.replace(
            self.found.world, enums=made.enums, records=made.records, sorts=made.sorts
        )
        self.found = dataclasses.replace(self.found, world=kept)

    def __call__(self, mutant: Mutant) -> Judgement:
        """What becomes of the mutant: exploration is asked first, then proof."""
        machine = mutant.made()
        undone = unfounded(machine) - self.unfounded
        if undone:
            read = sorted(f"{expr(each.of)} as {each.type}" for _, each in undone)
            return Judgement("no machine", f"it reads {read[0]}, and no test before says that")
        if unset := _unset(machine):
            return Judgement("no machine", unset)
        try:
            result = self._explored(machine, self.limits)
            verdicts = self._confirmed(machine, result)
        except (DeclarationError, Unsupported, ValueError) as error:
            return Judgement("no machine", str(error).partition("\n")[0])
        outcome, by = self._compared(result, verdicts)
        if outcome != "noticed" and self.proving:
            lost = sorted(self.proved - self._proved(machine, _happening(result)))
            if lost:
                outcome, by = "noticed", f"prove {lost[0]}"
        return Judgement(outcome, by, result.engine, result.not_generated)

    def _compared(
        self, result: CheckResult, verdicts: Mapping[str, Verdict]
    ) -> tuple[Outcome, str]:
        weaker = ""
        for name, own in self.own.items():
            differs = _differs(own, verdicts[name])
            if differs:
                return "noticed", f"check {name}"
            if differs is None and not weaker:
                weaker = f"{name}: {verdicts[name].value}, not {own.value}"
        if weaker:
            return "undecided", weaker
        lost = sorted(self.happening - _happening(result))
        return ("noticed", f"coverage {lost[0]}") if lost else ("survived", "")

    def _explored(self, machine: ir.Machine, limits: Limits) -> CheckResult:
        flat = lower(machine, self.scope, self.abstracts)
        return explore(flat, self.found.world, {}, limits=limits)

    def _confirmed(self, machine: ir.Machine, result: CheckResult) -> dict[str, Verdict]:
        """The verdicts by property; unknown where only the scope's types have the trace."""
        verdicts = {p.name: p.verdict for p in result.properties}
        if FAILING.isdisjoint(verdicts.values()):
            return verdicts
        found = dataclasses.replace(self.found, machine=machine)
        whole = UnscopedMachine(found, self.scope, self.abstracts)
        return {
            p.name: p.verdict if confirmed(whole, p) else Verdict.UNKNOWN for p in result.properties
        }

    def _proved(self, machine: ir.Machine, happening: frozenset[str]) -> frozenset[str]:
        """The properties that induction proves, with the sizes of the scope's sorts and lists;
        `happening` are the transitions that are known to happen."""
        sizes = {key: n for key, n in self.scope.bounds.items() if type(n) is int}
        try:
            result = prove(
                machine, sizes=sizes, how=How("induction"), transitions_seen=lambda: happening
            )
        except (Unsupported, ValueError):
            return frozenset()
        return frozenset(p.name for p in result.properties if p.verdict.good)


def _differs(own: Verdict, other: Verdict) -> bool | None:
    """Whether two verdicts contradict each other; None where one is too weak to tell."""
    if own is other or {own, other} <= HOLDING:
        weaker = own is Verdict.HOLDS and other is Verdict.HOLDS_WITHIN_SCOPE
        return None if weaker else False
    return True if {own, other} <= HOLDING | FAILING else None


def _happening(result: CheckResult) -> frozenset[str]:
    return frozenset(name for name, row in result.transitions.items() if row["enabled"])


def _unset(machine: ir.Machine) -> str:
    """What has no value where the mutant, or a part of it, starts; empty where all have one."""
    problems = Problems()
    for each in (machine, *machine.parts):
        note_partial_starts(each, problems)
    return problems.found[0].found if problems.found else ""
