"""Message scheduler, composed: peers, senders and receivers around the `Scheduler` of a service.

Source: `message-scheduler.md`, as in `declaration.py`. What `Scheduler` returns is what happens: a
frame goes to its peer, a callback is called and returns some time later, and nothing is decided
here. Threads come at any moment, also while a callback runs: one event is one hold of the lock.
Peers answer, twice, too late, to other requests, with another type, or never. A sender that finds a
peer destroyed skips its channel.

The ghosts record what an observer sees: who was scheduled, what was offered, sent, answered and
called, in which order. The properties speak of these alone; `auxiliary` says how the scheduler's
variables agree with them, for proofs.
"""

from lawful import (
    Clock,
    Fairness,
    Machine,
    Nat,
    Scope,
    Strong,
    Weak,
    implies,
    initial,
    invariant,
    leads_to,
    reachable,
    step_property,
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


class Messaging(Machine, abstract=True):
    """The scheduler, and everybody around it."""

    scheduler: Scheduler = Scheduler(least=1, greatest=2)
    # What an observer sees.
    pool: set[ChannelId] = set()  # Of the peers that are connected.
    closed: set[ChannelId] = set()  # A message was sent, and is not answered or in time.
    waiting: list[Token] = []  # Accepted, and neither served, discarded nor withdrawn.
    shown: dict[Token, set[ChannelId]] = {}  # Offered to it since the channel opened.
    asked: dict[Nat, Request] = {}  # Sent, and neither answered nor failed nor withdrawn.
    due: list[Success | Failure] = []  # What has happened, and its receiver is not told.
    callback: Call | None = None  # The one that runs.
    sent: Nat = 0  # Frames during this callback.
    stopped: bool = False
    wrong: bool = False  # Somebody was told yes for no, or no for yes.
    missed: bool = False  # Nobody was called, and somebody was to be called.

    @initial
    def start(self, first: Nat) -> None:
        self.scheduler.start(first)

    # Peers.

    @transition()
    def connect(self, peer: Peer, channels: Nat) -> None:
        """(R4, R5, R13)"""
        self.scheduler.connect(peer, channels)
        for number in range(channels):
            self.pool.add(ChannelId(peer, number))

    @transition()
    def disconnect(self, peer: Peer) -> None:
        """Of its requests, those that were sent first fail first (R4, R23)."""
        self.scheduler.disconnect(peer)
        for number in sorted(self.asked):
            if self.asked[number].channel.peer == peer:
                self.fails(number, Reason.DISCONNECT)
        self.leave(frozenset(c for c in self.pool if c.peer == peer))

    def leave(self, gone: frozenset[ChannelId]) -> None:
        self.pool -= gone
        self.closed -= gone
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
    def schedule(self, token: Token) -> None:
        """(R9, R16, R22, R23, R26, R40)"""
        accepted = self.scheduler.schedule(token)
        self.wrong = self.wrong or accepted == self.stopped
        if accepted:
            self.waiting.append(token)
            self.shown[token] = set()

    @transition()
    def withdraw_sender(self, token: Token) -> None:
        """(R30)"""
        returned = self.scheduler.withdraw_sender(token)
        self.wrong = self.wrong or returned != (token in self.waiting)
        if returned and token in self.waiting:
            self.waiting.remove(token)
            del self.shown[token]

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
                if token in self.waiting:
                    self.shown[token] = set(channels)
            case Discard(token=token):
                if token in self.waiting:
                    self.waiting.remove(token)
                    del self.shown[token]
            case Success() | Failure():
                if len(self.due) > 0:
                    self.due.pop(0)
            case None:
                self.missed = self.missed or not self.nobody_waits()

    @transition()
    def send(self, channel: ChannelId, type: Type | None, timeout: Nat) -> None:
        """Its `onOffer` sends on a channel (R12, R15, R18, R19, R20, R39)."""
        frame = self.scheduler.send(channel, type, timeout)
        self.sent += 1
        self.closed.add(frame.channel)
        for token in self.shown:
            self.shown[token].discard(frame.channel)
        if frame.request is not None and type is not None:
            self.wrong = self.wrong or not self.is_free(frame.request)
            self.asked[frame.request] = Request(frame.channel, type)
        self.wrong = self.wrong or (frame.request is None) != (type is None)
        match self.callback:
            case Offer(token=token):
                if token in self.waiting:
                    self.waiting.remove(token)
                    del self.shown[token]
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
        self.sent = 0

    @terminal
    def over(self) -> bool:
        return self.scheduler.over()

    # Safety.

    def open(self) -> frozenset[ChannelId]:
        return frozenset(self.pool - self.closed)

    @step_property
    def first_come_first_served(self, after: "Messaging") -> bool:
        """No sender is offered a channel that an earlier one has not been offered (R16, R26)."""
        match after.callback:
            case Offer(token=token, channels=channels) if self.callback is None:
                return token in self.waiting and all(
                    channels <= self.shown[t] for t in self.waiting[: self.waiting.index(token)]
                )
            case _:
                return True

    @step_property
    def offers_differ(self, after: "Messaging") -> bool:
        """Each offer has a channel that the sender was not offered since it opened (R27, R35)."""
        match after.callback:
            case Offer(token=token, channels=channels) if self.callback is None:
                return token in self.waiting and not channels <= self.shown[token]
            case _:
                return True

    @step_property
    def all_that_is_open_is_offered(self, after: "Messaging") -> bool:
        """Channels of peers that are connected, no closed ones, and all of them (R18, R24)."""
        match after.callback:
            case Offer(channels=channels) if self.callback is None:
                return channels == self.open()
            case _:
                return True

    @step_property
    def one_each_while_several_wait(self, after: "Messaging") -> bool:
        """M is 1 while several senders wait, else N (R24, R25, R-B8)."""
        match after.callback:
            case Offer(channels=channels, size=size) if self.callback is None:
                return size == (1 if len(self.waiting) > 1 else len(channels))
            case _:
                return True

    @step_property
    def sent_as_offered(self, after: "Messaging") -> bool:
        """On channels that are open, of peers that have not left, no more than the size (R4, R6,
        R18, R19)."""
        if after.sent <= self.sent:
            return True
        match self.callback:
            case Offer(channels=channels, size=size):
                usable = self.open() & channels
                return after.sent <= size and any(c in after.closed for c in usable)
            case _:
                return False

    @step_property
    def told_what_happened(self, after: "Messaging") -> bool:
        """A receiver is told the answer to its own request, of its peer and type, or why there is
        none, once, in the order of what has happened (R3, R23, R28, R30, R38)."""
        match after.callback:
            case Success() | Failure() as result if self.callback is None:
                return len(self.due) > 0 and result == self.due[0]
            case _:
                return True

    @step_property
    def discarded_after_stop(self, after: "Messaging") -> bool:
        """Only then, in their order, and each once (R29, R30, R32)."""
        match after.callback:
            case Discard(token=token) if self.callback is None:
                return self.stopped and len(self.waiting) > 0 and token == self.waiting[0]
            case _:
                return True

    @step_property
    def nobody_is_offered_anything_after_stop(self, after: "Messaging") -> bool:
        """And nothing is sent (R32)."""
        return not self.stopped or (
            after.sent <= self.sent and len(after.waiting) <= len(self.waiting)
        )

    @invariant
    def nobody_is_told_wrong(self) -> bool:
        """A sender is accepted exactly until `stop`; what waits, and only that, is returned to a
        withdrawer; exactly requests have numbers, each its own (R3, R16, R20, R30, R32)."""
        return not self.wrong

    @invariant
    def who_waits_is_called(self) -> bool:
        """If nobody is called, nobody waits for what there is (R7, R10, S13)."""
        return not self.missed

    def nobody_waits(self) -> bool:
        """For a callback that is due."""
        seen = all(self.open() <= self.shown[t] for t in self.waiting)
        return len(self.due) == 0 and (len(self.waiting) == 0 if self.stopped else seen)

    scope = Scope(
        {
            "ChannelId.number": range(0, 1),
            "connect.channels": range(1, 2),
            "send.timeout": range(1, 2),
        },
        Nat=range(0, 3),
        Peer=2,
        Type=1,
        Token=1,
        Body=1,
        waiting=2,
        queue=2,
        results=2,
        due=2,
    )


class MessagingFixed(Messaging):
    """The scheduler as a service embeds it."""
