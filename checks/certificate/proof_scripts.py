"""The obligations of an induction as scripts in SMT-LIB, which any solver can answer."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from lawful.spec.lower import Sized
from lawful.spec.quick_dataclass import dataclass

from ..prove import timer_invariants
from ..prove.induction import Induction
from ..smt.solver.budget import Effort

OF_TIMERS = "of-timers"


@dataclass(frozen=True, slots=True)
class ProofScript:
    """One question, unsatisfiable if `obligation` (a start or a step) keeps `property`.

    `name` is the name of its file. The facts about timers that proofs assume are the property
    `of-timers`: the machine does not declare them.
    """

    name: str
    property: str
    obligation: str
    text: str


class ProofScripts:
    """The scripts of a machine. A property that is not `proved` is not assumed in them.

    `asked` are the properties that induction judges, proved or not.
    """

    def __init__(
        self, lowered: Sized, effort: Effort, workers: int, proved: Collection[str]
    ) -> None:
        self.lowered = lowered
        self.induction = Induction(lowered, effort, workers)
        rows = list(self.induction.questions())
        self.asked = frozenset(name for _, name in rows)
        self.induction.exact.dropped.update(name for _, name in rows if name not in proved)
        self.due = [row for row in rows if row[1] in proved]  # All that a proof of them rests on.

    def of(self, rows: Iterable[tuple[str, str]]) -> Iterator[ProofScript]:
        """The scripts of these obligations; nothing for one that has no encoding."""
        for obligation, property in rows:
            text = self.induction.script(obligation, property)
            if text is not None:
                yield self._script(obligation, property, f"keeps {property}", text)

    def of_timers(self) -> Iterator[ProofScript]:
        """The scripts of what is assumed of timers."""
        clauses = self.induction.timer_clauses
        for case, text in timer_invariants.scripts(self.lowered, clauses):
            yield self._script(case, OF_TIMERS, "keeps what is assumed of timers", text)

    def _script(self, obligation: str, property: str, says: str, text: str) -> ProofScript:
        machine = self.lowered.machine.name
        name = f"{machine}.{obligation.replace(' ', '-')}.{property}.smt2"
        about = f"; {machine}: {obligation} {says}\n"
        return ProofScript(name, property, obligation, about + text)
