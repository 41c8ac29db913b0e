"""Reliable unicast, composed: A sends messages to B over a network that fails.

Source: `unicast3.txt`, as in `declaration.py`. The network loses, duplicates and reorders: it is a
bag of which any message may be received, lost or doubled next, the last two within a budget of
`failures`, so that failures end.

Abstractions, confessed. One direction; nobody crashes. Messages are told apart by the number they
were sent under. A message sent again while it is under way adds no second copy, and of messages
only data are doubled: an ack twice says nothing new. What arrives in order is delivered in the same
step, as the service does it. The retransmit task's first run after a change (`watermark`) follows
the change at once, which makes `resend` possible earlier than in the service, never later. Timers
run out at any moment; `close` by the application would do what `expire_sender` does.

The properties are what the protocol is for: nothing is lost without a word (U3, U5, U-B1), nothing
is delivered twice (U-B3) or out of order (U10, U-B7), and an ack says what is true (U11, U12).
With two messages no gap can arise (a window begins with the first), so that U8 and U16 take
part in `LinkBurst` and the scope `three` only.
"""

from collections import Counter

from lawful import (
    Expect,
    Fairness,
    Ghost,
    Machine,
    Nat,
    Param,
    Scope,
    Strong,
    Weak,
    can,
    drop,
    eventually_always,
    invariant,
    leads_to,
    reachable,
    recoverable,
    require,
    terminal,
    transition,
)

from .as_seed import ReceiverEntryAsSeed, SenderEntryAsSeed
from .declaration import (
    Ack,
    Close,
    Conn,
    Data,
    Message,
    Payload,
    ReceiverEntry,
    ReceiverEntryFixed,
    SenderEntry,
    SenderEntryFixed,
    SendFirst,
    XmitReq,
)

Id = tuple[Nat, Nat]


class Link(Machine, abstract=True):
    """A's sender entry, B's receiver entry, and what is under way between them."""

    sender: SenderEntry
    receiver: ReceiverEntry
    network: Counter[Message] = Counter()
    submissions: Nat = 0
    failed: Nat = 0
    submitted: Ghost[list[Id]] = []
    delivered: Ghost[list[Id]] = []
    reported: Ghost[set[Id]] = set()

    messages: Param[int] = 2
    failures: Param[int] = 1

    def put(self, m: Message) -> None:
        if m not in self.network:
            self.network[m] += 1

    def take(self, m: Message) -> None:
        require(m in self.network, "is not under way")
        self.network[m] -= 1

    @transition()
    def lose(self, m: Message) -> None:
        require(self.failed < self.failures, "the network has failed enough")
        self.take(m)
        self.failed += 1

    @transition()
    def duplicate(self, m: Data) -> None:
        require(m in self.network, "is not under way")
        require(self.failed < self.failures, "the network has failed enough")
        self.network[m] += 1
        self.failed += 1

    @transition()
    def submit(self, payload: Payload) -> None:
        """A's application sends (U10, U21, U23, U24)."""
        require(self.submissions < self.messages, "everything is submitted")
        self.submissions += 1
        data = self.sender.send(payload)
        self.put(data)
        self.submitted.append((data.conn, data.seqno))
        self.settle_watermark()

    @transition()
    def receive_data(self, m: Data) -> None:
        """Data arrives, and B's application receives what is in order by now (U9, U10)."""
        self.take(m)
        self.receiver.data(m)
        for _ in range(self.messages):
            if can(self.receiver.deliver):
                self.delivered.append((self.receiver.conn, self.receiver.next))
                self.receiver.deliver()

    @transition()
    def send_ack(self) -> None:
        self.put(self.receiver.send_ack())

    @transition()
    def receive_ack(self, m: Ack) -> None:
        self.take(m)
        self.sender.ack(m)
        self.settle_watermark()

    def settle_watermark(self) -> None:
        """The next run of A's retransmit task sees the change (U14)."""
        if can(self.sender.watermark):
            self.sender.watermark()

    @transition()
    def resend(self) -> None:
        """A's retransmit task sees that nothing has changed (U14)."""
        self.put(self.sender.resend())

    @transition()
    def request_missing(self) -> None:
        """B's retransmit task finds gaps (U16)."""
        self.put(self.receiver.request_missing())

    @transition()
    def receive_request(self, m: XmitReq) -> None:
        self.take(m)
        for answer in self.sender.retransmit(m):
            self.put(answer)

    @transition()
    def send_sync(self) -> None:
        """B's retransmit task finds the flag (U28)."""
        self.put(self.receiver.send_sync())

    @transition()
    def receive_sync(self, m: SendFirst) -> None:
        self.take(m)
        answer = self.sender.send_first(m)
        if answer is not None:
            self.put(answer)

    @transition()
    def expire_sender(self) -> None:
        self.sender.expire()

    @transition()
    def remove_sender(self) -> None:
        self.put(self.sender.remove())

    @transition()
    def receive_close(self, m: Close) -> None:
        self.take(m)
        self.receiver.close_received(m)

    @transition()
    def expire_receiver(self) -> None:
        self.receiver.expire()

    @transition()
    def remove_receiver(self) -> None:
        self.receiver.remove()

    @terminal
    def over(self) -> bool:
        """Everything was sent, and nobody keeps a connection."""
        return self.sender.state == Conn.CLOSED and self.receiver.state == Conn.CLOSED

    @invariant
    def no_duplicate(self) -> bool:
        """Exactly once: never twice."""
        return all(self.delivered.count(p) == 1 for p in self.delivered)

    @invariant
    def in_order(self) -> bool:
        """Delivered in the order of submission."""
        places = [self.submitted.index(p) for p in self.delivered]
        return all(places[i] <= places[i + 1] for i in range(len(places) - 1))

    @invariant
    def no_loss(self) -> bool:
        """Whatever was submitted is delivered or under way, or can be sent again, or reported."""
        return all(
            sent in self.delivered
            or sent in self.reported
            or (sent[0] == self.sender.conn and sent[1] in self.sender.window)
            or any(isinstance(m, Data) and (m.conn, m.seqno) == sent for m in self.network)
            for sent in self.submitted
        )

    @invariant
    def acked_is_delivered(self) -> bool:
        """What the sender purged as acknowledged, the receiver delivered (U12)."""
        return all(
            sent in self.delivered
            for sent in self.submitted
            if sent[0] == self.sender.conn and sent[1] <= self.sender.highest_acked
        )

    @invariant
    def acks_are_true(self) -> bool:
        """No ack under way for the receiver's connection goes beyond what it delivered (U11)."""
        return all(
            m.seqno < self.receiver.next
            for m in self.network
            if isinstance(m, Ack) and m.conn == self.receiver.conn
        )

    @invariant
    def purged_is_not_awaited(self) -> bool:
        """Of one connection, B waits for nothing that A cannot send any more (U-B4, U-B6)."""
        return (
            self.sender.conn != self.receiver.conn
            or self.sender.highest_acked < self.receiver.next
        )

    @invariant
    def received_was_sent(self) -> bool:
        """Of one connection, B is at most one ahead of what A sent."""
        return (
            self.sender.state == Conn.CLOSED
            or self.sender.conn != self.receiver.conn
            or self.receiver.next <= self.sender.highest_sent + 1
        )

    @recoverable
    def settled(self) -> bool:
        """Every message can still arrive, or be reported (U5)."""
        return all(p in self.delivered or p in self.reported for p in self.submitted)

    scope = Scope(Nat=range(0, 4), Payload=1, network=8, submitted=2, delivered=2)


