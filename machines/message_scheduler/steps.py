"""Message scheduler, composed: the steps, with peers, clients, and the locks in between.

`system.py` lists the abstractions and declares the properties.
"""

from lawful import (
    Machine,
    Nat,
    Param,
    Sort,
    can,
    initial,
    needed,
    require,
    terminal,
    transition,
)

from .channel import ChannelFixed, ChannelId, Gate, Peer
from .declaration import AWAKE, Body, RequestFixed


class Client(Sort):
    """A dependent: its sender waits for a channel, its receiver for the response."""


class Steps(Machine, abstract=True):
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

    def open_one(self, c: ChannelId) -> None:
        self.channels[c] = ChannelFixed()

    # Peers.

    @transition()
    def connect(self, peer: Peer, channels: Nat) -> None:
        """A peer has one or more channels; numbers may differ [seed:130-131] (R5, R13)."""
        self.meet(peer, channels)
        self.open_one(ChannelId(peer, 0))
        if channels == 2:
            self.open_one(ChannelId(peer, 1))

    def meet(self, peer: Peer, channels: Nat) -> None:
        require(not self.stopped, "the scheduler has stopped")
        require(peer not in self.known, "has connected before")
        require(1 <= channels <= 2, "one channel or two")
        self.known.add(peer)

    @transition()
    def die(self, peer: Peer) -> None:
        """Its heartbeat has stopped, and its object is destroyed [seed:310-318] (R36)."""
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
        """Call `onOffer`, if every sender before it in the queue has seen all open channels
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
        """It sends on one of the offered channels [seed:171-177] (R12, R19, R20, R39)."""
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
        """It finds a peer dead; the channel leaves the offer and the pool [seed:303-307] (R33,
        R34)."""
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
        """A sender that a callback scheduled waits like the others (R26, R40)."""
        for t in self.deferred:
            self.messages[t].negotiate()
            self.queue.append(t)
        self.deferred.clear()

    def open(self) -> frozenset[ChannelId]:
        """The pool; that a peer is dead may be discovered later (R24, R33)."""
        return frozenset(c for c, x in self.channels.items() if x.state == Gate.OPEN)

    # Receivers.

    @transition()
    def receive(self, t: Client, peer: Peer, number: Nat, body: Body) -> None:
        """A response, perhaps too late, or to another request (R3, R10, R23)."""
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
        """And the receiving thread has returned the channel of the last response."""
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
        """The offers are locked: the channel opens, and deferred senders join the queue (R40)."""
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
        """It has stopped, or there is nothing left to wait for."""
        return self.stopped or all(m.state not in AWAKE for m in self.messages.values())
