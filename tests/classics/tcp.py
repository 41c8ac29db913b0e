"""Two TCP peers: the states of a connection, without data.

Source: RFC 9293, figure 5; as in tlaplus/Examples, specifications/tcp/tcp.tla (M. Kuppe), whose
manifest has the figures of MCtcp: one peer has opened actively, the other listens, and neither
opens again. There an action constraint discards the steps that open; here `opens` leaves its range.
"""

from enum import Enum

from lawful import (
    Fairness,
    Machine,
    Nat,
    Scope,
    Sort,
    State,
    Weak,
    constraint,
    initial,
    invariant,
    leads_to,
    reachable,
    require,
    total,
    transition,
)

COUNTS = (1182, 6322, 14)


class Peer(Sort):
    """Two of them."""


class Conn(State):
    """States of a connection."""

    CLOSED = "CLOSED"
    LISTEN = "LISTEN"
    SYN_SENT = "SYN-SENT"
    SYN_RECEIVED = "SYN-RECEIVED"
    ESTABLISHED = "ESTABLISHED"
    FIN_WAIT_1 = "FIN-WAIT-1"
    FIN_WAIT_2 = "FIN-WAIT-2"
    CLOSING = "CLOSING"
    CLOSE_WAIT = "CLOSE-WAIT"
    LAST_ACK = "LAST-ACK"
    TIME_WAIT = "TIME-WAIT"


class Segment(Enum):
    """What is on the wire."""

    SYN = "SYN"
    SYN_ACK = "SYN,ACK"
    ACK = "ACK"
    RST = "RST"
    FIN = "FIN"
    ACK_OF_FIN = "ACKofFIN"


