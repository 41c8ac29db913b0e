"""Reliable unicast, composed: the entries of both ends, and the network between them.

Source: `unicast3.txt`, as in `declaration.py`. `system.py` lists the abstractions, and declares the
liveness properties and the variants.
"""

from collections import Counter

from lawful import (
    Ghost,
    Machine,
    Nat,
    Param,
    assume,
    can,
    invariant,
    needed,
    recoverable,
    require,
    terminal,
    transition,
)

from .declaration import Conn, ReceiverEntry, SenderEntry
from .messages import Ack, Close, Data, Message, Payload, SendFirst, XmitReq

Id = tuple[Nat, Nat]
MOST_MESSAGES = 3  # As many may arrive in order at once.


class Link(Machine, abstract=True):
    """A's sender entry, B's receiver entry, and the messages under way between them."""

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

    @assume
    def messages_are_few(self) -> bool:
        return self.messages <= MOST_MESSAGES

    def put(self, m: Message) -> None:
        if m not in self.network:
            self.network[m] += 1

    def put_all(self, messages: frozenset[Message]) -> None:
        for m in messages:
            self.put(m)

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
        """Data arrives, and B's application gets every message that is now in order (U9, U10)."""
        self.take(m)
        self.receiver.data(m)
        for _ in range(MOST_MESSAGES):
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
        """The next run of A's retransmit task notices the change (U14)."""
        if not self.sender.unchanged():
            self.sender.task()

    @transition()
    def resend(self) -> None:
        """A's retransmit task notices that nothing has changed (U14)."""
        data = self.sender.task()
        self.put(needed(data, "something has changed, or all is acknowledged"))

    @transition()
    def request_missing(self) -> None:
        """B's retransmit task finds gaps (U16)."""
        self.put(self.receiver.request_missing())

    @transition()
    def receive_request(self, m: XmitReq) -> None:
        self.take(m)
        self.put_all(self.sender.retransmit(m))

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
        """Everything was sent, and neither side keeps a connection."""
        return self.sender.state == Conn.CLOSED and self.receiver.state == Conn.CLOSED

    @invariant
    def no_duplicate(self) -> bool:
        """No message is delivered twice."""
        return all(self.delivered.count(p) == 1 for p in self.delivered)

    @invariant
    def in_order(self) -> bool:
        """Messages are delivered in the order of submission."""
        places = [self.submitted.index(p) for p in self.delivered]
        return all(places[i] <= places[i + 1] for i in range(len(places) - 1))

    def is_delivered(self, p: Id) -> bool:
        return p in self.delivered

    @invariant
    def no_loss(self) -> bool:
        """Each submitted message is delivered, under way, reported, or can be sent again."""
        return all(
            self.is_delivered(sent)
            or sent in self.reported
            or (sent[0] == self.sender.conn and sent[1] in self.sender.window)
            or any(isinstance(m, Data) and (m.conn, m.seqno) == sent for m in self.network)
            for sent in self.submitted
        )

    @invariant
    def acked_is_delivered(self) -> bool:
        """The receiver has delivered every message that the sender purged as acknowledged (U12)."""
        return all(
            self.is_delivered(sent)
            for sent in self.submitted
            if sent[0] == self.sender.conn and sent[1] <= self.sender.highest_acked
        )

    @invariant
    def acks_are_true(self) -> bool:
        """No ack under way for the receiver's connection covers an undelivered message (U11)."""
        return all(
            m.seqno < self.receiver.next
            for m in self.network
            if isinstance(m, Ack) and m.conn == self.receiver.conn
        )

    @invariant
    def purged_is_not_awaited(self) -> bool:
        """In one connection, B waits for no message that A has purged (U-B4, U-B6)."""
        return (
            self.sender.conn != self.receiver.conn or self.sender.highest_acked < self.receiver.next
        )

    @invariant
    def received_was_sent(self) -> bool:
        """In one connection, B expects at most the number after the last one that A sent."""
        return (
            self.sender.state == Conn.CLOSED
            or self.sender.conn != self.receiver.conn
            or self.receiver.next <= self.sender.highest_sent + 1
        )

    @recoverable
    def settled(self) -> bool:
        """Every message can still be delivered or reported (U5)."""
        return all(self.is_delivered(p) or p in self.reported for p in self.submitted)
