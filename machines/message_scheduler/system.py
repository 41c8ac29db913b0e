"""Message scheduler, composed: peers with channels, clients with senders and receivers.

Source: `message-scheduler.md`, as in `declaration.py`. A client has one sender and one receiver, in
one `Request`; peers connect, die, disconnect, answer, answer too late, or never. `rounds.py` has
what the scheduler does while it holds the lock of the offers: how large an offer is, who is next,
and that a round ends; `locks.py` has the locks.

Abstractions, confessed. `onOffer` is one step: the sender is shown all open channels, and sends on
one of them or on none. A callback of a receiver is a step that begins and one that ends; what is
scheduled in between is deferred; then the channel returns to the pool, and who was deferred to the
queue, in a step of its own, for which the other lock is taken. Between the two, others may take
both: there `stop` and `disconnect` come in (R-B1, R-B2). A peer connects once. The numbers of
requests grow, and do not wrap. A sender's place in the queue grows with each arrival, so that
arrivals end after `most`. What a peer sends is a number of a request, any that was given out.
"""

from lawful import (
    Fairness,
    Machine,
    Nat,
    Param,
    Scope,
    Sort,
    Strong,
    Weak,
    can,
    initial,
    invariant,
    leads_to,
    needed,
    reachable,
    require,
    step_property,
    terminal,
    transition,
)

from .channel import ChannelFixed, ChannelId, Gate, Peer
from .declaration import AWAKE, Body, RequestFixed, Stage


class Client(Sort):
    """A dependent: its sender waits for a channel, its receiver for the response."""


