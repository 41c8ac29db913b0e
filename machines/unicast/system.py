"""Reliable unicast, composed: A sends messages to B over a network that fails.

Source: `unicast3.txt`, as in `declaration.py`. The network loses, duplicates and reorders. It is a
bag: any message in it may be received, lost or duplicated next. Losses and duplicates have a budget
of `failures`, so that they end.

Abstractions. Messages go in one direction; nobody crashes (`restarts.py` and `crashes.py` have
that). A message is identified by the number
under which it was sent. Resending a message that is still under way adds no second copy, and only
data are duplicated: a second ack has no further effect. Messages in order are delivered in the same
step, as in the service. The retransmit task's first run after a change follows the change at
once: `resend` becomes possible earlier than in the service, never later. Timers run out
at any moment. A `close` by the application would do the same as `expire_sender`.

The properties state the purpose of the protocol: no message is lost without a report (U3, U5,
U-B1), delivered twice (U-B3) or delivered out of order (U10, U-B7), and acks are true (U11, U12).
With two messages no gap can arise, because a window begins with the first. So only `LinkBurst` and
the scope `three` exercise U8 and U16.
"""

from collections import Counter

from lawful import (
    Expect,
    Fairness,
    Scope,
    Strong,
    Weak,
    drop,
    eventually_always,
    implies,
    invariant,
    leads_to,
    reachable,
    require,
    step_property,
    transition,
)

from .as_seed import ReceiverEntryAsSeed, SenderEntryAsSeed
from .declaration import Conn, ReceiverEntry, ReceiverEntryFixed, SenderEntry, SenderEntryFixed
from .link import Id, Link
from .messages import Ack, Close, Data, Message, Payload, XmitReq


class FairLink(Link, abstract=True):
    """Fairness: a message that is resent again and again arrives, and every task and timer has its
    turn; a shorter timer runs out before a longer one. No condition forces A to give up, and no
    property relies on that."""

    @leads_to
    def sent_is_delivered(self) -> tuple[bool, bool]:
        """Each message is delivered or reported; none stays under way for ever (L1; U1, U3, U5)."""
        return not self.settled(), self.settled()

    @leads_to
    def sent_is_purged(self) -> tuple[bool, bool]:
        """An ack finally covers each message, so that A can purge it, or it is reported (L2;
        U6)."""
        done = self.settled() and self.sender.highest_acked == self.sender.highest_sent
        return not done, done

    @leads_to
    def gaps_are_filled(self) -> tuple[bool, bool]:
        """B gets each missing message, unless the connection ends (L3; U8, U16)."""
        gap = self.receiver.next <= self.receiver.highest
        return gap, not gap

    @eventually_always
    def idle_is_removed(self) -> bool:
        """When the application sends no more, both entries are removed (L4; U20)."""
        return self.sender.state == Conn.CLOSED and self.receiver.state == Conn.CLOSED

    @eventually_always
    def silence_follows(self) -> bool:
        """Finally no message is under way any more (L5)."""
        return self.network == Counter()

    @reachable
    def all_arrived(self) -> bool:
        return len(self.delivered) == 2 and self.sender.highest_acked == 2

    @reachable
    def first_is_missing(self) -> bool:
        """The receiver cannot begin with the messages that it has (U28)."""
        return self.receiver.state == Conn.CLOSED and self.receiver.sync_due > 0

    @reachable
    def receiver_is_reaped_and_sender_goes_on(self) -> bool:
        gone = self.receiver.state == Conn.CLOSED and len(self.delivered) == 1
        return gone and self.sender.state == Conn.OPEN and self.sender.highest_sent == 2

    @reachable
    def both_are_closing(self) -> bool:
        return self.sender.state == Conn.CLOSING and self.receiver.state == Conn.CLOSING

    @reachable
    def second_connection_replaces_first(self) -> bool:
        return self.receiver.state == Conn.OPEN and self.receiver.conn == 2

    @reachable
    def close_is_overtaken(self) -> bool:
        """The CLOSE of one connection arrives after data of the next."""
        return any(isinstance(m, Close) and m.conn < self.receiver.conn for m in self.network)

    fairness = Fairness(
        Strong("receive_data"),
        Strong("receive_ack"),
        Strong("receive_request"),
        Strong("receive_sync"),
        Strong("receive_close"),
        Weak("resend"),
        Strong("send_ack"),
        Strong("send_sync"),
        Strong("request_missing"),
        Weak("expire_sender"),
        Weak("remove_sender"),
        Weak("expire_receiver"),
        Weak("remove_receiver"),
    )


