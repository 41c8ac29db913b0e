"""Message scheduler: one message to a peer, from the sender that waits to the last callback.

Source: the design document `message-scheduler.md` (rippled). `[seed:151]` is its line 151, `R16`
the number of a demand, `R-B1` of a defect that its text allows. A dependent schedules a sender,
which is offered channels until it sends a message on one. After a request, a receiver waits for the
response. None of these machines does I/O: an event returns what its caller must send, or whom it
must call. This file declares the repaired design; `as_seed.py` restores the document's text where
it goes wrong.

Abstractions. A sender has one message: to send more, a dependent schedules another sender (R22,
R26), or has a machine for each of them. So the offer's size M, of which a sender uses one, is left
out. The sender decides late (R9), and outside this machine, about the message's content, the
channels it prefers, and the peers it has tried before (R12). The scheduler knows which channels are
open, and whose turn it is; a sender knows its place in the queue, a number that grows with each
arrival. A callback is one step with the scheduler's work around it; what the callback itself does
follows as separate events: `inside` a callback, `schedule` defers (R40). A timer runs out at any
moment; times are in the unit of the instance's clock. The channel of a withdrawn request reopens
when its time is over, even if the response arrives before.
"""

from enum import Enum
from typing import Annotated

from lawful import (
    Ghost,
    Machine,
    Nat,
    Opaque,
    Param,
    Record,
    Scope,
    State,
    Timer,
    event,
    ignore,
    implies,
    invariant,
    needed,
    reachable,
    recoverable,
    require,
    step_property,
    terminal,
    transition,
)

from .channel import ChannelId, Peer

Body = Annotated[bytes, Opaque("Body")]


class Reason(Enum):
    """Why a request failed [seed:203-204,289-290] (R23, R32)."""

    TIMEOUT = "timeout"
    DISCONNECT = "disconnect"
    SHUTDOWN = "shutdown"


class Frame(Record):
    """Send this through the channel: the message, and for a request its number."""

    channel: ChannelId
    request: Nat | None


class Discard(Record):
    """Call the sender's onDiscard [seed:250-252] (R29)."""


class Success(Record):
    """Call the receiver's onSuccess [seed:252-253,258] (R28, R29); the channel is open again."""

    request: Nat
    body: Body
    reopened: ChannelId


class Failure(Record):
    """Call the receiver's onFailure; the channel is open again unless its peer has left."""

    request: Nat
    reason: Reason
    reopened: ChannelId | None


class Stage(State):
    """How far a message is, with its sender and receiver."""

    IDLE = "its sender is not scheduled"
    DEFERRED = "scheduled inside a callback, to be queued when that returns"
    WAITING = "its sender is in the queue"
    OFFERED = "its sender considers an offer"
    SENT = "it is sent, and its channel closed"
    SUCCEEDED = "answered, or digested"
    FAILED = "not answered"
    DISCARDED = "the scheduler is stopping"
    WITHDRAWN = "returned to a withdrawer"


ASLEEP = (Stage.IDLE, Stage.SUCCEEDED, Stage.FAILED)
AWAKE = (Stage.DEFERRED, Stage.WAITING, Stage.OFFERED)


