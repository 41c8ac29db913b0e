"""Headers that do not fit."""

from lawful import Machine, Nat, State, Timer, event, transition


class Conn(State):
    OPEN = "open"
    CLOSED = "closed"


class Mode(State):
    FAST = "fast"
    SLOW = "slow"


class Peer(Machine):
    state: Conn = Conn.OPEN
    sent: Nat = 0
    idle: Timer = Timer()
    peers: dict[Mode, Conn] = {}

    @transition(source=Mode.FAST)
    def hurry(self) -> None: ...

    @transition(source=Conn.OPEN, target=Conn.CLOSED)
    def close(self) -> None:
        self.state = Conn.OPEN

    @transition(source=Conn.OPEN, of="peers[peer]")
    def shut(self, peer: Mode) -> None:
        self.peers[peer] = Conn.CLOSED

    @transition(timer="sent")
    def expire(self) -> None: ...

    @transition(source=Conn.OPEN, of="sent")
    def family(self) -> None: ...

    @event
    def ack(self, seqno: Nat) -> None: ...

    @transition(event="ack")
    def late(self, number: Nat) -> None: ...

    @transition(source=Conn.OPEN, timer="idle")
    def rest(self) -> None: ...


class Stateless(Peer):
    @transition(source=Conn.OPEN, timer="idle")
    def rest(self) -> None:
        super().rest()
