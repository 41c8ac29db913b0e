"""Message scheduler: the broker between all that send messages and all peers.

Source: the design document `message-scheduler.md` (rippled). `[seed:151]` is its line 151, `R16`
the number of a demand, `R-B1` of a defect that its text allows. This file declares the repaired
design, which a service embeds; `as_seed.py` restores the document's text where it goes wrong.

`Scheduler` does no I/O, and calls nobody. Its caller holds one lock during each event, sends the
frames that `send` returns, and calls the callbacks that `call` returns, without the lock:

1. After each event: while `call()` returns a callback, release the lock, call it, take the lock,
   `returned()`. While a callback runs, `call` is refused: its thread goes on with the next one.
2. After `stop()`: do so until `over()`.

A sender is known by its *token*, one for each time that it is scheduled; a receiver by the number
of its request. What a callback does (send, schedule, withdraw, stop) are events like any other.

Priorities and ageing: the document leaves room for them, and asks that nobody hogs the channels
[seed:151-154,212-219]. A more urgent sender goes before less urgent ones that came earlier, and so
*overtakes* each of them that was not offered the same channels. Nobody is overtaken more than
`patience` times. With a patience of 0 all are served first come, first served.
"""

from enum import Enum
from typing import Annotated

from lawful import (
    Machine,
    Nat,
    Opaque,
    Param,
    Record,
    Scope,
    Sort,
    State,
    Timer,
    assume,
    ignore,
    implies,
    invariant,
    needed,
    require,
    terminal,
    transition,
)

Body = Annotated[bytes, Opaque("Body")]


class Peer(Sort):
    """A connection to another server [seed:130] (R12): one that connects again is another."""


class Type(Sort):
    """The type of a response [seed:28-31] (R3, R-B7)."""


class Token(Sort):
    """A sender that is scheduled [seed:137,151] (R15); scheduled again, it has another token."""


class ChannelId(Record):
    """Each peer has one or more channels; numbers may differ [seed:130-131] (R13)."""

    peer: Peer
    number: Nat


class Request(Record):
    """What a receiver waits for: a response of this type, through this channel."""

    channel: ChannelId
    type: Type


class Frame(Record):
    """Send this through the channel: the message, and for a request its number."""

    channel: ChannelId
    request: Nat | None


class Reason(Enum):
    """Why a request failed [seed:203-204,289-290] (R23, R32)."""

    TIMEOUT = "timeout"
    DISCONNECT = "disconnect"
    SHUTDOWN = "shutdown"


class Offer(Record):
    """Call the sender's onOffer with the open channels, of which it may close `size` [seed:166-170]
    (R18, R29)."""

    token: Token
    channels: frozenset[ChannelId]
    size: Nat


class Discard(Record):
    """Call the sender's onDiscard [seed:250-252] (R29)."""

    token: Token


class Success(Record):
    """Call the receiver's onSuccess [seed:252-253,258] (R28, R29)."""

    request: Nat
    body: Body


class Failure(Record):
    """Call the receiver's onFailure (R28, R29)."""

    request: Nat
    reason: Reason


Call = Offer | Discard | Success | Failure


class Life(State):
    """Whether the scheduler accepts senders and receivers."""

    RUNNING = "accepts senders"
    STOPPED = "accepts none, and tells those that wait"


