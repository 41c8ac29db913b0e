"""Message scheduler, composed: peers with channels, clients with senders and receivers.

Source: `message-scheduler.md`, as in `declaration.py`. A client has one sender and one receiver, in
one `Request`; peers connect, die, disconnect, answer, answer too late, or never: these steps are in
`steps.py`, and here is what holds of them. `rounds.py` has what the scheduler does while it holds
the lock of the offers: how large an offer is, who is next, and that a round ends; `turns.py` whose
turn it is where senders have priorities; `locks.py` has the locks.

Abstractions, confessed. `onOffer` is one step: the sender is shown all open channels, and sends on
one of them or on none. A callback of a receiver is a step that begins and one that ends; what is
scheduled in between is deferred; then the channel returns to the pool, and who was deferred to the
queue, in a step of its own, for which the other lock is taken. Between the two, others may take
both: there `stop` and `disconnect` come in (R-B1, R-B2). A peer connects once. The numbers of
requests grow, and do not wrap (`numbers.py` has some that do). A sender's place in the queue grows
with each arrival, so that arrivals end after `most`. What a peer sends is a number of a request,
any that was given out.
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
    """The pool of channels, the queue of senders, the table of requests: what holds of them."""

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
    def channels_of_the_living_stay(self) -> bool:
        """A peer that has not left keeps as many as it came with, unless it is dead (S4; R13)."""
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
    def receivers_are_called_by_one_thread(self, after: "Scheduler") -> bool:
        """Their callback is under way then, unless their peer leaves or all ends (R38, S9)."""
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
        """An offer of no live channel (R34)."""
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
    """Requests and channels as they have to be."""

    @reachable
    def a_sender_is_withdrawn(self) -> bool:
        return any(m.state == Stage.WITHDRAWN and m.channel is None for m in self.messages.values())

    @reachable
    def a_receiver_is_withdrawn(self) -> bool:
        """Before the response is there (R30)."""
        return any(m.state == Stage.WITHDRAWN and m.timer.armed for m in self.messages.values())

    peers = Scope(
        {"ChannelId.number": range(0, 1), "connect.channels": range(1, 2)},
        Peer=2,
        Client=1,
        queue=1,
        deferred=1,
    )
    large = Scope({"ChannelId.number": range(0, 1), "connect.channels": range(1, 2)}, Peer=2)
