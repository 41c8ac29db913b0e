"""Message scheduler, composed: what it promises to peers, senders and receivers.

Source: `message-scheduler.md`, as in `declaration.py`. `surroundings.py` has the steps: a
`Scheduler` as a service embeds it, peers, senders, receivers, and an observer. The properties speak
of what the observer sees, and of which events the scheduler refuses.

Abstractions. A message has no content beside the type of the response that it asks for. In
`MessagingFixed` the time of a message may be over at any moment; `MessagingInTime` counts ticks.
A number that is free again may be given again, when no answer to its last request is on the way any
more: what comes from its peer, with its type, is its answer.
"""

from lawful import (
    Clock,
    Expect,
    Fairness,
    Nat,
    Scope,
    Strong,
    Weak,
    can,
    invariant,
    leads_to,
    reachable,
    step_property,
    transition,
)

from .declaration import (
    Body,
    ChannelId,
    Discard,
    Failure,
    Offer,
    Peer,
    Success,
    Token,
    Type,
)
from .surroundings import Surroundings


class Messaging(Surroundings, abstract=True):
    """The promises."""

    @step_property
    def first_come_first_served(self, after: "Messaging") -> bool:
        """No sender is offered a channel that an earlier one, no less urgent, has not been offered
        (R16, R26)."""
        match after.callback:
            case Offer(token=token, channels=channels) if self.callback is None:
                return token in self.waiting and all(
                    channels <= self.shown[t] or self.urgency[t] < self.urgency[token]
                    for t in self.waiting[: self.waiting.index(token)]
                )
            case _:
                return True

    @step_property
    def the_urgent_go_first(self, after: "Messaging") -> bool:
        """No sender is offered a channel that a more urgent one has not been offered, unless this
        would overtake one that may not be overtaken any more (R16, R24)."""
        match after.callback:
            case Offer(token=token, channels=channels) if self.callback is None:
                return token in self.waiting and all(
                    channels <= self.shown[t]
                    or self.urgency[t] <= self.urgency[token]
                    or self.is_held_back(t, channels)
                    for t in self.waiting
                )
            case _:
                return True

    def is_held_back(self, token: Token, channels: frozenset[ChannelId]) -> bool:
        """Whether one waits for such channels that came earlier, and was overtaken often enough."""
        return any(
            self.overtaken[t] >= self.scheduler.patience and not channels <= self.shown[t]
            for t in self.waiting[: self.waiting.index(token)]
        )

    @invariant
    def nobody_is_overtaken_too_often(self) -> bool:
        """However many urgent senders come (R7, R24, R-B11)."""
        return all(self.overtaken[t] <= self.scheduler.patience for t in self.waiting)

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
        """Each frame goes to a channel of the offer that is open, of a peer that has not left, and
        closes it; there are no more than the offer's size (R4, R6, R18, R19)."""
        return after.sent <= self.sent or (
            any(c in after.closed for c in self.usable & self.open()) and self.sent < self.size()
        )

    def size(self) -> Nat:
        match self.callback:
            case Offer(size=size):
                return size
            case _:
                return 0

    @invariant
    def offers_can_be_used(self) -> bool:
        """During `onOffer`, the channels that it has not closed, up to the size; at no other time
        any (R18, R19, R34)."""
        return all(
            can(self.scheduler.send_notification, c, 1)
            == (c in self.usable and self.sent < self.size())
            and can(self.scheduler.skip, c) == (c in self.usable)
            and not can(self.scheduler.send_notification, c, 0)
            and all(
                can(self.scheduler.send_request, c, t, 1)
                == (c in self.usable and self.sent < self.size() and self.has_a_number())
                for t in Type
            )
            for c in self.pool
        )

    def has_a_number(self) -> bool:
        """Some number is neither outstanding nor about to be told."""
        return any(
            self.is_free(n) for n in range(self.scheduler.least, self.scheduler.greatest + 1)
        )

    @invariant
    def who_comes_is_accepted(self) -> bool:
        """Until `stop`, which comes once, any peer that is not connected; any sender that does not
        wait (R4, R9, R16, R32)."""
        return (
            can(self.scheduler.stop) == (not self.stopped)
            and all(
                can(self.scheduler.connect, p, 1)
                == (not self.stopped and all(c.peer != p for c in self.pool))
                for p in Peer
            )
            and all(
                can(self.scheduler.schedule, t, 0) == (t not in self.waiting)
                for t in Token
                if t in self.waiting or not self.is_offered(t)
            )
        )

    @invariant
    def time_is_over_for_what_is_closed(self) -> bool:
        """Each message has a timeout, until its channel opens again, or `stop` (R11, R21)."""
        return all(
            can(self.scheduler.expire, c) == (c in self.closed and not self.stopped)
            for c in self.pool
        )

    @invariant
    def one_callback_at_a_time(self) -> bool:
        """The next one is called after this one has returned (R38)."""
        return can(self.scheduler.call) == (self.callback is None) and can(
            self.scheduler.returned
        ) == (self.callback is not None)

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
    def results_come_first(self, after: "Messaging") -> bool:
        """Nobody is offered channels, or discarded, while a receiver is to be called; `stop` fails
        receivers before it discards senders [seed:289-292] (R28, R32)."""
        match after.callback:
            case Offer() | Discard() if self.callback is None:
                return len(self.due) == 0
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
    def nothing_begins_after_stop(self, after: "Messaging") -> bool:
        """No peer connects, no sender is accepted or offered anything, nothing is sent (R32)."""
        return not self.stopped or (
            after.pool <= self.pool
            and after.sent <= self.sent
            and len(after.waiting) <= len(self.waiting)
            and (self.callback is not None or not isinstance(after.callback, Offer))
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

    scope = Scope(
        {
            "ChannelId.number": range(0, 1),
            "connect.channels": range(1, 2),
            "timeout": range(1, 2),
            "following": range(0, 4),
            "schedule.priority": range(0, 1),
        },
        Nat=range(0, 3),
        Peer=2,
        Type=2,
        Token=2,
        Body=1,
        waiting=2,
        queue=2,
        results=2,
        due=2,
    )


class MessagingFair(Messaging):
    """Callbacks return, threads come to call, and time passes: what happens in the end."""

    @leads_to
    def receivers_are_told(self, number: Nat) -> tuple[bool, bool]:
        """Bounded termination (R11, L1)."""
        waits = not self.is_free(number)
        return waits, not waits

    @leads_to
    def open_channels_are_offered(self, token: Token, channel: ChannelId) -> tuple[bool, bool]:
        """The sender that has waited longest is offered each open channel, however many urgent ones
        come (R7, R24, R27, R-B11, L2, S13). One that came later may wait as long as that one
        refuses what comes and goes."""
        unseen = (
            not self.stopped
            and len(self.waiting) > 0
            and token == self.waiting[0]
            and channel in self.open()
            and channel not in self.shown[token]
        )
        return unseen, not unseen

    @leads_to
    def all_is_over_after_stop(self) -> tuple[bool, bool]:
        """`stop` returns (R31, R32, L4)."""
        return self.stopped, self.over()

    fairness = Fairness(
        Weak("call"),
        Weak("returned"),
        Strong("expire", each=("channel",)),
    )
    scope = Scope(
        {
            "ChannelId.number": range(0, 1),
            "connect.channels": range(1, 2),
            "timeout": range(1, 2),
            "following": range(0, 4),
            "schedule.priority": range(0, 1),
        },
        Nat=range(0, 3),
        Peer=1,
        Type=1,
        Token=2,
        Body=1,
        waiting=2,
        queue=2,
        results=2,
        due=2,
    )


class MessagingOpen(Messaging):
    """What the scheduler takes at any time, and when all is over."""

    @invariant
    def what_comes_is_taken(self, peer: Peer, number: Nat, type: Type, body: Body) -> bool:
        """Any frame, also a late one; that a peer leaves; whoever is withdrawn: also in a callback
        and after `stop` (R3, R4, R10, R23, R30)."""
        return (
            can(self.scheduler.receive, peer, number, type, body)
            and can(self.scheduler.disconnect, peer)
            and all(can(self.scheduler.withdraw_sender, t) for t in Token)
            and can(self.scheduler.withdraw_receiver, number)
        )

    @invariant
    def all_is_over_when_everybody_is_told(self) -> bool:
        """After `stop`, and not before the last callback has returned (R31, R32)."""
        told = self.callback is None and len(self.due) + len(self.waiting) == 0
        return self.scheduler.over() == (self.stopped and told)

    scope = Scope(Peer=1, Type=1)


class MessagingFixed(Messaging):
    """The scheduler as a service embeds it."""

    @reachable
    def two_share(self) -> bool:
        """Two senders with a channel each (R7, R25)."""
        return len(self.asked) == 2 and len(self.waiting) == 0

    @reachable
    def one_takes_all(self) -> bool:
        """(R5)"""
        return self.sent == 2

    @reachable
    def refused_then_offered_another(self) -> bool:
        """(R12, R22, R27)"""
        match self.callback:
            case Offer(token=token, channels=channels):
                return token in self.waiting and len(channels) == 2 and len(self.closed) == 0
            case _:
                return False

    @reachable
    def offered_what_has_gone(self) -> bool:
        """The true size of an offer is smaller than it said, even zero (R34)."""
        match self.callback:
            case Offer(channels=channels):
                return not self.stopped and all(c not in self.pool for c in channels)
            case _:
                return False

    @reachable
    def scheduled_in_a_callback(self) -> bool:
        """(R23, R26, R40)"""
        match self.callback:
            case Offer(token=token):
                return len(self.waiting) > 0 and token not in self.waiting
            case _:
                return False

    # A peer with several channels.
    channels = Scope(
        {"ChannelId.number": range(0, 2), "connect.channels": range(1, 3)}, Peer=1, Type=1
    )
    # Three senders wait for one channel.
    senders = Scope(
        Peer=1,
        Type=1,
        Token=3,
        waiting=3,
        queue=3,
        expects=Expect(
            two_share="unknown", one_takes_all="unknown", refused_then_offered_another="unknown"
        ),
    )


class MessagingInTime(Messaging):
    """With the time of each message in ticks: it is over when it is over (R11, R21)."""

    clock: Clock = Clock()
    deadline: dict[ChannelId, Nat] = {}

    @transition()
    def send_request(self, channel: ChannelId, type: Type, timeout: Nat) -> None:
        super().send_request(channel, type, timeout)
        self.deadline[channel] = self.clock.now + timeout

    @transition()
    def send_notification(self, channel: ChannelId, timeout: Nat) -> None:
        super().send_notification(channel, timeout)
        self.deadline[channel] = self.clock.now + timeout

    @invariant
    def time_is_over_for_what_is_closed(self) -> bool:
        """Until its deadline no message fails for want of an answer; from then on each does."""
        return all(
            can(self.scheduler.expire, c)
            == (c in self.closed and not self.stopped and self.clock.now >= self.deadline[c])
            for c in self.pool
        )

    scope = Scope(
        {
            "ChannelId.number": range(0, 1),
            "connect.channels": range(1, 2),
            "timeout": range(1, 3),
            "receive.number": range(0, 3),
            "withdraw_receiver.number": range(0, 3),
            "schedule.priority": range(0, 1),
        },
        clock=range(0, 4),
        Nat=range(0, 6),
        Peer=1,
        Type=1,
        Token=1,
        Body=1,
        waiting=1,
        queue=1,
        results=1,
        due=1,
    )
    # Two channels of a peer are closed at once: each has its own time.
    channels = Scope(
        {"ChannelId.number": range(0, 2), "connect.channels": range(2, 3)},
        clock=range(0, 3),
        results=2,
        due=2,
    )
    # A peer connects while a channel of another one is closed.
    peers = Scope(Peer=2, clock=range(0, 3), results=2, due=2)
