"""Reliable unicast, composed: a receiver that crashes, and forgets what it delivered.

Source: `unicast3.txt` keeps the receiver's entry in memory [seed:113-126] and does not mention a
crash. B's next life knows no connection. A copy of the first message, late, begins a window there
that waits for messages which B acknowledged in its former life, and which A has purged. B requests
them for ever, and everything that A sends afterwards waits behind them (U-B11).

The repair needs nothing new on the wire. All messages before one that is marked as first
are acknowledged: A marks only its first unacknowledged message. So B, if it is marked, goes on with
it, also within a connection; and A, if it is asked for what it has purged, sends it.

What is promised: everything is delivered in one life of B or another, acks are true, and each life
delivers in order and at most once. It is not promised that two lives deliver different messages: B
may crash after it has delivered and before its ack arrives, and the document has no handshake that
would tell A of B's lives.

Abstractions, beside those of `system.py`: B crashes once, at any moment, and A never gives up.
"""

from lawful import Expect, Ghost, Scope, drop, invariant, reachable, require, transition

from .declaration import Conn, ReceiverEntryFixed, SenderEntry, SenderEntryFixed
from .link import Id
from .messages import Ack
from .system import FairLink


class ReceiverReset(ReceiverEntryFixed):
    """Without its memory it knows no connection, as at the beginning."""

    another_life = drop("never_goes_back")

    @transition(target=Conn.CLOSED)
    def crash(self) -> None:
        self.leave()
        self.conn = 0
        self.next = 1
        self.highest = 0


class LinkOfLives(FairLink, abstract=True):
    """B crashes once."""

    sender: SenderEntry
    receiver: ReceiverReset = (  # pyright: ignore[reportIncompatibleVariableOverride]  # is not set
        ReceiverReset()
    )
    crashed: bool = False
    before: Ghost[set[Id]] = set()

    @transition()
    def crash(self) -> None:
        """`delivered` has what this life of B delivers, `before` what the former one did."""
        require(not self.crashed, "it has crashed")
        self.crashed = True
        for p in self.delivered:
            self.before.add(p)
        self.delivered.clear()
        self.receiver.crash()

    def is_delivered(self, p: Id) -> bool:
        return p in self.delivered or p in self.before

    @invariant
    def acks_are_true(self) -> bool:
        """An ack covers only what was delivered, by any life of B (U11)."""
        return all(
            self.is_delivered(p)
            for m in self.network
            if isinstance(m, Ack)
            for p in self.submitted
            if p[0] == m.conn and p[1] <= m.seqno
        )

    @reachable
    def waits_for_what_is_purged(self) -> bool:
        """A late copy makes B wait in vain, until A tells it where to go on (U-B11)."""
        return (
            self.sender.conn == self.receiver.conn
            and self.receiver.next <= self.sender.highest_acked
            and self.receiver.next < self.receiver.highest
        )

    @reachable
    def delivers_in_both_lives(self) -> bool:
        return len(self.before) > 0 and len(self.delivered) > 0

    scope = Scope(
        Nat=range(0, 5),
        Payload=1,
        network=2,
        submitted=3,
        delivered=3,
        messages=(3,),
        failures=(0,),
    )


class SenderEntryUnaware(SenderEntry):
    """Answers requests with what it still keeps, and nothing else [seed:67-69]."""


class LinkDeaf(LinkOfLives):
    """A does not answer requests for what it has purged, and B waits for ever (U-B11)."""

    sender: SenderEntry = SenderEntryUnaware()

    expects = Expect(
        purged_is_not_awaited=("violated", 9),
        settled=("violated", 12),
        sent_is_delivered=("violated", 19),
        sent_is_purged=("violated", 19),
        gaps_are_filled=("violated", 19),
        idle_is_removed=("violated", 19),
        silence_follows=("violated", 19),
    )


class LinkCrashing(LinkOfLives):
    """What `Link` promises holds in each life of B, and everything arrives."""

    sender: SenderEntry = SenderEntryFixed()

    may_wait = drop("purged_is_not_awaited")