class Message(Machine, abstract=True):
    """A sender, its place in the queue, and the offers made to it (R15, R16)."""

    state: Stage = Stage.IDLE
    place: Nat = 0
    offered: set[ChannelId] = set()
    refused: set[ChannelId] = set()
    channel: ChannelId | None = None
    timer: Timer = Timer()
    stopped: bool = False
    sender_called: Ghost[Nat] = 0

    timeout: Param[Nat]

    # Scheduling.

    @event
    def schedule(self, place: Nat, inside: bool) -> bool:
        """Return whether the sender is accepted [seed:151]."""
        raise NotImplementedError

    @transition(source=ASLEEP, target=Stage.WAITING, event="schedule")
    def enqueue(self, place: Nat, inside: bool) -> bool:
        """Add a sender to the queue, by arrival [seed:151-154] (R16): also after a callback
        [seed:205] (R23), or to send more [seed:197-199,226-232] (R22, R26)."""
        require(not inside, "a callback holds a lock")
        require(not self.stopped, "the scheduler has stopped")
        self.arrive(place)
        return True

    @transition(source=ASLEEP, target=Stage.DEFERRED, event="schedule")
    def defer(self, place: Nat, inside: bool) -> bool:
        """A thread-local records that this thread owns a lock [seed:343-350] (R40)."""
        require(inside, "no callback holds a lock")
        require(not self.stopped, "the scheduler has stopped")
        self.arrive(place)
        return True

    @transition(source=ASLEEP, event="schedule")
    def turn_away(self, place: Nat, inside: bool) -> bool:
        """After `stop` no sender is accepted [seed:292] (R32)."""
        require(self.stopped, "the scheduler has not stopped")
        return False

    def arrive(self, place: Nat) -> None:
        require(place > self.place, "places are given out in order")
        self.place = place
        self.channel = None
        self.sender_called = 0

    @transition(source=Stage.DEFERRED, target=Stage.WAITING)
    def negotiate(self) -> None:
        """The callback has returned, and its lock is released: now the offers are locked."""

    # Offers.

    @transition(source=Stage.WAITING, target=Stage.OFFERED)
    def offer(self, channels: frozenset[ChannelId]) -> None:
        """Call onOffer with the open channels [seed:166-170] (R18): never with none [seed:308]
        (R35), and never only with those that it left open before [seed:234-240] (R27, R-B6)."""
        require(any(c not in self.refused for c in channels), "it has seen all of these")
        self.offered = set(channels)

    @transition(source=Stage.OFFERED)
    def skip(self, channel: ChannelId) -> None:
        """Its peer cannot be locked any more: silently remove it from the offer [seed:303-307]
        (R34)."""
        require(channel in self.offered, "is not offered")
        self.offered.discard(channel)

    @transition(source=Stage.OFFERED, target=Stage.WAITING)
    def refuse_all(self) -> None:
        """It closed no channel: it keeps its place [seed:195-196,236-237] (R22, R27)."""
        self.refused = set(self.offered)
        self.offered.clear()

    @transition(source=Stage.WAITING)
    def taken(self, channel: ChannelId) -> None:
        """Another sender closes a channel that this one left open: when it reopens, it counts as
        new."""
        require(channel in self.refused, "was not refused")
        self.refused.discard(channel)

    def close(self, channel: ChannelId) -> None:
        """Send the message, with a timeout [seed:171-177,187] (R18, R19, R21); having closed a
        channel, the sender leaves the queue [seed:194] (R22)."""
        require(channel in self.offered, "is not offered")
        self.channel = channel
        self.offered.clear()
        self.refused.clear()
        self.timer.start(self.timeout)
        self.sender_called += 1

    # The end.

    @transition(source=(Stage.DEFERRED, Stage.WAITING), target=Stage.WITHDRAWN)
    def withdraw_sender(self) -> None:
        """Return it, do not only discard it [seed:269-277] (R30); a footnote says "not yet"."""
        self.refused.clear()

    @event
    def stop(self) -> Discard | Failure | None: ...

    @transition(source=(Stage.DEFERRED, Stage.WAITING), target=Stage.DISCARDED, event="stop")
    def discard(self) -> Discard | Failure | None:
        """Discard all waiting senders [seed:291] (R32), also those that callbacks scheduled
        (R-B1)."""
        self.stopped = True
        self.refused.clear()
        self.sender_called += 1
        return Discard()

    @transition(source=(*ASLEEP, Stage.WITHDRAWN), event="stop")
    def stop_asleep(self) -> Discard | Failure | None:
        """This sender does not wait."""
        require(not self.stopped, "the scheduler has stopped")
        self.stopped = True
        self.timer.stop()
        return None

    @terminal
    def over(self) -> bool:
        return self.stopped or self.state == Stage.WITHDRAWN

    @invariant
    def channel_is_that_of_the_message(self) -> bool:
        """Set when the message is sent, until its sender is scheduled again."""
        sent = self.state in (Stage.SENT, Stage.SUCCEEDED, Stage.FAILED)
        unsent = self.state in AWAKE or self.state in (Stage.IDLE, Stage.DISCARDED)
        return implies(sent, self.channel is not None) and implies(unsent, self.channel is None)

    @invariant
    def sender_is_called_once(self) -> bool:
        """It sends or is discarded, at most one of these, once (R30); an offer of which it closed
        no channel does not count (R-B4)."""
        called = self.channel is not None or self.state == Stage.DISCARDED
        return self.sender_called == (1 if called else 0)

    @invariant
    def nobody_waits_once_stopped(self) -> bool:
        """After `stop`, no callback is called any more (R32)."""
        return not (self.stopped and (self.state in AWAKE or self.state == Stage.SENT))

    @invariant
    def offers_are_considered_at_once(self) -> bool:
        """Only during onOffer is there an offer; a sender that does not wait has refused
        nothing."""
        return implies(self.state != Stage.OFFERED, self.offered == set()) and implies(
            self.state not in (Stage.WAITING, Stage.OFFERED), self.refused == set()
        )

    @invariant
    def has_a_time(self) -> bool:
        """While its channel is closed, every message has a timeout (R11, R21)."""
        sent = self.state == Stage.SENT
        closed = sent or self.state == Stage.WITHDRAWN
        return implies(sent, self.timer.armed) and implies(self.timer.armed, closed)

    @step_property
    def keeps_its_place(self, after: "Message") -> bool:
        """While it waits (R27); if it is scheduled again, it gets a place behind (R26)."""
        if self.state in AWAKE:
            return after.place == self.place
        return after.place >= self.place

    @step_property
    def offers_differ(self, after: "Message") -> bool:
        """Each offer contains a channel that the last one had not, or that was closed since
        (R27)."""
        made = self.state == Stage.WAITING and after.state == Stage.OFFERED
        return implies(made, any(c not in self.refused for c in after.offered))

    @step_property
    def sends_on_what_is_offered(self, after: "Message") -> bool:
        """One message, through a channel of the offer (R18, R19)."""
        if self.state == Stage.SENT or after.state != Stage.SENT:
            return True
        return after.channel is not None and after.channel in self.offered

    @recoverable
    def comes_to_an_end(self) -> bool:
        """A waiting sender can be served, discarded or withdrawn: bounded termination (R11)."""
        return self.state not in AWAKE and self.state != Stage.SENT

    @reachable
    def refuses_and_sends_later(self) -> bool:
        return self.state == Stage.OFFERED and any(c in self.refused for c in self.offered)

    @reachable
    def the_offer_is_of_the_dead(self) -> bool:
        """Its true size is smaller than at first, even zero (R34)."""
        return self.state == Stage.OFFERED and self.offered == set()


