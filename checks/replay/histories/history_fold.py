"""The fold over the rows of a concurrent history: calls and returns become operations, and their
order is looked for when the last row has come."""

from __future__ import annotations

from dataclasses import replace

from ..deviations import Deviation, Inconclusive, Malformed, UnknownEvent
from ..fold import Fold
from ..problems import Finding
from ..program import ReplayProgram
from ..row_step import Stepper
from ..rows import Row
from ..unseen.tied_fold import TiedFold
from .history_table import CALL, FAILED, RETURN
from .linearizability import BUDGET, Linearization, Operation, Search


class HistoryFold(Fold):
    """Collects the operations of one instance, and judges whether they are linearizable."""

    def __init__(self, program: ReplayProgram, instance: str) -> None:
        super().__init__(program, instance)
        self.calls: dict[str, Row] = {}  # By process.
        self.operations: list[Operation] = []
        self.returns: dict[int, Row] = {}

    def _replay(self, stepper: Stepper, row: Row) -> None:
        try:
            if self.state is None:
                self._before(stepper, row)
            self._take(stepper, row)
        except UnknownEvent as error:
            self._unknown(row, error)
        except Malformed as error:
            self._unusable(row, error)
        except Deviation as error:
            self._deviates(stepper, self.state, row, error)
        except Inconclusive as error:
            self._inconclusive(row, str(error), self.state)

    def _take(self, stepper: Stepper, row: Row) -> None:
        call = self.calls.get(row.process)
        if row.phase == CALL:
            if call is not None:
                raise Malformed("a call of a process that has not returned from another")
            stepper.check(row)
            self.calls[row.process] = row
            return
        if call is None:
            raise Malformed("the end of a call that has no beginning")
        del self.calls[row.process]
        if row.phase == RETURN:
            self.returns[row.seq] = row
            done = replace(call, output=row.output, observed=row.observed)
            self.operations.append(Operation(done, call.seq, row.seq))
        elif row.phase != FAILED:
            self.operations.append(Operation(call, call.seq, None))

    def _ended(self) -> str:
        stepper = self.stepper
        if stepper is None or self.state is None or self.problems.found:
            return super()._ended()
        pending = [Operation(call, call.seq, None) for call in self.calls.values()]
        operations = [*self.operations, *pending]
        try:
            found = Search(stepper, operations, BUDGET).run(self.state)
        except (Inconclusive, Malformed) as error:
            self._inconclusive(Row(self.instance, self.next), str(error), self.state)
            return "inconclusive"
        self.judged = sum(each.ended is not None for each in operations)
        for _, taken in found.order:
            self.transitions[taken or ""] += taken is not None
        if found.complete:
            self.state = found.state
            return super()._ended()
        return self._explained(stepper, found)

    def _explained(self, stepper: Stepper, found: Linearization) -> str:
        """The finding of a history without an order, at the first return that no order reaches."""
        if found.stopped:
            what = f"no order was found among {found.looked:,} sets of calls"
            self._inconclusive(Row(self.instance, self.next), what, found.state)
            return "inconclusive"
        done = {operation.began for operation, _ in found.order}
        left = [each for each in self.operations if each.ended and each.began not in done]
        first = min(left, key=lambda each: each.ended or 0)
        row = replace(first.row, seq=first.ended or 0)
        total = sum(each.ended is not None for each in self.operations)
        reached = sum(each.ended is not None for each, _ in found.order)
        clause = (
            f"no order of the calls explains all outputs; the longest has {reached:,} of {total:,}"
        )
        self.counts["deviations"] += 1
        made = Finding("linearizability", row.seq, clause, row.event, verdict="deviates")
        self._add(made, row, found.state)
        return "deviates"


def instance_fold(program: ReplayProgram, instance: str) -> Fold:
    """The fold of an instance: of a history, or of events in an order, as far as it is known."""
    mapping = program.mapping
    history = mapping is not None and mapping.history is not None
    return (HistoryFold if history else TiedFold)(program, instance)
