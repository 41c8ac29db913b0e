"""Message scheduler: one channel, the unit of capacity for messaging a peer.

Source and abstractions as in `declaration.py`. The caller tells this machine that a message is
answered, or that its time is over. The scheduler decides how many channels a peer has, and keeps
the pool of open ones (R5, R13).
"""

from lawful import (
    Ghost,
    Machine,
    Nat,
    Record,
    Scope,
    Sort,
    State,
    ignore,
    implies,
    invariant,
    reachable,
    require,
    step_property,
    terminal,
    transition,
)


class Peer(Sort):
    """A connected peer server [seed:130] (R12)."""


class ChannelId(Record):
    """Each peer has one or more channels; numbers may differ [seed:130-131] (R13)."""

    peer: Peer
    number: Nat


class Gate(State):
    """States of a channel [seed:132-136] (R14); GONE: its peer has left (R33, R34)."""

    OPEN = "ready to send exactly one message"
    CLOSED = "gives its peer time to read and respond"
    GONE = "gone with its peer"


class Channel(Machine, abstract=True):
    """The unit of capacity for messaging a peer."""

    state: Gate = Gate.OPEN
    alive: bool = True
    unanswered: Ghost[Nat] = 0

    @transition(source=Gate.OPEN, target=Gate.CLOSED)
    def send(self) -> None:
        """Sending a message closes the channel [seed:176] (R19), if the weak reference to its peer
        can still be locked [seed:301-304] (R33, R34)."""
        require(self.alive, "the peer has been destroyed")
        self.unanswered += 1

    @transition(source=Gate.CLOSED, target=Gate.OPEN)
    def reopen(self) -> None:
        """Its request was answered or timed out, or its notification digested: the channel returns
        to the pool [seed:107-109,187-192] (R10, R21)."""
        self.unanswered = 0

    @transition(source=(Gate.OPEN, Gate.CLOSED))
    def die(self) -> None:
        """The heartbeat's timer has destroyed the peer; no one is told [seed:310-318] (R33,
        R36)."""
        require(self.alive, "the peer has been destroyed")
        self.alive = False

    @transition(source=Gate.OPEN, target=Gate.GONE)
    def discover(self) -> None:
        """An offer finds a channel with a dead peer, and removes it [seed:303-307] (R34)."""
        require(not self.alive, "the peer is alive")

    @transition(source=(Gate.OPEN, Gate.CLOSED), target=Gate.GONE)
    def disconnect(self) -> None:
        """The overlay says that the peer has left (R4)."""
        self.alive = False

    left = ignore("disconnect", source=Gate.GONE, because="it is gone")
    too_late = ignore("reopen", source=Gate.GONE, because="it is gone with its peer (R-B2)")

    @terminal
    def over(self) -> bool:
        return self.state == Gate.GONE

    @invariant
    def one_message_at_a_time(self) -> bool:
        """A channel is closed exactly while its one message is unanswered (R6, R14, R19)."""
        return self.state == Gate.GONE or self.unanswered == (1 if self.state == Gate.CLOSED else 0)

    @step_property
    def gone_for_good(self, after: "Channel") -> bool:
        """No channel of a peer that has left is ever open again (R4)."""
        return implies(self.state == Gate.GONE, after.state == Gate.GONE)

    @reachable
    def closed_by_the_dead(self) -> bool:
        """Until its peer is found dead, or its message's time is over."""
        return self.state == Gate.CLOSED and not self.alive

    scope = Scope(Nat=range(0, 3))


class ChannelFixed(Channel):
    """A channel that is gone never reopens."""