class FairLink(Link, abstract=True):
    """What is sent again and again arrives, and every task and timer has its turn; a timer that is
    shorter than another has it sooner. That A gives up is owed by nobody, and nothing relies on
    it."""

    @leads_to
    def sent_is_delivered(self) -> tuple[bool, bool]:
        """Or reported; nothing stays under way for ever (L1; U1, U3, U5)."""
        return not self.settled(), self.settled()

    @leads_to
    def sent_is_purged(self) -> tuple[bool, bool]:
        """An ack covers it in the end, so that A need not keep it, or it is reported (L2; U6)."""
        done = self.settled() and self.sender.highest_acked == self.sender.highest_sent
        return not done, done

    @leads_to
    def gaps_are_filled(self) -> tuple[bool, bool]:
        """What B misses, it gets, unless the connection ends (L3; U8, U16)."""
        gap = self.receiver.next <= self.receiver.highest
        return gap, not gap

    @eventually_always
    def idle_is_removed(self) -> bool:
        """When the application says no more, both entries go (L4; U20)."""
        return self.sender.state == Conn.CLOSED and self.receiver.state == Conn.CLOSED

    @eventually_always
    def silence_follows(self) -> bool:
        """And nothing is sent any more (L5)."""
        return self.network == Counter()

    @reachable
    def all_arrived(self) -> bool:
        return len(self.delivered) == 2 and self.sender.highest_acked == 2

    @reachable
    def first_is_missing(self) -> bool:
        """The receiver cannot begin with what it has (U28)."""
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
        Strong("receive_data"), Strong("receive_ack"), Strong("receive_request"),
        Strong("receive_sync"), Strong("receive_close"),
        Weak("resend"), Strong("send_ack"), Strong("send_sync"), Strong("request_missing"),
        Weak("expire_sender"), Weak("remove_sender"),
        Weak("expire_receiver"), Weak("remove_receiver"),
    )


class LinkFixed(FairLink):
    """Both entries as they have to be: everything holds."""

    sender: SenderEntry = SenderEntryFixed()
    receiver: ReceiverEntry = ReceiverEntryFixed()

    @transition()
    def give_up(self) -> None:
        """A's application is told what B may not have received."""
        dropped = self.sender.give_up()
        self.put(Close(dropped.conn))
        for m in dropped.messages:
            if (m.conn, m.seqno) not in self.delivered:
                self.reported.add((m.conn, m.seqno))

    @reachable
    def two_copies_are_under_way(self) -> bool:
        """The network doubles what it carries."""
        return any(self.network[m] > 1 for m in self.network)

    worse = Scope(failures=(2,))
    three = Scope(
        Nat=range(0, 5), messages=(3,), failures=(0,), network=10, submitted=3, delivered=3,
        expects=Expect(two_copies_are_under_way="violated"),
    )


class LinkLossy(LinkFixed):
    """Losses never end; but of what is sent again and again, not everything is lost."""

    @transition()
    def lose(self, m: Message) -> None:
        self.take(m)

    scope = Scope(Nat=range(0, 4), Payload=1, network=8, submitted=2, delivered=2, failures=(0,))
    expects = Expect(two_copies_are_under_way="violated")


class LinkBurst(LinkLossy):
    """Three messages at once, so that B may miss what comes before others (U8, U16)."""

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
        Nat=range(0, 5), Payload=1, network=8, submitted=3, delivered=3, messages=(3,),
        failures=(0,),
    )


class LinkAsSeed(FairLink):
    """Both entries to the letter of the document: what it is to prevent happens."""

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