class Request(Message, abstract=True):
    """A message that expects a response; the receiver waits for it [seed:179-185] (R20)."""

    request: Nat = 0
    receiver_called: Ghost[Nat] = 0

    @transition(source=Stage.OFFERED, target=Stage.SENT)
    def send(self, channel: ChannelId, request: Nat) -> Frame:
        """Through one of the offered channels; the scheduler assigns the number (R3)."""
        self.close(channel)
        self.request = request
        self.receiver_called = 0
        return Frame(channel, request)

    @transition(source=Stage.SENT, target=Stage.SUCCEEDED)
    def receive(self, peer: Peer, request: Nat, body: Body) -> Success | None:
        """The response arrives, with the request's number [seed:201-202,258-259] (R3, R10, R23)."""
        channel = needed(self.channel, "nothing was sent")
        require(request == self.request, "answers another request")
        require(peer == channel.peer, "comes from another peer")
        self.timer.stop()
        self.receiver_called += 1
        return Success(request, body, channel)

    stray = ignore("receive", otherwise=True, because="late, or of another request or peer")

    @transition(source=Stage.SENT, target=Stage.FAILED, timer="timer")
    def expire(self) -> Failure:
        """The response is considered missing [seed:188-189,203-204] (R11, R21, R23)."""
        channel = needed(self.channel, "nothing was sent")
        self.receiver_called += 1
        return Failure(self.request, Reason.TIMEOUT, channel)

    @transition(source=Stage.SENT, target=Stage.FAILED)
    def disconnect(self, peer: Peer) -> Failure | None:
        """Its peer disconnects before it answers [seed:203-204] (R4, R23)."""
        channel = needed(self.channel, "nothing was sent")
        require(peer == channel.peer, "another peer")
        self.timer.stop()
        self.receiver_called += 1
        return Failure(self.request, Reason.DISCONNECT, None)

    unconcerned = ignore("disconnect", otherwise=True, because="nothing is sent to that peer")

    @transition(source=Stage.SENT, target=Stage.WITHDRAWN)
    def withdraw_receiver(self) -> None:
        """Return it [seed:269-277] (R30). Its peer still has the request, and the channel stays
        closed."""

    @transition(source=Stage.WITHDRAWN, timer="timer")
    def release(self) -> ChannelId:
        """The peer's time is over: the channel is open again (R21)."""
        return needed(self.channel, "nothing was sent")

    @transition(source=Stage.SENT, target=Stage.FAILED, event="stop")
    def shut_down(self) -> Discard | Failure | None:
        """Immediately fail all waiting receivers [seed:289-290] (R32)."""
        self.stopped = True
        self.timer.stop()
        self.receiver_called += 1
        return Failure(self.request, Reason.SHUTDOWN, None)

    @invariant
    def receiver_is_called_once(self) -> bool:
        """Success or failure, once, unless it is withdrawn (R23, R30)."""
        ended = self.state in (Stage.SUCCEEDED, Stage.FAILED)
        waits = self.state in (Stage.SENT, Stage.WITHDRAWN)
        return implies(ended, self.receiver_called == 1) and implies(
            waits and self.channel is not None, self.receiver_called == 0
        )

    @reachable
    def tries_again(self) -> bool:
        return self.state == Stage.WAITING and self.receiver_called == 1

    @reachable
    def shuts_down_in_flight(self) -> bool:
        return self.state == Stage.FAILED and self.stopped and self.receiver_called == 1

    scope = Scope({"ChannelId.number": range(0, 2)}, Nat=range(0, 3), Peer=2, Body=1, timeout=(2,))


