"""Transaction commit: what two-phase commit has to implement.

Source: tlaplus/Examples, specifications/transaction_commit/TCommit.tla (J. Gray and L. Lamport,
"Consensus on transaction commit", 2006); the figures are in the manifest beside it. The
configuration was not read: with three resource managers they come out. The machine says which
decisions are right, and nothing of how they are reached.
"""

from lawful import (
    Machine,
    Scope,
    Sort,
    State,
    invariant,
    reachable,
    require,
    step_property,
    terminal,
    total,
    transition,
)

COUNTS = (34, 94, 7)


class RM(Sort):
    """Resource managers."""


class Decision(State):
    """States of a resource manager."""

    WORKING = "working"
    PREPARED = "prepared"
    COMMITTED = "committed"
    ABORTED = "aborted"


class TCommit(Machine):
    """All commit, or all abort."""

    rms: dict[RM, Decision] = total(Decision.WORKING)

    @transition(source=Decision.WORKING, target=Decision.PREPARED, of="rms[rm]")
    def prepare(self, rm: RM) -> None:
        """Prepare."""

    @transition(source=Decision.PREPARED, target=Decision.COMMITTED, of="rms[rm]")
    def commit(self, rm: RM) -> None:
        """Decide, the first disjunct."""
        require(self.can_commit(), "somebody may still abort")

    @transition(source=(Decision.WORKING, Decision.PREPARED), target=Decision.ABORTED, of="rms[rm]")
    def abort(self, rm: RM) -> None:
        """Decide, the second disjunct."""
        require(self.not_committed(), "somebody has committed")

    def can_commit(self) -> bool:
        return all(self.rms[rm] in (Decision.PREPARED, Decision.COMMITTED) for rm in RM)

    def not_committed(self) -> bool:
        return all(self.rms[rm] != Decision.COMMITTED for rm in RM)

    @invariant
    def consistent(self, a: RM, b: RM) -> bool:
        """TCConsistent."""
        return not (self.rms[a] == Decision.ABORTED and self.rms[b] == Decision.COMMITTED)

    @step_property
    def decided_for_good(self, after: "TCommit", rm: RM) -> bool:
        decided = self.rms[rm] in (Decision.COMMITTED, Decision.ABORTED)
        return not decided or after.rms[rm] == self.rms[rm]

    @reachable
    def all_committed(self) -> bool:
        return all(self.rms[rm] == Decision.COMMITTED for rm in RM)

    @reachable
    def aborted_though_all_prepared(self, rm: RM) -> bool:
        others = all(self.rms[other] == Decision.PREPARED for other in RM if other != rm)
        return others and self.rms[rm] == Decision.ABORTED

    @terminal
    def all_decided(self) -> bool:
        """The configuration there switches the search for deadlocks off."""
        return all(self.rms[rm] in (Decision.COMMITTED, Decision.ABORTED) for rm in RM)

    scope = Scope(RM=3)