class Scheduler(Machine):
    """A queue of senders, a pool of channels, a table of requests; the callbacks to be called."""

    state: Life = Life.RUNNING
    channels: dict[ChannelId, Timer] = {}  # A channel is closed while its timer runs.
    queue: list[Token] = []  # By arrival.
    priority: dict[Token, Nat] = {}  # If not 0; a greater one is more urgent.
    overtaken: dict[Token, Nat] = {}  # If not 0: how many offers have gone to later senders first.
    seen: dict[Token, set[ChannelId]] = {}  # Of what it was offered, what has stayed open since.
    requests: dict[Nat, Request] = {}
    results: list[Success | Failure] = []
    calling: bool = False
    offering: Token | None = None
    left: Nat = 0  # How many channels the sender may still close.
    following: Nat = 0

    least: Param[Nat] = 0x1000000
    greatest: Param[Nat] = 0xFFFFFFFF
    patience: Param[Nat] = 0  # How often a sender may be overtaken.

    @assume
    def there_are_numbers(self) -> bool:
        return 0 < self.least <= self.greatest

    # Peers.

    @transition(source=Life.RUNNING)
    def connect(self, peer: Peer, channels: Nat) -> None:
        """Its channels are open [seed:130-136] (R4, R5, R13, R14)."""
        require(all(c.peer != peer for c in self.channels), "is connected")
        for number in range(channels):
            self.channels[ChannelId(peer, number)] = Timer()

    @transition()
    def disconnect(self, peer: Peer) -> None:
        """Its requests fail at once, in an order that the document leaves open, here that of their
        numbers; and its channels are gone [seed:203-204] (R4, R23, R-B2)."""
        for n in sorted(self.requests):
            if self.requests[n].channel.peer == peer:
                self.fail(n, Reason.DISCONNECT)
        gone = {c for c in self.channels if c.peer == peer}
        for c in gone:
            del self.channels[c]
        for token in self.seen:
            self.seen[token] -= gone

    # Senders.

    @transition()
    def schedule(self, token: Token, priority: Nat = 0) -> bool:
        """Return whether the sender is accepted: at the end of the queue, by arrival
        [seed:151-154,197-199,226-232] (R9, R16, R22, R26), not after `stop` [seed:292] (R32). A
        callback may call this, too [seed:205,343-350] (R23, R40)."""
        require(token not in self.seen, "waits already")
        if self.state == Life.STOPPED:
            return False
        self.queue.append(token)
        self.seen[token] = set()
        if priority > 0:
            self.priority[token] = priority
        return True

    def leave_queue(self, token: Token) -> None:
        self.queue.remove(token)
        self.priority.pop(token, None)
        self.overtaken.pop(token, None)

    @transition()
    def withdraw_sender(self, token: Token) -> bool:
        """Return whether the sender is returned [seed:269-277] (R30): it has waited, or considers
        an offer of which it has closed none. Else it was called, or is not scheduled."""
        if token not in self.queue:
            return False
        self.leave_queue(token)
        del self.seen[token]
        if self.offering == token:
            self.end_offer()
        return True

    # Offers.

    @transition()
    def call(self) -> Call | None:
        """The callback to be called next, if there is any: what has happened, in its order, then
        offers (R29, R38). One callback at a time."""
        require(not self.calling, "a callback runs")
        callback = self.next_callback()
        self.calling = callback is not None
        return callback

    def next_callback(self) -> Call | None:
        if len(self.results) > 0:
            return self.results.pop(0)
        if len(self.queue) == 0:
            return None
        if self.state == Life.RUNNING:
            return self.next_offer()
        token = self.queue[0]
        self.leave_queue(token)
        del self.seen[token]
        return Discard(token)

    def next_offer(self) -> Offer | None:
        """To a sender that has not seen all open channels [seed:166-170,234-240] (R8, R24, R27,
        R35, R-B6); it may close one while several wait, else all [seed:223-224] (R25, R-B8)."""
        channels = self.open()
        unseen = [t for t in self.queue if not channels <= self.seen[t]]
        if len(unseen) == 0:
            return None
        token = self.next_sender(unseen)
        self.seen[token] = set(channels)
        self.offering = token
        self.left = 1 if len(self.queue) > 1 else len(channels)
        return Offer(token, channels, self.left)

    def next_sender(self, unseen: list[Token]) -> Token:
        """The most urgent one, of equals the first, among those up to the first that may not be
        overtaken any more; it overtakes those before it [seed:151-154,212-219] (R16, R24, R26,
        R-B11)."""
        token = unseen[0]
        for each in unseen:
            if self.priority.get(each, 0) > self.priority.get(token, 0):
                token = each
            if self.overtaken.get(each, 0) >= self.patience:
                break
        for earlier in unseen[: unseen.index(token)]:
            self.overtaken[earlier] = self.overtaken.get(earlier, 0) + 1
        return token

    def open(self) -> frozenset[ChannelId]:
        """The pool."""
        return frozenset(c for c, timer in self.channels.items() if not timer.armed)

    @transition()
    def send_request(self, channel: ChannelId, type: Type, timeout: Nat) -> Frame:
        """On a channel of the offer; a receiver waits for a response of this type [seed:179-185]
        (R3, R15, R20)."""
        self.close(channel, timeout)
        number = self.next_number()
        self.requests[number] = Request(channel, type)
        return Frame(channel, number)

    @transition()
    def send_notification(self, channel: ChannelId, timeout: Nat) -> Frame:
        """On a channel of the offer; it has no receiver [seed:181-182] (R15, R20)."""
        self.close(channel, timeout)
        return Frame(channel, None)

    def close(self, channel: ChannelId, timeout: Nat) -> None:
        """Close a channel of the offer, for so many seconds [seed:171-177,187] (R18, R19, R21).
        The sender has closed one, and leaves the queue [seed:194] (R22)."""
        token = needed(self.offering, "no offer is considered")
        require(self.is_offered(channel), "is not offered")
        require(self.left > 0, "the offer is exhausted")
        require(timeout > 0, "a message has a time")
        if token in self.queue:
            self.leave_queue(token)
        self.left -= 1
        self.channels[channel].start(timeout)
        for each in self.seen:
            self.seen[each].discard(channel)

    def is_offered(self, channel: ChannelId) -> bool:
        """Whether the sender that considers an offer could close this channel, or skip it."""
        token = self.offering
        return token is not None and channel in self.seen[token]

    def end_offer(self) -> None:
        self.offering = None
        self.left = 0

    def next_number(self) -> Nat:
        """They go round, and skip those whose receiver still waits (R3, R-B10)."""
        start = max(self.following, self.least)
        number = next((n for n in range(start, self.greatest + 1) if self.is_free(n)), None)
        if number is None:
            number = next((n for n in range(self.least, start) if self.is_free(n)), None)
        given = needed(number, "all numbers are outstanding")
        self.following = given + 1
        return given

    def is_free(self, number: Nat) -> bool:
        return number not in self.requests and all(r.request != number for r in self.results)

    @transition()
    def skip(self, channel: ChannelId) -> None:
        """The sender finds its peer destroyed: silently remove it from the offer and from the pool
        [seed:303-307] (R33, R34, R36)."""
        require(self.is_offered(channel), "is not offered")
        del self.channels[channel]
        for each in self.seen:
            self.seen[each].discard(channel)

    @transition()
    def returned(self) -> None:
        """The callback has returned. A sender that has closed no channel keeps its place
        [seed:195-196,234-237] (R22, R27)."""
        require(self.calling, "no callback runs")
        self.calling = False
        self.end_offer()
        served = {t for t in self.seen if t not in self.queue}
        for token in served:
            del self.seen[token]

    # Receivers.

    @transition()
    def receive(self, peer: Peer, number: Nat, type: Type, body: Body) -> None:
        """The response to an outstanding request: of its number, from its peer, of its type
        [seed:28-31,107-109,201-202] (R3, R10, R23, R-B7)."""
        request = needed(self.requests.get(number), "no such request")
        require(request.channel.peer == peer, "comes from another peer")
        require(request.type == type, "is of another type")
        self.channels[request.channel].stop()
        del self.requests[number]
        self.results.append(Success(number, body))

    stray = ignore("receive", otherwise=True, because="late, or of another request, peer or type")

    @transition(timer="channels[channel]")
    def expire(self, channel: ChannelId) -> None:
        """The response is missing, or the notification digested [seed:187-192] (R6, R11, R21)."""
        for n in sorted(self.requests):
            if self.requests[n].channel == channel:
                self.fail(n, Reason.TIMEOUT)

    def fail(self, number: Nat, reason: Reason) -> None:
        del self.requests[number]
        self.results.append(Failure(number, reason))

    @transition()
    def withdraw_receiver(self, number: Nat) -> bool:
        """Return whether the receiver is returned [seed:269-277] (R30): it was not called yet. Its
        channel stays closed: the peer still has the request."""
        free = self.is_free(number)
        if number in self.requests:
            del self.requests[number]
        self.results = [r for r in self.results if r.request != number]
        return not free

    # The end.

    @transition(source=Life.RUNNING, target=Life.STOPPED)
    def stop(self) -> None:
        """Fail all receivers, discard all senders, accept none any more [seed:289-292] (R31, R32,
        R-B1)."""
        for n in sorted(self.requests):
            self.fail(n, Reason.SHUTDOWN)
        self.channels.clear()
        self.end_offer()

    @terminal
    def over(self) -> bool:
        """After `stop`: everybody is told, and nobody will be called."""
        return (
            self.state == Life.STOPPED
            and not self.calling
            and len(self.results) + len(self.queue) == 0
        )

    @invariant
    def an_offer_lets_close(self) -> bool:
        """Without one nobody may close a channel (R18)."""
        return implies(self.offering is None, self.left == 0)

    @invariant
    def requests_wait_at_closed_channels(self) -> bool:
        return all(
            r.channel in self.channels and self.channels[r.channel].armed
            for r in self.requests.values()
        )

    scope = Scope(
        {
            "ChannelId.number": range(0, 1),
            "connect.channels": range(1, 2),
            "timeout": range(1, 2),
            "following": range(0, 5),
            "schedule.priority": range(0, 2),
        },
        Nat=range(0, 4),
        Peer=2,
        Type=2,
        Token=2,
        Body=1,
        queue=2,
        results=2,
        least=(1,),
        greatest=(3,),
        patience=(1,),
    )
