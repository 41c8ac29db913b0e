"""A service under systemd; the journal tells its state after each message."""

from lawful import Machine, Nat, Param, State, require, terminal, transition


class Phase(State):
    INACTIVE = "inactive"
    ACTIVATING = "activating"
    ACTIVE = "active"
    FAILED = "failed"


class Unit(Machine):
    state: Phase = Phase.INACTIVE
    restarts: Nat = 0
    burst: Param[Nat] = 2

    @transition(source=(Phase.INACTIVE, Phase.FAILED), target=Phase.ACTIVATING)
    def start(self) -> None:
        require(self.restarts <= self.burst, "start request repeated too quickly")

    @transition(source=Phase.ACTIVATING, target=Phase.ACTIVE)
    def started(self) -> None: ...

    @transition(source=(Phase.ACTIVE, Phase.ACTIVATING), target=Phase.FAILED)
    def fail(self) -> None:
        self.restarts += 1

    @transition(source=Phase.ACTIVE, target=Phase.INACTIVE)
    def stop(self) -> None:
        self.restarts = 0

    @terminal
    def rests(self) -> bool:
        return self.state in (Phase.INACTIVE, Phase.ACTIVE)