class LinkFixed(FairLink):
    """Both entries repaired: everything holds."""

    sender: SenderEntry = SenderEntryFixed()
    receiver: ReceiverEntry = ReceiverEntryFixed()

    @transition()
    def give_up(self) -> None:
        """A's application is told which messages are in doubt: those in the window, of which B may
        have delivered some."""
        conn, kept = self.sender.conn, frozenset(self.sender.window)
        dropped = self.sender.give_up()
        assert all(m.conn == conn and m.seqno in kept for m in dropped.in_doubt)
        self.put(Close(conn))
        self.reported |= {(conn, q) for q in kept}

    @step_property
    def closes_its_own_connection(self, after: "LinkFixed") -> bool:
        """A CLOSE of another connection closes nothing, whether it arrives or is lost (U25)."""
        other = any(
            isinstance(m, Close) and m.conn != self.receiver.conn and m not in after.network
            for m in self.network
        )
        return implies(other, after.receiver.state == self.receiver.state)

    @invariant
    def no_request_is_empty(self) -> bool:
        """B requests messages only if some are missing [seed:66-68] (U7, U16)."""
        return all(m.missing != frozenset() for m in self.network if isinstance(m, XmitReq))

    # The proofs lean on these.

    @invariant
    def connections_begin_at_the_sender(self) -> bool:
        """B knows only connections that A has begun, and acks only those that it knows. If B does
        not know A's connection, nothing of it was acked: it begins with the first message (U24,
        U26, U28)."""
        sent, known = self.sender.conn, self.receiver.conn
        data = {m for m in self.network if isinstance(m, Data)}
        return (
            known <= sent
            and all(m.conn <= sent and not self.is_late_first(m) for m in data)
            and all(m.conn <= known for m in self.network if isinstance(m, Ack))
            and (self.sender.highest_acked == 0 or sent == known)
        )

    def is_late_first(self, m: Data) -> bool:
        return m.first and m.seqno != 1 and m.conn > self.receiver.conn

    @invariant
    def marked_is_not_ahead(self) -> bool:
        """Before a message that is marked as first, B misses none: only after a crash of B does it
        go on there (U28, U-B11)."""
        return all(
            m.seqno <= self.receiver.next
            for m in self.network
            if isinstance(m, Data) and m.first and m.conn == self.receiver.conn
        )

    @invariant
    def submitted_in_order(self) -> bool:
        """Submitted messages are ordered by connection and number, up to A's last one (U10,
        U24)."""
        last = (self.sender.conn, self.sender.highest_sent)
        closed = self.sender.state == Conn.CLOSED
        return self.ascend(self.submitted) and all(
            p[1] > 0 and (p <= last or (closed and p[0] == last[0])) for p in self.submitted
        )

    def ascend(self, ids: list[Id]) -> bool:
        return all(ids[i] < ids[i + 1] for i in range(len(ids) - 1))

    @invariant
    def delivered_up_to_the_next(self) -> bool:
        """Deliveries are in order; of B's connection, all before `next` are delivered (U9, U10)."""
        conn, following = self.receiver.conn, self.receiver.next
        return (
            self.ascend(self.delivered)
            and all(p < (conn, following) for p in self.delivered)
            and all(
                p in self.delivered for p in self.submitted if (conn, 0) < p < (conn, following)
            )
        )

    @invariant
    def what_there_is_was_submitted(self) -> bool:
        return (
            all((m.conn, m.seqno) in self.submitted for m in self.network if isinstance(m, Data))
            and all((self.sender.conn, q) in self.submitted for q in self.sender.window)
            and all((self.receiver.conn, q) in self.submitted for q in self.receiver.buffer)
        )

    @invariant
    def delivered_was_submitted(self) -> bool:
        return all(p in self.submitted for p in self.delivered)

    @invariant
    def kept_until_delivered(self) -> bool:
        """A keeps each message until it is delivered or reported, whatever is under way (U3,
        U5)."""
        return all(
            p in self.delivered or p in self.reported or self.is_kept(p) for p in self.submitted
        )

    def is_kept(self, p: Id) -> bool:
        return p[0] == self.sender.conn and p[1] in self.sender.window

    @reachable
    def two_copies_are_under_way(self) -> bool:
        """The network has duplicated a message."""
        return any(self.network[m] > 1 for m in self.network)

    scope = Scope(Nat=range(0, 4), Payload=1, network=8, submitted=2, delivered=2)
    worse = Scope(failures=(2,))
    # With two messages B never misses one, and two of the transitions never happen.
    short = Scope(Nat=range(0, 5), messages=(3,), network=10, submitted=3, delivered=3)
    three = Scope(
        Nat=range(0, 5),
        messages=(3,),
        failures=(0,),
        network=10,
        submitted=3,
        delivered=3,
        expects=Expect(two_copies_are_under_way="violated"),
    )