class Tcp(Machine):
    """Each peer has a FIFO channel of segments to it; a TCB exists while the connection does."""

    conn: dict[Peer, Conn]
    tcb: dict[Peer, bool] = total(True)
    wire: dict[Peer, list[Segment]] = total([])
    opens: Nat = 0

    @initial
    def opened(self, active: Peer) -> None:
        """MCInit."""
        self.conn = {p: Conn.SYN_SENT if p == active else Conn.LISTEN for p in Peer}
        for p in Peer:
            if p != active:
                self.wire[p].append(Segment.SYN)

    # What the user does.

    @transition(source=Conn.CLOSED, target=Conn.LISTEN, of="conn[local]")
    def open_passively(self, local: Peer) -> None:
        """PASSIVE_OPEN."""
        self.opens += 1
        self.tcb[local] = True

    @transition(source=Conn.CLOSED, target=Conn.SYN_SENT, of="conn[local]")
    def open_actively(self, local: Peer, remote: Peer) -> None:
        """ACTIVE_OPEN."""
        require(local != remote, "to itself")
        self.opens += 1
        self.wire[remote].append(Segment.SYN)
        self.tcb[local] = True

    @transition(source=Conn.LISTEN, target=Conn.SYN_SENT, of="conn[local]")
    def send(self, local: Peer, remote: Peer) -> None:
        """SEND."""
        require(local != remote, "to itself")
        self.opens += 1
        self.wire[remote].append(Segment.SYN)

    @transition(source=Conn.SYN_SENT, target=Conn.CLOSED, of="conn[local]")
    def give_up(self, local: Peer) -> None:
        """CLOSE_SYN_SENT."""
        self.tcb[local] = False

    @transition(source=Conn.LISTEN, target=Conn.CLOSED, of="conn[local]")
    def close_unopened(self, local: Peer) -> None:
        """CLOSE_LISTEN."""
        self.tcb[local] = False

    @transition(
        source=(Conn.SYN_RECEIVED, Conn.ESTABLISHED), target=Conn.FIN_WAIT_1, of="conn[local]"
    )
    def close(self, local: Peer, remote: Peer) -> None:
        """CLOSE_SYN_RECEIVED, CLOSE_ESTABLISHED."""
        require(local != remote, "to itself")
        self.wire[remote].append(Segment.FIN)

    @transition(source=Conn.CLOSE_WAIT, target=Conn.LAST_ACK, of="conn[local]")
    def close_too(self, local: Peer, remote: Peer) -> None:
        """CLOSE_CLOSE_WAIT."""
        require(local != remote, "to itself")
        self.wire[remote].append(Segment.FIN)

    # What a segment does.

    def take(self, local: Peer, segment: Segment) -> None:
        """The next segment on the wire is this one; it is read."""
        require(len(self.wire[local]) > 0, "nothing on the wire")
        require(self.wire[local][0] == segment, "another segment is next")
        self.wire[local].pop(0)

    def answer(self, local: Peer, remote: Peer, segment: Segment) -> None:
        require(local != remote, "to itself")
        self.wire[remote].append(segment)

    @transition(source=(Conn.SYN_SENT, Conn.LISTEN), target=Conn.SYN_RECEIVED, of="conn[local]")
    def hear_syn(self, local: Peer, remote: Peer) -> None:
        """SynSent, its first disjunct; Listen."""
        self.take(local, Segment.SYN)
        self.answer(local, remote, Segment.SYN_ACK)

    @transition(source=Conn.SYN_SENT, target=Conn.ESTABLISHED, of="conn[local]")
    def hear_syn_ack(self, local: Peer, remote: Peer) -> None:
        """SynSent, its second disjunct."""
        self.take(local, Segment.SYN_ACK)
        self.answer(local, remote, Segment.ACK)

    @transition(source=Conn.SYN_RECEIVED, target=Conn.LISTEN, of="conn[local]")
    def go_back(self, local: Peer) -> None:
        """SynReceived, its first disjunct."""
        self.take(local, Segment.RST)

    @transition(source=Conn.SYN_RECEIVED, target=Conn.ESTABLISHED, of="conn[local]")
    def hear_ack(self, local: Peer) -> None:
        """SynReceived, its second disjunct."""
        self.take(local, Segment.ACK)

    @transition(source=Conn.ESTABLISHED, target=Conn.CLOSE_WAIT, of="conn[local]")
    def hear_fin(self, local: Peer, remote: Peer) -> None:
        """Established."""
        self.take(local, Segment.FIN)
        self.answer(local, remote, Segment.ACK_OF_FIN)

    @transition(source=Conn.FIN_WAIT_1, target=Conn.CLOSING, of="conn[local]")
    def both_close(self, local: Peer, remote: Peer) -> None:
        """FinWait1, its first disjunct."""
        self.take(local, Segment.FIN)
        self.answer(local, remote, Segment.ACK_OF_FIN)

    @transition(source=Conn.FIN_WAIT_1, target=Conn.FIN_WAIT_2, of="conn[local]")
    def half_closed(self, local: Peer) -> None:
        """FinWait1, its second disjunct."""
        self.take(local, Segment.ACK_OF_FIN)

    @transition(source=Conn.FIN_WAIT_2, target=Conn.TIME_WAIT, of="conn[local]")
    def other_closes(self, local: Peer, remote: Peer) -> None:
        """FinWait2."""
        self.take(local, Segment.FIN)
        self.answer(local, remote, Segment.ACK_OF_FIN)

    @transition(source=Conn.CLOSING, target=Conn.TIME_WAIT, of="conn[local]")
    def closed_both(self, local: Peer) -> None:
        """Closing."""
        self.take(local, Segment.ACK_OF_FIN)

    @transition(source=Conn.LAST_ACK, target=Conn.CLOSED, of="conn[local]")
    def closed_last(self, local: Peer) -> None:
        """LastAck."""
        self.take(local, Segment.ACK_OF_FIN)

    @transition(source=Conn.TIME_WAIT, target=Conn.CLOSED, of="conn[local]")
    def forget(self, local: Peer) -> None:
        """TimeWait."""
        require(self.tcb[local], "there is no TCB")
        self.tcb[local] = False

    @transition(source=Conn.FIN_WAIT_1, target=Conn.TIME_WAIT, of="conn[local]")
    def closed_at_once(self, local: Peer, remote: Peer) -> None:
        """Note2: the FIN of the other and the acknowledgement of one's own, together."""
        self.take(local, Segment.FIN)
        self.take(local, Segment.ACK_OF_FIN)
        self.answer(local, remote, Segment.ACK_OF_FIN)

    # Note 3 of the figure.

    @transition(target=Conn.TIME_WAIT, of="conn[local]")
    def reset(self, local: Peer, remote: Peer) -> None:
        require(self.tcb[local], "there is no TCB")
        self.answer(local, remote, Segment.RST)

    @transition(target=Conn.LISTEN, of="conn[local]")
    def reset_to_listen(self, local: Peer) -> None:
        self.take(local, Segment.RST)

    @transition(target=Conn.CLOSED, of="conn[local]")
    def reset_to_closed(self, local: Peer) -> None:
        self.take(local, Segment.RST)

    @invariant
    def established_together(self, a: Peer, b: Peer) -> bool:
        """Inv: with nothing on the wire, both are established or none is."""
        quiet = len(self.wire[a]) == 0 and len(self.wire[b]) == 0
        same = (self.conn[a] == Conn.ESTABLISHED) == (self.conn[b] == Conn.ESTABLISHED)
        return not quiet or same

    @constraint
    def no_retransmission(self, p: Peer) -> bool:
        """NoRetransmission: no segment stands behind its like."""
        wire = self.wire[p]
        return all(wire[i] != wire[i + 1] for i in range(len(wire) - 1))

    @reachable
    def established(self) -> bool:
        return all(self.conn[p] == Conn.ESTABLISHED for p in Peer)

    @reachable
    def closed(self) -> bool:
        return all(self.conn[p] == Conn.CLOSED for p in Peer)

    @leads_to
    def is_not_left_calling(self, p: Peer) -> tuple[bool, bool]:
        """Prop."""
        settled = self.conn[p] in (Conn.ESTABLISHED, Conn.LISTEN, Conn.CLOSED)
        return self.conn[p] == Conn.SYN_SENT, settled

    fairness = Fairness(
        Weak(
            "hear_syn",
            "hear_syn_ack",
            "go_back",
            "hear_ack",
            "hear_fin",
            "both_close",
            "half_closed",
            "other_closes",
            "closed_both",
            "closed_last",
            "forget",
            "closed_at_once",
            each=(),
        ),
        Weak("give_up", each=()),
    )
    scope = Scope(Peer=2, wire=6, opens=range(0, 1))
    deadlock_ok = True