class Scheduler(Machine, abstract=True):
    """The pool of channels, the queue of senders, the table of requests."""

    channels: dict[ChannelId, ChannelFixed] = {}
    messages: dict[Client, RequestFixed] = {}
    known: set[Peer] = set()
    left: set[Peer] = set()
    queue: list[Client] = []
    deferred: list[Client] = []
    offering: Client | None = None
    calling: Client | None = None
    reopening: ChannelId | None = None
    stopped: bool = False
    arrivals: Nat = 0
    numbers: Nat = 0

    most: Param[Nat] = 2

    @initial
    def start(self) -> None:
        for t in Client:
            self.messages[t] = RequestFixed(timeout=2)

    # Peers.

    @transition()
    def connect(self, peer: Peer, channels: Nat) -> None:
        """A peer has one or more channels, not all of them as many [seed:130-131] (R5, R13)."""
        self.meet(peer, channels)
        self.channels[ChannelId(peer, 0)] = ChannelFixed()
        if channels == 2:
            self.channels[ChannelId(peer, 1)] = ChannelFixed()

    def meet(self, peer: Peer, channels: Nat) -> None:
        require(not self.stopped, "the scheduler has stopped")
        require(peer not in self.known, "has connected before")
        require(1 <= channels <= 2, "one channel or two")
        self.known.add(peer)

    @transition()
    def die(self, peer: Peer) -> None:
        """Its heartbeat has stopped, and with it the object's life [seed:310-318] (R36)."""
        require(any(c.peer == peer for c in self.channels), "has not connected")
        require(peer not in self.left, "has left")
        for number in range(2):
            c = ChannelId(peer, number)
            if c in self.channels:
                self.channels[c].die()

    @transition()
    def disconnect(self, peer: Peer) -> None:
        """Outstanding requests fail at once, and its channels are gone (R4, R23)."""
        require(peer in self.known and peer not in self.left, "is not connected")
        require(self.idle(), "a lock is held")
        self.left.add(peer)
        for number in range(2):
            c = ChannelId(peer, number)
            if c in self.channels:
                self.channels[c].disconnect()
        for message in self.messages.values():
            message.disconnect(peer)

    # Scheduling.

    @transition()
    def schedule(self, t: Client) -> None:
        """First come, first served [seed:151-154] (R16)."""
        require(self.idle(), "a lock is held")
        require(self.arrivals < self.most, "enough have come")
        if self.messages[t].schedule(self.arrivals + 1, False):
            self.arrivals += 1
            self.queue.append(t)

    @transition()
    def schedule_inside(self, t: Client) -> None:
        """From a callback, whose thread has a lock [seed:343-350] (R23, R26, R40)."""
        require(not self.idle(), "no callback runs")
        require(self.arrivals < self.most, "enough have come")
        if self.messages[t].schedule(self.arrivals + 1, True):
            self.arrivals += 1
            self.deferred.append(t)

    # Offers.

    @transition()
    def offer(self, t: Client) -> None:
        """Call `onOffer`, if whoever is before it in the queue has seen all that is open
        [seed:151-154,166-170] (R8, R16, R18, R24)."""
        require(self.idle(), "a lock is held")
        require(t in self.queue, "does not wait")
        require(
            all(self.messages[u].refused >= self.open() for u in self.queue[: self.queue.index(t)]),
            "others are before it",
        )
        self.messages[t].offer(self.open())
        self.offering = t

    @transition()
    def send(self, c: ChannelId) -> None:
        """It sends on one of these [seed:171-177] (R12, R19, R20, R39)."""
        t = needed(self.offering, "no offer is considered")
        self.numbers += 1
        self.messages[t].send(c, self.numbers)
        self.channels[c].send()
        self.queue.remove(t)
        for message in self.messages.values():
            if can(message.taken, c):
                message.taken(c)
        self.offer_is_over()

    @transition()
    def skip(self, c: ChannelId) -> None:
        """It finds the peer dead, whose channel leaves the offer and the pool [seed:303-307]
        (R33, R34)."""
        t = needed(self.offering, "no offer is considered")
        self.messages[t].skip(c)
        self.channels[c].discover()

    @transition()
    def refuse(self) -> None:
        """It closes none, and stays in the queue [seed:195-196] (R22, R27)."""
        t = needed(self.offering, "no offer is considered")
        self.messages[t].refuse_all()
        self.offer_is_over()

    def offer_is_over(self) -> None:
        self.offering = None
        self.join()

    def join(self) -> None:
        """Who was scheduled in a callback waits like the others (R26, R40)."""
        for t in self.deferred:
            self.messages[t].negotiate()
            self.queue.append(t)
        self.deferred.clear()

    def open(self) -> frozenset[ChannelId]:
        """The pool; of the dead, too, who is dead is discovered later (R24, R33)."""
        return frozenset(c for c, x in self.channels.items() if x.state == Gate.OPEN)

    # Receivers.

    @transition()
    def receive(self, t: Client, peer: Peer, number: Nat, body: Body) -> None:
        """A response, perhaps too late, or to another's request (R3, R10, R23)."""
        require(self.free(), "a lock is held")
        require(0 < number <= self.numbers, "no such request was sent")
        answered = self.messages[t].receive(peer, number, body)
        if answered is not None:
            self.calling = t
            self.reopening = answered.reopened

    def idle(self) -> bool:
        """No callback runs: both locks can be taken (R37, R38)."""
        return self.calling is None and self.offering is None

    def free(self) -> bool:
        """And the thread that receives has returned the channel of the last response."""
        return self.idle() and self.reopening is None

    @transition()
    def expire(self, t: Client) -> None:
        """Nothing was received in time (R11, R21)."""
        require(self.free(), "a lock is held")
        self.reopening = self.messages[t].expire().reopened
        self.calling = t

    @transition()
    def return_from_callback(self) -> None:
        require(self.calling is not None, "no callback runs")
        self.calling = None

    @transition()
    def negotiate(self) -> None:
        """The lock of the offers: the channel is open again, and who was deferred waits (R40)."""
        require(self.idle(), "a lock is held")
        c = needed(self.reopening, "no channel is to be opened")
        self.channels[c].reopen()
        self.reopening = None
        self.join()

    # Withdrawal (R30), and the end.

    @transition()
    def withdraw_sender(self, t: Client) -> None:
        require(self.idle(), "a lock is held")
        self.messages[t].withdraw_sender()
        if t in self.queue:
            self.queue.remove(t)
        if t in self.deferred:
            self.deferred.remove(t)

    @transition()
    def withdraw_receiver(self, t: Client) -> None:
        require(self.idle(), "a lock is held")
        self.messages[t].withdraw_receiver()

    @transition()
    def release(self, t: Client) -> None:
        """The time of a request that was withdrawn is over."""
        require(self.free(), "a lock is held")
        c = self.messages[t].release()
        self.channels[c].reopen()

    @transition()
    def stop(self) -> None:
        """Fail all receivers, discard all senders [seed:289-292] (R32)."""
        require(self.idle(), "a lock is held")
        require(not self.stopped, "it has stopped")
        self.stopped = True
        for message in self.messages.values():
            message.stop()
        self.queue.clear()
        self.deferred.clear()

    @terminal
    def over(self) -> bool:
        """It has stopped, or nobody can wait for anything any more."""
        return self.stopped or all(m.state not in AWAKE for m in self.messages.values())

    # What follows is auxiliary: proofs need it, exploration sees that it is true.

    @invariant
    def everything_is_known(self) -> bool:
        """Clients, peers, channels, places and numbers."""
        return (
            all(t in self.messages for t in Client)
            and all(c.peer in self.known and c.number <= 1 for c in self.channels)
            and self.left <= self.known
            and all(m.place <= self.arrivals for m in self.messages.values())
            and all(m.request <= self.numbers for m in self.messages.values())
        )

    @invariant
    def one_callback_at_a_time(self) -> bool:
        """And whoever is called is the one who considers an offer, or whose channel reopens."""
        return (
            (self.offering is None or self.calling is None)
            and (self.calling is None or self.reopening is not None)
            and (self.deferred == [] or not self.free())
            and all(
                (m.state == Stage.OFFERED) == (self.offering == t)
                and m.stopped == self.stopped
                for t, m in self.messages.items()
            )
        )

    @invariant
    def what_is_offered_is_open(self) -> bool:
        return all(
            c in self.channels and self.channels[c].state == Gate.OPEN
            for m in self.messages.values()
            for c in m.offered
        )

    @invariant
    def channels_are_of_messages(self) -> bool:
        """Whose message is under way has a channel, which is closed unless its peer has left; and
        so is the one that reopens."""
        return all(
            any(c == m.channel and x.state != Gate.OPEN for c, x in self.channels.items())
            for m in self.messages.values()
            if m.state == Stage.SENT or (m.state == Stage.WITHDRAWN and m.timer.armed)
        ) and (
            self.reopening is None
            or any(c == self.reopening and x.state != Gate.OPEN for c, x in self.channels.items())
        )

    @invariant
    def whose_peer_left_waits_no_more(self) -> bool:
        return all(
            m.state != Stage.SENT or m.channel != c
            for m in self.messages.values()
            for c in self.channels
            if c.peer in self.left
        )

    # Safety.

    @invariant
    def closed_for_one_message(self) -> bool:
        """A channel is closed for just one message (R6, R14, R19); once stopped, for none."""
        return all(
            self.stopped or any(self.closes(t, c) for t in self.messages) or self.reopening == c
            for c, channel in self.channels.items()
            if channel.state == Gate.CLOSED
        ) and all(
            (t == u or not (self.closes(t, c) and self.closes(u, c)))
            and not (self.closes(t, c) and self.reopening == c)
            for c, channel in self.channels.items()
            if channel.state == Gate.CLOSED
            for t in self.messages
            for u in self.messages
        )

    def closes(self, t: Client, c: ChannelId) -> bool:
        m = self.messages[t]
        return m.channel == c and (
            m.state == Stage.SENT or (m.state == Stage.WITHDRAWN and m.timer.armed)
        )

    @invariant
    def nothing_at_a_peer_that_left(self) -> bool:
        """No channel of it is in the pool, no request waits for it (R4)."""
        return all(x.state == Gate.GONE for c, x in self.channels.items() if c.peer in self.left)

    @invariant
    def numbers_differ(self) -> bool:
        """No two requests in flight have the same number (R3)."""
        return all(
            t == u or self.messages[t].request != self.messages[u].request
            for t in self.messages
            for u in self.messages
            if self.messages[t].state == Stage.SENT and self.messages[u].state == Stage.SENT
        )

    @invariant
    def who_waits_is_queued(self) -> bool:
        """Once; after the scheduler has stopped, nobody (R16, R32)."""
        return all(
            self.queue.count(t) == (1 if m.state in (Stage.WAITING, Stage.OFFERED) else 0)
            and self.deferred.count(t) == (1 if m.state == Stage.DEFERRED else 0)
            for t, m in self.messages.items()
        )

    @step_property
    def first_come_first_served(self, after: "Scheduler") -> bool:
        """Nobody is offered a channel that one before it has not seen (R16)."""
        t = after.offering
        if t is None or self.offering is not None:
            return True
        before = self.queue[: self.queue.index(t)]
        return all(self.messages[u].refused >= after.messages[t].offered for u in before)

    @step_property
    def once_stopped_nobody_is_called(self, after: "Scheduler") -> bool:
        """(R32)"""
        return not self.stopped or all(
            after.messages[t].sender_called == m.sender_called
            and after.messages[t].receiver_called == m.receiver_called
            for t, m in self.messages.items()
        )

    # Liveness.

    @leads_to
    def receiver_is_called(self, t: Client) -> tuple[bool, bool]:
        """Bounded termination (R11)."""
        sent = self.messages[t].state == Stage.SENT
        return sent, self.messages[t].state != Stage.SENT

    @leads_to
    def open_channels_are_offered(self, t: Client, c: ChannelId) -> tuple[bool, bool]:
        """Nobody waits beside a channel that it has not seen (R7, R27, S13)."""
        m = self.messages[t]
        unseen = c in self.open() and c not in m.refused and m.state == Stage.WAITING
        return unseen, not unseen

    @leads_to
    def callbacks_return(self) -> tuple[bool, bool]:
        return not self.free(), self.free()

    # Reachability.

    @reachable
    def all_are_sent(self, t: Client) -> bool:
        return all(m.state == Stage.SENT for m in self.messages.values())

    @reachable
    def refused_then_served(self) -> bool:
        """By another channel than the one that was left open."""
        return any(
            m.state == Stage.WAITING and any(c not in m.refused for c in self.open())
            and m.refused != set()
            for m in self.messages.values()
        )

    @reachable
    def answered_too_late(self) -> bool:
        return any(m.state == Stage.FAILED and not self.stopped for m in self.messages.values())

    @reachable
    def scheduled_in_a_callback(self) -> bool:
        return self.deferred != []

    @reachable
    def offered_the_dead_alone(self) -> bool:
        """An offer of no live channel (R34)."""
        return any(m.state == Stage.OFFERED and m.offered == set() for m in self.messages.values())

    fairness = Fairness(
        Weak("return_from_callback"), Weak("negotiate"), Strong("expire", each=("t",)),
        Weak("offer", each=("t",)), Weak("send", "refuse", each=()),
    )
    scope = Scope(
        {"ChannelId.number": range(0, 2), "connect.channels": range(1, 3)},
        Nat=range(0, 4), Peer=1, Client=2, Body=1, queue=2, deferred=2, most=(2,),
    )


class SchedulerFixed(Scheduler):
    """Requests and channels as they have to be."""

    large = Scope({"ChannelId.number": range(0, 1), "connect.channels": range(1, 2)}, Peer=2)