class LinkLossy(LinkFixed):
    """Losses never end; but of a message that is resent again and again, not every copy is lost."""

    @transition()
    def lose(self, m: Message) -> None:
        self.take(m)

    scope = Scope(Nat=range(0, 4), Payload=1, network=8, submitted=2, delivered=2, failures=(0,))
    expects = Expect(two_copies_are_under_way="violated")


class LinkBurst(LinkLossy):
    """Three messages are sent at once, so that B may miss earlier ones (U8, U16)."""

    @transition()
    def submit(self, payload: Payload) -> None:
        require(self.submissions == 0, "everything is submitted")
        for _ in range(self.messages):
            super().submit(payload)

    @reachable
    def misses_some(self) -> bool:
        return self.receiver.next <= self.receiver.highest

    @reachable
    def all_arrived(self) -> bool:
        return len(self.delivered) == 3 and self.sender.highest_acked == 3

    one_connection = drop("second_connection_replaces_first")
    nothing_is_later = drop("close_is_overtaken")
    nothing_follows = drop("receiver_is_reaped_and_sender_goes_on")
    scope = Scope(
        Nat=range(0, 5),
        Payload=1,
        network=8,
        submitted=3,
        delivered=3,
        messages=(3,),
        failures=(0,),
    )


class LinkNarrow(LinkBurst):
    """B keeps only the next message: A sends more at once, and tells it where to go on (U28)."""

    receiver: ReceiverEntry = ReceiverEntryFixed(largest_window=1)

    nothing_is_missing = drop("misses_some")
    scope = Scope(
        Nat=range(0, 5),
        Payload=1,
        network=9,
        submitted=3,
        delivered=3,
        messages=(3,),
        failures=(0,),
    )


class LinkAsSeed(FairLink):
    """Both entries as the document describes them: the failures that it should prevent happen."""

    sender: SenderEntry = SenderEntryAsSeed()
    receiver: ReceiverEntry = ReceiverEntryAsSeed()

    # What goes wrong needs few messages under way at once; it can repeat itself for ever.
    scope = Scope(Nat=range(0, 4), Payload=1, network=3, submitted=2, delivered=2)
    expects = Expect(
        no_loss=("violated", 4),
        no_duplicate=("violated", 6),
        in_order=("violated", 6),
        settled=("violated", 5),
        sent_is_delivered=("violated", 5),
        sent_is_purged=("violated", 5),
        **{"sender.no_silent_loss": ("violated", 3), "receiver.never_goes_back": ("violated", 4)},
    )
