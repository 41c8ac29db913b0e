"""Message scheduler to the letter: the text of `message-scheduler.md` where `declaration.py`
deviates, and single mistakes of its implementations (`[seed:343]` is its line 343).

`SeedBroker`: a sender that a callback schedules is accepted, because the thread-local does not
know about stopping, and `stop` does not find it (R-B1). A channel returns to the pool after the
callback, although its peer has left meanwhile (R-B2). Each time, the pool is offered, whatever was
offered before (R-B6). Withdrawal is "not yet implemented".

The others have one mistake each, R-B7, R-B8, R-B10 and R-B11.
"""

from lawful import Nat, Timer, drop, ignore, needed, require, transition

from .declaration import (
    Body,
    Call,
    ChannelId,
    Discard,
    Life,
    Offer,
    Peer,
    Reason,
    Scheduler,
    Success,
    Token,
    Type,
)


class SeedBroker(Scheduler):
    """Two locks, taken one after the other: for the callback, and then to negotiate."""

    deferred: list[Token] = []  # What callbacks have scheduled.
    discarded: list[Token] = []
    returning: set[ChannelId] = set()  # To the pool, once the offers are locked.

    no_withdrawn_sender = drop("withdraw_sender")
    no_withdrawn_receiver = drop("withdraw_receiver")

    @transition()
    def schedule(self, token: Token, priority: Nat = 0) -> bool:
        """In a callback: the thread owns a lock, and that is all it looks at [seed:349-350]
        (R-B1)."""
        require(token not in self.seen, "waits already")
        if self.calling:
            self.deferred.append(token)
            self.seen[token] = set()
            return True
        if self.state == Life.STOPPED:
            return False
        self.queue.append(token)
        self.seen[token] = set()
        return True

    @transition()
    def receive(self, peer: Peer, number: Nat, type: Type, body: Body) -> None:
        """After the response, "its peer is returned to the pool" [seed:107-109]: now the requests
        are locked, and only later the offers."""
        request = needed(self.requests.get(number), "no such request")
        require(request.channel.peer == peer, "comes from another peer")
        require(request.type == type, "is of another type")
        del self.requests[number]
        del self.channels[request.channel]
        self.returning.add(request.channel)
        self.results.append(Success(number, body))

    stray = ignore("receive", otherwise=True, because="late, or of another request, peer or type")

    @transition()
    def returned(self) -> None:
        """What the callback has scheduled waits until the offers are locked."""
        require(self.calling, "no callback runs")
        self.calling = False
        self.end_offer()
        waiting = self.queue + self.deferred + self.discarded
        served = {t for t in self.seen if t not in waiting}
        for token in served:
            del self.seen[token]

    def next_callback(self) -> Call | None:
        """Between two callbacks, or two calls of `call`, no lock is held."""
        if len(self.results) > 0:
            return self.results.pop(0)
        self.negotiate()
        if len(self.discarded) > 0:
            token = self.discarded.pop(0)
            del self.seen[token]
            return Discard(token)
        return self.next_offer()

    def negotiate(self) -> None:
        """The offers are locked: channels return, and deferred senders join the queue
        [seed:343-350] (R-B1, R-B2)."""
        for channel in self.returning:
            self.channels[channel] = Timer()
        self.returning.clear()
        for token in self.deferred:
            self.queue.append(token)
        self.deferred.clear()

    def next_offer(self) -> Offer | None:
        """All open channels to the first in the queue, whether or not they differ from those of
        the last offer (R-B6)."""
        channels = self.open()
        if len(channels) == 0 or len(self.queue) == 0:
            return None
        token = self.queue[0]
        self.seen[token] = set(channels)
        self.offering = token
        self.left = 1 if len(self.queue) > 1 else len(channels)
        return Offer(token, channels, self.left)

    @transition(source=Life.RUNNING, target=Life.STOPPED)
    def stop(self) -> None:
        """All waiting senders [seed:291]: only those in the queue (R-B1)."""
        for n in sorted(self.requests):
            self.fail(n, Reason.SHUTDOWN)
        self.discarded = self.queue.copy()
        self.queue.clear()


class MovesFirst(Scheduler):
    """Removes a request from its table before it checks the type of the response: its record is
    destroyed, its timer cancelled, and nothing else happens (R-B7)."""

    @transition()
    def receive(self, peer: Peer, number: Nat, type: Type, body: Body) -> None:
        request = needed(self.requests.get(number), "no such request")
        require(request.channel.peer == peer, "comes from another peer")
        del self.requests[number]
        if request.type == type:
            self.channels[request.channel].stop()
            self.results.append(Success(number, body))

    stray = ignore("receive", otherwise=True, because="late, or of another request or peer")


class TakesAll(Scheduler):
    """The last in the queue may close all channels, although others wait (R-B8)."""

    @transition()
    def call(self) -> Call | None:
        callback = super().call()
        match callback:
            case Offer(token=token, channels=channels) if token == self.queue[-1]:
                self.left = len(channels)
                return Offer(token, channels, len(channels))
            case _:
                return callback


class Counting(Scheduler):
    """The number after the greatest is below the least; those in use are given again (R-B10)."""

    def next_number(self) -> Nat:
        """`following` is the last one."""
        last = self.following
        self.following = 0 if last == self.greatest else max(last + 1, self.least)
        return self.following


class ByPriority(Scheduler):
    """The queue has priorities, and nobody ages: the most urgent sender goes first (R-B11)."""

    def next_sender(self, unseen: list[Token]) -> Token:
        return max(unseen, key=lambda t: self.priority.get(t, 0))
