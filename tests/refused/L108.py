"""Names that are reserved, and settings that are none."""

from lawful import Machine, Nat, transition


class Peer(Machine):
    lawful: Nat = 0
    deadlock_ok: bool = True
    scope = 5

    def __init__(self) -> None:
        self.lawful = 1

    @transition()
    def _send(self) -> None: ...

    @transition(event="lawful")
    def receive(self) -> None: ...

    @transition(event="_reset")
    def reset(self) -> None: ...

    @transition(event="class")
    def enrol(self) -> None: ...

    @transition(event="to send")
    def post(self) -> None: ...
