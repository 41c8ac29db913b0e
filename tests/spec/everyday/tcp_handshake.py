from typing import Annotated, NamedTuple

from annotated_types import MaxLen

from lawful import Machine, Nat, Scope, State, invariant, require, transition


class Segment(NamedTuple):
    syn: bool
    ack: bool
    fin: bool
    seq: Nat
    acknowledges: Nat = 0


class Tcp(State):
    CLOSED = "closed"
    LISTEN = "listen"
    SYN_SENT = "syn sent"
    SYN_RECEIVED = "syn received"
    ESTABLISHED = "established"
    FIN_WAIT = "fin wait"
    TIME_WAIT = "time wait"


class Handshake(Machine):
    state: Tcp = Tcp.CLOSED
    sent: Nat = 0
    received: Nat = 0
    out: Annotated[list[Segment], MaxLen(2)] = []
    retries: Nat = 0

    def _emit(self, syn: bool = False, ack: bool = False, fin: bool = False) -> None:
        if len(self.out) == 2:
            self.out.pop(0)
        self.out.append(Segment(syn, ack, fin, self.sent, self.received if ack else 0))

    @transition(source=Tcp.CLOSED, target=Tcp.LISTEN)
    def listen(self) -> None: ...

    @transition(source=Tcp.CLOSED, target=Tcp.SYN_SENT)
    def connect(self) -> None:
        self._emit(syn=True)
        self.sent = 1

    @transition(source=[Tcp.LISTEN, Tcp.SYN_SENT, Tcp.SYN_RECEIVED, Tcp.ESTABLISHED, Tcp.FIN_WAIT])
    def receive(self, segment: Segment) -> None:
        require(segment.seq >= self.received, f"old segment {segment.seq}")
        match (self.state, segment):
            case (Tcp.LISTEN, Segment(syn=True, ack=False, seq=n)):
                self.received = min(n + 1, 2)
                self._emit(syn=True, ack=True)
                self.state = Tcp.SYN_RECEIVED
            case (Tcp.SYN_SENT, Segment(syn=True, ack=True)):
                self._emit(ack=True)
                self.state = Tcp.ESTABLISHED
            case (Tcp.SYN_RECEIVED, Segment(ack=True)) if segment.acknowledges >= self.sent:
                self.state = Tcp.ESTABLISHED
            case (Tcp.ESTABLISHED | Tcp.FIN_WAIT, Segment(fin=True)):
                self._emit(ack=True)
                self.state = Tcp.TIME_WAIT
            case _:
                pass

    @transition(source=Tcp.ESTABLISHED, target=Tcp.FIN_WAIT)
    def close(self) -> None:
        self._emit(fin=True)

    @transition(source=[Tcp.SYN_SENT, Tcp.FIN_WAIT])
    def retransmit(self) -> None:
        if self.retries >= 2:
            self.state = Tcp.CLOSED
            self.retries = 0
            return
        self.retries += 1
        last = self.out[-1] if self.out else None
        if last is not None and last.syn:
            self._emit(syn=True)

    @transition(source=Tcp.TIME_WAIT, target=Tcp.CLOSED)
    def expire(self) -> None:
        self.sent = self.received = self.retries = 0
        self.out.clear()

    @property
    def unacknowledged(self) -> int:
        return sum(1 for s in self.out if s.syn or s.fin)

    @invariant
    def bounded(self) -> bool:
        return self.unacknowledged <= 2

    scope = Scope(Nat=range(0, 3))
