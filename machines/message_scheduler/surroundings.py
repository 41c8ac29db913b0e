"""Message scheduler, composed: the `Scheduler` of a service, and everybody around it.

What `Scheduler` returns is what happens: a frame goes to its peer, a callback is called and returns
some time later, and nothing is decided here. Threads come at any moment, also while a callback
runs: one event is one hold of the lock. Peers answer, twice, too late, to other requests, with
another type, or never. A sender that finds a peer destroyed skips its channel.

The variables beside the scheduler are what an observer sees of all this: who was scheduled, what
was offered, sent, answered and called, in which order. No guard reads them. `system.py` declares
the properties, which speak of them.
"""

from lawful import (
    Machine,
    Nat,
    terminal,
    transition,
)

from .declaration import (
    Body,
    Call,
    ChannelId,
    Discard,
    Failure,
    Offer,
    Peer,
    Reason,
    Request,
    Scheduler,
    Success,
    Token,
    Type,
)


class Surroundings(Machine, abstract=True):
    """The scheduler, and everybody around it."""

    scheduler: Scheduler = Scheduler(least=1, greatest=2)
    pool: set[ChannelId] = set()  # Of the peers that are connected.
    closed: set[ChannelId] = set()  # A message was sent, and is not answered or in time.
    waiting: list[Token] = []  # Accepted, and neither served, discarded nor withdrawn, by arrival.
    urgency: dict[Token, Nat] = {}  # The priority of each that waits.
    # Offers to later ones of what it was not offered; counted until they are one too many.
    overtaken: dict[Token, Nat] = {}
    shown: dict[Token, set[ChannelId]] = {}  # Offered to it since the channel opened.
    asked: dict[Nat, Request] = {}  # Sent, and neither answered nor failed nor withdrawn.
    due: list[Success | Failure] = []  # What has happened, and its receiver is not told.
    callback: Call | None = None  # The one that runs.
    usable: set[ChannelId] = set()  # Of its offer, what may still be closed.
    sent: Nat = 0  # Frames during this callback.
    last: Nat = 0  # The number that was given last; before the first, as if it were the greatest.
    stopped: bool = False
    wrong: bool = False  # Somebody was told yes for no, or no for yes.
    missed: bool = False  # Nobody was called, and somebody was to be called.

    # Peers.

    @transition()
    def connect(self, peer: Peer, channels: Nat) -> None:
        """(R4, R5, R13)"""
        self.scheduler.connect(peer, channels)
        for number in range(channels):
            self.pool.add(ChannelId(peer, number))

    @transition()
    def disconnect(self, peer: Peer) -> None:
        """Its requests fail at once, by their numbers: once these go round, not as they were sent,
        which the document does not promise [seed:201-204] (R4, R23, R-B10)."""
        self.scheduler.disconnect(peer)
        for number in sorted(self.asked):
            if self.asked[number].channel.peer == peer:
                self.fails(number, Reason.DISCONNECT)
        self.leave(frozenset(c for c in self.pool if c.peer == peer))

    def leave(self, gone: frozenset[ChannelId]) -> None:
        self.pool -= gone
        self.closed -= gone
        self.usable -= gone
        for token in self.shown:
            self.shown[token] -= gone

    @transition()
    def receive(self, peer: Peer, number: Nat, type: Type, body: Body) -> None:
        """A frame arrives from a peer, as the answer to a request or not (R3, R10)."""
        self.scheduler.receive(peer, number, type, body)
        request = self.asked.get(number)
        if request is not None and request.channel.peer == peer and request.type == type:
            del self.asked[number]
            self.closed.discard(request.channel)
            self.due.append(Success(number, body))

    @transition()
    def expire(self, channel: ChannelId) -> None:
        """The time of a message is over (R6, R11, R21)."""
        self.scheduler.expire(channel)
        self.closed.discard(channel)
        for number in sorted(self.asked):
            if self.asked[number].channel == channel:
                self.fails(number, Reason.TIMEOUT)

    def fails(self, number: Nat, reason: Reason) -> None:
        del self.asked[number]
        self.due.append(Failure(number, reason))

    # Senders and receivers: any thread, also inside a callback.

    @transition()
    def schedule(self, token: Token, priority: Nat) -> None:
        """(R9, R16, R22, R23, R26, R40)"""
        accepted = self.scheduler.schedule(token, priority)
        self.wrong = self.wrong or accepted == self.stopped
        if accepted:
            self.waiting.append(token)
            self.urgency[token] = priority
            self.overtaken[token] = 0
            self.shown[token] = set()

    def waits_no_more(self, token: Token) -> None:
        self.waiting.remove(token)
        del self.urgency[token]
        del self.overtaken[token]
        del self.shown[token]

    @transition()
    def withdraw_sender(self, token: Token) -> None:
        """(R30)"""
        returned = self.scheduler.withdraw_sender(token)
        self.wrong = self.wrong or returned != (token in self.waiting)
        if returned and token in self.waiting:
            self.waits_no_more(token)
            if self.is_offered(token):
                self.usable.clear()

    def is_offered(self, token: Token) -> bool:
        match self.callback:
            case Offer(token=offered):
                return offered == token
            case _:
                return False

    @transition()
    def withdraw_receiver(self, number: Nat) -> None:
        """Also while its callback is about to be called (R30)."""
        returned = self.scheduler.withdraw_receiver(number)
        self.wrong = self.wrong or returned == self.is_free(number)
        self.due = [r for r in self.due if r.request != number]
        if number in self.asked:
            del self.asked[number]

    def is_free(self, number: Nat) -> bool:
        return number not in self.asked and all(r.request != number for r in self.due)

    @transition()
    def stop(self) -> None:
        """(R32)"""
        self.scheduler.stop()
        self.stopped = True
        self.usable.clear()
        for number in sorted(self.asked):
            self.fails(number, Reason.SHUTDOWN)

    # Callbacks.

    @transition()
    def call(self) -> None:
        """Some thread calls what is to be called (R17, R29, R38)."""
        callback = self.scheduler.call()
        self.callback = callback
        match callback:
            case Offer(token=token, channels=channels):
                self.usable = set(channels)
                if token in self.waiting:
                    for earlier in self.waiting[: self.waiting.index(token)]:
                        if not channels <= self.shown[earlier]:
                            self.count_overtaking(earlier)
                    self.shown[token] = set(channels)
            case Discard(token=token):
                if token in self.waiting:
                    self.waits_no_more(token)
            case Success() | Failure():
                if len(self.due) > 0:
                    self.due.pop(0)
            case None:
                self.missed = self.missed or not self.nobody_waits()

    def count_overtaking(self, token: Token) -> None:
        self.overtaken[token] = min(self.overtaken[token] + 1, self.scheduler.patience + 1)

    @transition()
    def send_request(self, channel: ChannelId, type: Type, timeout: Nat) -> None:
        """Its `onOffer` sends on a channel (R12, R15, R18, R19, R20, R39)."""
        frame = self.scheduler.send_request(channel, type, timeout)
        self.goes_out(frame.channel)
        if frame.request is None:
            self.wrong = True
        else:
            known = self.scheduler.least <= frame.request <= self.scheduler.greatest
            self.wrong = self.wrong or not (known and self.is_free(frame.request))
            self.wrong = self.wrong or any(
                self.is_free(n) and self.turn(n) < self.turn(frame.request)
                for n in range(self.scheduler.least, self.scheduler.greatest + 1)
            )
            self.last = frame.request
            self.asked[frame.request] = Request(frame.channel, type)

    def turn(self, number: Nat) -> Nat:
        """How many numbers are given before this one, if all are free: they go round, so that a
        late answer finds no later request with its number (R-B10)."""
        count = self.scheduler.greatest - self.scheduler.least + 1
        return (number - self.last - 1 + 2 * count) % count

    @transition()
    def send_notification(self, channel: ChannelId, timeout: Nat) -> None:
        """(R12, R15, R18, R19, R20, R39)"""
        frame = self.scheduler.send_notification(channel, timeout)
        self.goes_out(frame.channel)
        self.wrong = self.wrong or frame.request is not None

    def goes_out(self, channel: ChannelId) -> None:
        self.sent += 1
        self.closed.add(channel)
        self.usable.discard(channel)
        for token in self.shown:
            self.shown[token].discard(channel)
        match self.callback:
            case Offer(token=token):
                if token in self.waiting:
                    self.waits_no_more(token)
            case _:
                pass

    @transition()
    def skip(self, channel: ChannelId) -> None:
        """Its `onOffer` finds the peer of a channel destroyed (R33, R34, R36)."""
        self.scheduler.skip(channel)
        self.leave(frozenset({channel}))

    @transition()
    def returned(self) -> None:
        self.scheduler.returned()
        self.callback = None
        self.usable.clear()
        self.sent = 0

    @terminal
    def over(self) -> bool:
        return self.scheduler.over()

    # For the observer.

    def open(self) -> frozenset[ChannelId]:
        return frozenset(self.pool - self.closed)

    def nobody_waits(self) -> bool:
        """For a callback that is due."""
        seen = all(self.open() <= self.shown[t] for t in self.waiting)
        return len(self.due) == 0 and (len(self.waiting) == 0 if self.stopped else seen)
