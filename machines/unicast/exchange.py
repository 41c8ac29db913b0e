"""Reliable unicast, composed: two ends that send to each other, each with a sender's and a
receiver's entry, as in the service.

Source: `unicast3.txt`; "for all connections of a given member" [seed:60-61]. Both directions have
the same connection ids and numbers. What arrives is for the one entry or the other, as its kind
says: data and CLOSE are for the receiver's entry, the rest is for the sender's.

Abstractions: those of `system.py`. Each end submits few messages.
"""

from collections import Counter

from lawful import (
    Ghost,
    Machine,
    Nat,
    Param,
    Record,
    Scope,
    State,
    can,
    initial,
    invariant,
    needed,
    reachable,
    recoverable,
    require,
    terminal,
    transition,
)

from .declaration import Conn, ReceiverEntryFixed, SenderEntryFixed
from .link import Id
from .messages import Ack, Close, Data, Message, Payload, SendFirst, XmitReq


class Side(State):
    """The two ends."""

    A = "a"
    B = "b"


class End(Machine):
    """An end: what it submitted, what it delivered, and what it reported as in doubt."""

    sender: SenderEntryFixed = SenderEntryFixed()
    receiver: ReceiverEntryFixed = ReceiverEntryFixed()
    submitted: Ghost[list[Id]] = []
    delivered: Ghost[list[Id]] = []
    reported: Ghost[set[Id]] = set()
    submissions: Nat = 0

    messages: Param[int] = 1

    @transition()
    def submit(self, payload: Payload) -> Data:
        require(self.submissions < self.messages, "everything is submitted")
        self.submissions += 1
        data = self.sender.send(payload)
        self.submitted.append((data.conn, data.seqno))
        self.settle_watermark()
        return data

    def settle_watermark(self) -> None:
        if not self.sender.unchanged():
            self.sender.task()

    @transition()
    def receive(self, m: Message) -> frozenset[Message]:
        """Give the message to the entry that it is for; what is returned goes to the other end."""
        again: frozenset[Message] = frozenset()
        match m:
            case Data():
                self.receiver.data(m)
                if can(self.receiver.deliver):
                    self.delivered.append((self.receiver.conn, self.receiver.next))
                    self.receiver.deliver()
            case Ack():
                self.sender.ack(m)
                self.settle_watermark()
            case SendFirst():
                data = self.sender.send_first(m)
                if data is not None:
                    again = frozenset({data})
            case XmitReq():
                for data in self.sender.retransmit(m):
                    again |= {data}
            case Close():
                self.receiver.close_received(m)
        return again

    @transition()
    def resend(self) -> Data:
        data = self.sender.task()
        return needed(data, "something has changed, or all is acknowledged")

    @transition()
    def send_ack(self) -> Ack:
        return self.receiver.send_ack()

    @transition()
    def send_sync(self) -> SendFirst:
        return self.receiver.send_sync()

    @transition()
    def expire_sender(self) -> None:
        self.sender.expire()

    @transition()
    def remove_sender(self) -> Close:
        return self.sender.remove()

    @transition()
    def give_up(self) -> Close:
        dropped = self.sender.give_up()
        self.reported |= {(m.conn, m.seqno) for m in dropped.in_doubt}
        return Close(dropped.conn)

    @transition()
    def expire_receiver(self) -> None:
        self.receiver.expire()

    @transition()
    def remove_receiver(self) -> None:
        self.receiver.remove()


class Post(Record):
    """A message under way to one end."""

    to: Side
    message: Message


