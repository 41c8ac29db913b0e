"""Two-phase commit implements transaction commit, as TwoPhase.tla has it: TPSpec => TC!TCSpec."""

from lawful import Expect, refines, transition
from tests.classics.commit import RM, Decision, TCommit
from tests.classics.two_phase import Abort, Commit, Manager, Resource, TwoPhase


class Implements(TwoPhase):
    """Two-phase commit, seen as what its resource managers have decided."""

    @refines(TCommit)
    def implements(self) -> TCommit:
        return TCommit.lawful.state(rms={rm: self.decision(rm) for rm in RM})

    def decision(self, rm: RM) -> Decision:
        if self.rms[rm] == Resource.WORKING:
            return Decision.WORKING
        if self.rms[rm] == Resource.PREPARED:
            return Decision.PREPARED
        return Decision.COMMITTED if self.rms[rm] == Resource.COMMITTED else Decision.ABORTED


class Hasty(Implements):
    """The transaction manager commits before it has heard from all."""

    @transition(source=Manager.INIT, target=Manager.COMMITTED)
    def commit(self) -> None:
        self.messages.add(Commit())

    expects = Expect(
        implements=("violated", 2), consistent=("violated", 3), decided_for_good=("violated", 3)
    )


class Changeable(Implements):
    """The transaction manager still aborts after it has committed."""

    @transition(source=(Manager.INIT, Manager.COMMITTED), target=Manager.ABORTED)
    def abort(self) -> None:
        self.messages.add(Abort())

    expects = Expect(
        implements=("violated", 10),
        consistent=("violated", 10),
        decided_for_good=("violated", 10),
    )
