"""Two-phase commit.

Source: tlaplus/Examples, specifications/transaction_commit/TwoPhase.tla (L. Lamport; J. Gray and
L. Lamport, "Consensus on transaction commit", 2006). As there, messages stay in the set for ever,
resource managers prepare of their own accord, and the one that decides to abort sends nothing.
"""

from lawful import (
    Machine,
    Record,
    Scope,
    State,
    invariant,
    reachable,
    require,
    step_property,
    total,
    transition,
)
from tests.classics.commit import RM

COUNTS = (288, 1146, 11)


class Resource(State):
    """States of a resource manager."""

    WORKING = "working"
    PREPARED = "prepared"
    COMMITTED = "committed"
    ABORTED = "aborted"


class Manager(State):
    """States of the transaction manager."""

    INIT = "init"
    COMMITTED = "committed"
    ABORTED = "aborted"


class Prepared(Record):
    """From a resource manager to the transaction manager."""

    rm: RM


class Commit(Record):
    """From the transaction manager to all."""


class Abort(Record):
    """From the transaction manager to all."""


Message = Prepared | Commit | Abort


class TwoPhase(Machine):
    """The transaction manager commits once it has heard from all; it may abort until then."""

    state: Manager = Manager.INIT
    rms: dict[RM, Resource] = total(Resource.WORKING)
    heard: set[RM] = set()
    messages: set[Message] = set()

    @transition(source=Manager.INIT)
    def hear_prepared(self, rm: RM) -> None:
        """TMRcvPrepared."""
        require(Prepared(rm) in self.messages, "no such message")
        self.heard.add(rm)

    @transition(source=Manager.INIT, target=Manager.COMMITTED)
    def commit(self) -> None:
        """TMCommit."""
        require(all(rm in self.heard for rm in RM), "not all have prepared")
        self.messages.add(Commit())

    @transition(source=Manager.INIT, target=Manager.ABORTED)
    def abort(self) -> None:
        """TMAbort."""
        self.messages.add(Abort())

    @transition(source=Resource.WORKING, target=Resource.PREPARED, of="rms[rm]")
    def prepare(self, rm: RM) -> None:
        """RMPrepare."""
        self.messages.add(Prepared(rm))

    @transition(source=Resource.WORKING, target=Resource.ABORTED, of="rms[rm]")
    def choose_to_abort(self, rm: RM) -> None:
        """RMChooseToAbort."""

    @transition(target=Resource.COMMITTED, of="rms[rm]")
    def hear_commit(self, rm: RM) -> None:
        """RMRcvCommitMsg."""
        require(Commit() in self.messages, "no such message")

    @transition(target=Resource.ABORTED, of="rms[rm]")
    def hear_abort(self, rm: RM) -> None:
        """RMRcvAbortMsg."""
        require(Abort() in self.messages, "no such message")

    @invariant
    def consistent(self, a: RM, b: RM) -> bool:
        """TCConsistent: never one aborted and another committed."""
        return not (self.rms[a] == Resource.ABORTED and self.rms[b] == Resource.COMMITTED)

    @step_property
    def decided_for_good(self, after: "TwoPhase", rm: RM) -> bool:
        decided = self.rms[rm] in (Resource.COMMITTED, Resource.ABORTED)
        return not decided or after.rms[rm] == self.rms[rm]

    @reachable
    def all_committed(self) -> bool:
        return all(self.rms[rm] == Resource.COMMITTED for rm in RM)

    @reachable
    def aborted_though_all_prepared(self) -> bool:
        everyone = all(self.rms[rm] == Resource.PREPARED for rm in RM)
        return everyone and self.state == Manager.ABORTED

    scope = Scope(RM=3)
