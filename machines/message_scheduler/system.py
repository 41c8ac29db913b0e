"""Message scheduler, composed: peers with channels, clients with senders and receivers.

Source: `message-scheduler.md`, as in `declaration.py`. A client has one sender and one receiver, in
one `Request`. Peers connect, die, disconnect, answer, answer too late, or never. These steps are in
`steps.py`, the properties here. `rounds.py` declares what the scheduler does while it holds the
lock of the offers: how large an offer is, who is next, and that a round ends. `turns.py` declares
whose turn it is if senders have priorities; `locks.py` declares the locks.

Abstractions. `onOffer` is one step: the sender is shown all open channels, and sends on one of them
or on none. A receiver's callback is a step that begins and one that ends; senders scheduled in
between are deferred. Afterwards the channel returns to the pool, and deferred senders join the
queue, in a step of its own, which takes the other lock. Between the two, other threads may take
both locks: there `stop` and `disconnect` may come in between (R-B1, R-B2). A peer connects once.
The numbers of requests grow, and do not wrap (`numbers.py` has some that do). A sender's place in
the queue grows with each arrival, so that arrivals end after `most`. A peer may send any request
number that was given out.
"""

from lawful import (
    Fairness,
    Scope,
    Strong,
    Weak,
    invariant,
    leads_to,
    reachable,
    step_property,
)

from .channel import ChannelId, Gate
from .declaration import Stage
from .steps import Client, Steps


class Scheduler(Steps, abstract=True):
    """The scheduler with its properties: a pool of channels, a queue, a table of requests."""

    # What follows is auxiliary: proofs need it, exploration sees that it is true.

    @invariant
    def everything_is_known(self) -> bool:
        """Every client, peer, channel, place and number in use exists."""
        return (
            all(t in self.messages for t in Client)
            and all(c.peer in self.known and c.number <= 1 for c in self.channels)
            and self.left <= self.known
            and all(m.place <= self.arrivals for m in self.messages.values())
            and all(m.request <= self.numbers for m in self.messages.values())
        )

    @invariant
    def one_callback_at_a_time(self) -> bool:
        """Only the sender that considers an offer is called, or the receiver whose channel
        reopens."""
        return (
            (self.offering is None or self.calling is None)
            and (self.calling is None or self.reopening is not None)
            and (self.deferred == [] or not self.free())
            and all(
                (m.state == Stage.OFFERED) == (self.offering == t) and m.stopped == self.stopped
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
        """A message under way has a channel, which is closed unless its peer has left; so is the
        channel that reopens."""
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
        """A channel is closed for exactly one message (R6, R14, R19); after `stop`, for none."""
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
        """The pool has none of its channels, and no request waits for it (R4)."""
        return all(x.state == Gate.GONE for c, x in self.channels.items() if c.peer in self.left)

    @invariant
    def channels_of_the_living_stay(self) -> bool:
        """A peer that has not left keeps its number of channels, unless it is dead (S4; R13)."""
        return all(x.state != Gate.GONE for x in self.channels.values() if x.alive)

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
        """Exactly once; after `stop`, no sender is queued (R16, R32)."""
        return all(
            self.queue.count(t) == (1 if m.state in (Stage.WAITING, Stage.OFFERED) else 0)
            and self.deferred.count(t) == (1 if m.state == Stage.DEFERRED else 0)
            for t, m in self.messages.items()
        )

    @step_property
    def first_come_first_served(self, after: "Scheduler") -> bool:
        """No sender is offered a channel that an earlier one has not seen (R16)."""
        t = after.offering
        if t is None or self.offering is not None:
            return True
        before = self.queue[: self.queue.index(t)]
        return all(self.messages[u].refused >= after.messages[t].offered for u in before)

    @step_property
    def receivers_are_called_by_one_thread(self, after: "Scheduler") -> bool:
        """One callback at a time, unless its peer leaves or the scheduler stops (R38, S9)."""
        return after.stopped or all(
            m.receiver_called >= after.messages[t].receiver_called
            or after.calling == t
            or any(c.peer in after.left and c == m.channel for c in self.channels)
            for t, m in self.messages.items()
        )

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
        """A waiting sender sees each open channel (R7, R27, S13)."""
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
        """By another channel than the one that it left open."""
        return any(
            m.state == Stage.WAITING
            and any(c not in m.refused for c in self.open())
            and m.refused != set()
            for m in self.messages.values()
        )

    @reachable
    def answered_in_time(self) -> bool:
        return any(m.state == Stage.SUCCEEDED for m in self.messages.values())

    @reachable
    def answered_too_late(self) -> bool:
        return any(m.state == Stage.FAILED and not self.stopped for m in self.messages.values())

    @reachable
    def scheduled_in_a_callback(self) -> bool:
        return self.deferred != []

    @reachable
    def offered_the_dead_alone(self) -> bool:
        """An offer in which every channel is dead (R34)."""
        return any(m.state == Stage.OFFERED and m.offered == set() for m in self.messages.values())

    fairness = Fairness(
        Weak("return_from_callback"),
        Weak("negotiate"),
        Strong("expire", each=("t",)),
        Weak("offer", each=("t",)),
        Weak("send", "refuse", each=()),
    )
    scope = Scope(
        {"ChannelId.number": range(0, 2), "connect.channels": range(1, 3)},
        Nat=range(0, 4),
        Peer=1,
        Client=2,
        Body=1,
        queue=2,
        deferred=2,
        most=(2,),
    )


class SchedulerFixed(Scheduler):
    """Requests and channels repaired."""

    @reachable
    def a_sender_is_withdrawn(self) -> bool:
        return any(m.state == Stage.WITHDRAWN and m.channel is None for m in self.messages.values())

    @reachable
    def a_receiver_is_withdrawn(self) -> bool:
        """Before the response arrives (R30)."""
        return any(m.state == Stage.WITHDRAWN and m.timer.armed for m in self.messages.values())

    peers = Scope(
        {"ChannelId.number": range(0, 1), "connect.channels": range(1, 2)},
        Peer=2,
        Client=1,
        queue=1,
        deferred=1,
    )
    large = Scope({"ChannelId.number": range(0, 1), "connect.channels": range(1, 2)}, Peer=2)
