"""Reliable unicast, composed: what A's application is told of the messages of a connection.

Source: `unicast3.txt` says nothing of it: an entry is removed, whatever it contains [seed:135-137]
(U30, U-B1). When the repaired sender gives up, it reports which messages B has delivered, those
that an ack covers, and which are in doubt. B has delivered the first few of these, or none: the ack
that would tell is late or lost, or copies are still under way. A does not know more, because it
sends each message at once when it is submitted.

The properties compare three things that are observed: what was submitted, what was delivered, and
what was reported. Ghosts note which messages an ack covered that A received.

Abstractions: those of `system.py`.
"""

from lawful import Expect, Ghost, invariant, reachable, transition

from .declaration import Conn, SenderEntry, SenderEntryFixed
from .link import Id
from .messages import Ack, Close, Dropped
from .system import LinkFixed


class LinkReporting(LinkFixed):
    """A link whose reports are compared with what was submitted and delivered."""

    acknowledged: Ghost[set[Id]] = set()
    confirmed: Ghost[set[Id]] = set()

    @transition()
    def receive_ack(self, m: Ack) -> None:
        """An ack of a connection that A has removed comes too late for its report."""
        super().receive_ack(m)
        if self.sender.state != Conn.CLOSED and m.conn == self.sender.conn:
            self.acknowledged |= self.up_to(m.conn, m.seqno)

    @transition()
    def give_up(self) -> None:
        """What is reported is what the entry returned, and nothing else."""
        dropped = self.sender.give_up()
        self.put(Close(dropped.conn))
        self.reported |= {(m.conn, m.seqno) for m in dropped.in_doubt}
        self.confirmed |= self.up_to(dropped.conn, dropped.acked)

    def up_to(self, conn: int, seqno: int) -> set[Id]:
        return {p for p in self.submitted if p[0] == conn and p[1] <= seqno}

    def is_over(self, p: Id) -> bool:
        """Whether A has removed the connection of this message."""
        return p[0] < self.sender.conn or self.sender.state == Conn.CLOSED

    @invariant
    def delivered_as_reported(self) -> bool:
        """What A reports as delivered, B has delivered (U3, U5)."""
        return all(p in self.delivered for p in self.confirmed)

    @invariant
    def in_doubt_is_what_is_not_acknowledged(self) -> bool:
        """When a connection is over, A's application knows of each message that B has it, or it is
        told that the message is in doubt, never both (U3, U5, U-B1)."""
        return all(
            (p in self.reported) == (self.is_over(p) and p not in self.acknowledged)
            for p in self.submitted
        )

    @invariant
    def reports_are_whole(self) -> bool:
        """A report names each message of its connection: as delivered, or as in doubt."""
        return all(
            p in self.confirmed or p in self.reported
            for p in self.submitted
            if any(q[0] == p[0] for q in self.reported)
        )

    @invariant
    def the_first_few_are_delivered(self) -> bool:
        """B delivers no message in doubt after one that it has not delivered (U10)."""
        return all(
            p in self.delivered
            for p in self.reported
            if any(q[0] == p[0] and q[1] > p[1] for q in self.delivered)
        )

    @reachable
    def delivered_though_in_doubt(self) -> bool:
        return any(p in self.delivered for p in self.reported)

    @reachable
    def one_is_known_and_one_in_doubt(self) -> bool:
        return self.confirmed != set() and self.reported != set()

    @reachable
    def in_doubt_and_lost(self) -> bool:
        """No copy is left that B could deliver."""
        return self.reported != set() and self.delivered == [] and len(self.network) == 0


class SenderEntryBoasting(SenderEntryFixed):
    """It takes what was sent for delivered: only the last message is in doubt."""

    @transition(source=Conn.CLOSING, target=Conn.CLOSED)
    def give_up(self) -> Dropped:
        last = self.highest_sent
        dropped = super().give_up()
        return Dropped(
            dropped.conn, last - 1, frozenset(m for m in dropped.in_doubt if m.seqno == last)
        )


class LinkBoasting(LinkReporting):
    """A's application believes that B has a message that was lost."""

    sender: SenderEntry = SenderEntryBoasting()

    expects = Expect(
        delivered_as_reported=("violated", 4),
        in_doubt_is_what_is_not_acknowledged=("violated", 4),
        kept_until_delivered=("violated", 4),
        no_loss=("violated", 5),
        settled=("violated", 5),
        sent_is_delivered=("violated", 9),
        sent_is_purged=("violated", 9),
    )
