"""An ignored event whose caller waits for an output."""

from lawful import Machine, Nat, State, ignore, transition


class Conn(State):
    OPEN = "open"
    CLOSED = "closed"


class Peer(Machine):
    state: Conn = Conn.OPEN
    sent: Nat = 0

    @transition(source=Conn.OPEN)
    def send(self) -> Nat:
        self.sent += 1
        return self.sent

    late = ignore("send", source=Conn.CLOSED, because="the connection is gone")