class Exchange(Machine):
    """Both ends. Each gets what the other one submitted, as if nothing went the other way."""

    ends: dict[Side, End] = {}
    network: Counter[Post] = Counter()
    failed: Nat = 0

    failures: Param[int] = 1

    @initial
    def start(self) -> None:
        self.ends[Side.A] = End()
        self.ends[Side.B] = End()

    def other(self, at: Side) -> Side:
        return Side.B if at == Side.A else Side.A

    def put(self, post: Post) -> None:
        """A copy that is under way is enough."""
        if post not in self.network:
            self.network[post] += 1

    @transition()
    def lose(self, post: Post) -> None:
        require(post in self.network, "is not under way")
        require(self.failed < self.failures, "the network has failed enough")
        self.network[post] -= 1
        self.failed += 1

    @transition()
    def submit(self, at: Side, payload: Payload) -> None:
        data = self.ends[at].submit(payload)
        self.put(Post(self.other(at), data))

    @transition()
    def receive(self, post: Post) -> None:
        require(post in self.network, "is not under way")
        self.network[post] -= 1
        back = self.other(post.to)
        answers = self.ends[post.to].receive(post.message)
        for answer in {Post(back, m) for m in answers}:
            self.put(answer)

    @transition()
    def resend(self, at: Side) -> None:
        data = self.ends[at].resend()
        self.put(Post(self.other(at), data))

    @transition()
    def send_ack(self, at: Side) -> None:
        ack = self.ends[at].send_ack()
        self.put(Post(self.other(at), ack))

    @transition()
    def send_sync(self, at: Side) -> None:
        question = self.ends[at].send_sync()
        self.put(Post(self.other(at), question))

    @transition()
    def expire_sender(self, at: Side) -> None:
        self.ends[at].expire_sender()

    @transition()
    def remove_sender(self, at: Side) -> None:
        close = self.ends[at].remove_sender()
        self.put(Post(self.other(at), close))

    @transition()
    def give_up(self, at: Side) -> None:
        close = self.ends[at].give_up()
        self.put(Post(self.other(at), close))

    @transition()
    def expire_receiver(self, at: Side) -> None:
        self.ends[at].expire_receiver()

    @transition()
    def remove_receiver(self, at: Side) -> None:
        self.ends[at].remove_receiver()

    @terminal
    def over(self) -> bool:
        return all(
            end.sender.state == Conn.CLOSED and end.receiver.state == Conn.CLOSED
            for end in self.ends.values()
        )

    @invariant
    def delivered_once_and_in_order(self) -> bool:
        """Each end delivers what the other one submitted, in its order, and nothing else (U10)."""
        return all(
            self.are_in_order(end.delivered)
            and all(p in self.ends[self.other(side)].submitted for p in end.delivered)
            for side, end in self.ends.items()
        )

    def are_in_order(self, ids: list[Id]) -> bool:
        return all(ids[i] < ids[i + 1] for i in range(len(ids) - 1))

    @invariant
    def acknowledged_is_delivered(self) -> bool:
        """What an end purged, the other one delivered; no ack of its own counts (U12)."""
        return all(
            p in self.ends[self.other(side)].delivered
            for side, end in self.ends.items()
            for p in end.submitted
            if p[0] == end.sender.conn and p[1] <= end.sender.highest_acked
        )

    @invariant
    def kept_until_delivered(self) -> bool:
        """Each end keeps what it submitted until it is delivered or reported (U3, U5)."""
        return all(
            p in self.ends[self.other(side)].delivered
            or p in end.reported
            or (p[0] == end.sender.conn and p[1] in end.sender.window)
            for side, end in self.ends.items()
            for p in end.submitted
        )

    @recoverable
    def settled(self) -> bool:
        """Every message of both ends can still be delivered or reported (U5)."""
        return all(
            p in self.ends[self.other(side)].delivered or p in end.reported
            for side, end in self.ends.items()
            for p in end.submitted
        )

    @reachable
    def both_deliver(self) -> bool:
        return all(len(end.delivered) > 0 for end in self.ends.values())

    @reachable
    def one_gives_up_and_is_heard_from(self) -> bool:
        """An end that gave up still delivers what the other one sends."""
        return any(end.reported != set() and len(end.delivered) > 0 for end in self.ends.values())

    scope = Scope(
        Nat=range(0, 3),
        Payload=1,
        network=6,
        submitted=1,
        delivered=1,
        failures=(0,),
    )
    lossy = Scope(failures=(1,))
