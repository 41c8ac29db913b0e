"""Variables without a value to begin with."""

from lawful import Machine, Nat, Record, State


class Conn(State):
    OPEN = "open"


class Ack(Record):
    seqno: Nat


class Peer(Machine):
    state: Conn
    sent: Nat
    seen: set[Nat]
    last: Ack | None
    first: Ack