class RequestFixed(Request):
    """`stop` reaches it wherever it waits, and each offer to it is new."""


class Notification(Message):
    """A message that expects no response; it has no receiver [seed:181-182] (R20)."""

    @transition(source=Stage.OFFERED, target=Stage.SENT)
    def send(self, channel: ChannelId) -> Frame:
        """Through one of the channels offered."""
        self.close(channel)
        return Frame(channel, None)

    @transition(source=Stage.SENT, target=Stage.SUCCEEDED, timer="timer")
    def digest(self) -> ChannelId:
        """The peer has had time to digest it, which limits the rate [seed:190-192] (R6, R21)."""
        return needed(self.channel, "nothing was sent")

    @transition(source=Stage.SENT, target=Stage.FAILED)
    def disconnect(self, peer: Peer) -> None:
        """The channel is gone with its peer (R4)."""
        channel = needed(self.channel, "nothing was sent")
        require(peer == channel.peer, "another peer")
        self.timer.stop()

    unconcerned = ignore("disconnect", otherwise=True, because="nothing is sent to that peer")

    @transition(source=Stage.SENT, target=Stage.FAILED, event="stop")
    def cut_short(self) -> Discard | Failure | None:
        """No callback is called: there is no receiver (R32)."""
        self.stopped = True
        self.timer.stop()
        return None

    scope = Scope({"ChannelId.number": range(0, 2)}, Nat=range(0, 3), Peer=2, timeout=(2,))
