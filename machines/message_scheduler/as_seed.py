"""Message scheduler to the letter: the text of `message-scheduler.md` where the other modules
deviate (`[seed:343]` is its line 343). The checker shows the consequences.

R-B1: a sender that a callback schedules is accepted, because the thread-local does not know about
stopping, and `stop` does not find it. R-B2: an answered channel returns to the pool, although its
peer has left meanwhile. R-B6: each time a channel reopens or a timer fires, the pool is offered,
whatever was offered before. Withdrawal is "not yet implemented".
"""

from lawful import Expect, Nat, drop, require, transition

from .channel import Channel, ChannelId, Gate
from .declaration import ASLEEP, Discard, Failure, Request, Stage


class RequestAsSeed(Request):
    """Accepted because of a thread-local, offered refused channels again, never withdrawn."""

    no_withdrawn_sender = drop("withdraw_sender")
    no_withdrawn_receiver = drop("withdraw_receiver")
    none_to_release = drop("release")

    @transition(source=ASLEEP, target=Stage.DEFERRED, event="schedule")
    def defer(self, place: Nat, inside: bool) -> bool:
        """It detects that the thread owns a lock, and nothing else [seed:349-350] (R-B1)."""
        require(inside, "no callback holds a lock")
        self.arrive(place)
        return True

    @transition(source=ASLEEP, event="schedule")
    def turn_away(self, place: Nat, inside: bool) -> bool:
        """After `stop` no sender is accepted [seed:292], unless a callback schedules it (R-B1)."""
        require(self.stopped, "the scheduler has not stopped")
        require(not inside, "a callback holds a lock")
        return False

    @transition(source=Stage.WAITING, target=Stage.OFFERED)
    def offer(self, channels: frozenset[ChannelId]) -> None:
        """All open channels, whether or not they differ from the last offer (R-B6)."""
        require(channels != frozenset(), "the offer is empty")
        self.offered = set(channels)

    @transition(source=Stage.WAITING, target=Stage.DISCARDED, event="stop")
    def discard(self) -> Discard | Failure | None:
        """All waiting senders [seed:291]: only those in the queue."""
        self.stopped = True
        self.refused.clear()
        self.sender_called += 1
        return Discard()

    @transition(source=(*ASLEEP, Stage.DEFERRED), event="stop")
    def stop_asleep(self) -> Discard | Failure | None:
        """`stop` finds no waiting sender here (R-B1)."""
        require(not self.stopped, "the scheduler has stopped")
        self.stopped = True
        self.timer.stop()
        return None

    expects = Expect(
        nobody_waits_once_stopped=("violated", 2),
        offers_differ=("violated", 4),
    )


class ChannelAsSeed(Channel):
    """The thread that took it out of the pool returns it (R-B2)."""

    always_in_time = drop("too_late")

    awaited: bool = False

    @transition(source=Gate.OPEN, target=Gate.CLOSED)
    def send(self) -> None:
        """Its request is in the table of outstanding requests."""
        super().send()
        self.awaited = True

    @transition(source=(Gate.CLOSED, Gate.GONE), target=Gate.OPEN)
    def reopen(self) -> None:
        """After the response, "its peer is returned to the pool" [seed:107-109]: the requests were
        locked for the callback, now the offers are locked. A `disconnect` in between cleans a pool
        that does not contain the channel yet (R-B2)."""
        require(self.awaited, "no message was sent")
        self.awaited = False
        self.unanswered = 0

    expects = Expect(gone_for_good=("violated", 3))
