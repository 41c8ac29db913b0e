"""Mistakes that type checkers find in declarations and their callers."""

from lawful import Machine, Nat, Record, Scope, State, Timer, ignore, needed, require, transition


class Conn(State):
    OPEN = "open"


class Ack(Record):
    seqno: Nat


class Sender(Machine):
    state: Conn = Conn.OPEN
    sent: Nat = ""  # error
    owner: Nat | None = None
    idle: Timer = Timer()

    @transition(source=3)  # error
    def send(self) -> Nat:
        return "x"  # error

    @transition(source=Conn.OPEN)
    def ack(self, m: Ack) -> None:
        require("sent")  # error
        self.sent = m.number  # error
        self.sent = needed(self.owner)  # error
        self.idle.start("soon")  # error
        m.seqno = 3  # error

    late = ignore("ack", source=Conn.OPEN)  # error
    scope = Scope(3)  # error


entry = Sender()
entry.ack(3)  # error
entry.close()  # error
number: str = entry.send()  # error
Ack("x")  # error
Ack(1).replace(1)  # error
