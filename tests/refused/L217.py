"""Names in settings that nothing has."""

from lawful import Expect, Fairness, Machine, Nat, Scope, Weak, drop, ignore, invariant, transition


class Base(Machine):
    sent: Nat = 0

    @transition()
    def send(self, count: Nat) -> None:
        self.sent += count

    @invariant
    def natural(self) -> bool:
        return self.sent >= 0


class Peer(Base):
    gone = drop("close")
    late = ignore("sent_", because="nobody listens")
    scope = Scope({"Nat": 2}, {"sent": 3})
    expects = Expect(naturl="violated", natural="broken")
    fairness = Fairness(Weak("sned"), Weak("send", each=("cuont",)))
