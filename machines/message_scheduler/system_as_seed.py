"""Message scheduler, composed to the letter, and as a later implementation had it.

`SchedulerAsSeed` has the requests and channels of `as_seed.py`. Between a receiver's callback and
the lock of the offers, `stop` misses a sender that the callback scheduled, which is offered
channels afterwards (R-B1). `disconnect` misses a channel that is about to return to the pool, where
it is offered although its peer has left (R-B2). Refused channels are offered again (R-B6).
Withdrawal is "not yet implemented" [seed:277].

`SchedulerMovesFirst` is `SchedulerFixed` with one mistake of a later implementation: a response of
the wrong type removes the request from the table, and nothing else happens (R-B7).
"""

from lawful import Expect, Scope, drop, initial, require, transition

from .as_seed import ChannelAsSeed, RequestAsSeed
from .channel import ChannelId
from .declaration import Stage
from .steps import Client
from .system import Scheduler, SchedulerFixed


class SchedulerAsSeed(Scheduler):
    """Two locks, taken one after the other."""

    channels: dict[ChannelId, ChannelAsSeed] = {}  # type: ignore[assignment]  # nobody assigns it
    messages: dict[Client, RequestAsSeed] = {}  # type: ignore[assignment]  # nobody assigns it

    no_withdrawn_sender = drop("withdraw_sender")
    no_withdrawn_receiver = drop("withdraw_receiver")
    none_to_release = drop("release")

    @initial
    def start(self) -> None:
        for t in Client:
            self.messages[t] = RequestAsSeed(timeout=2)

    def open_one(self, c: ChannelId) -> None:
        self.channels[c] = ChannelAsSeed()

    @transition()
    def stop(self) -> None:
        """Discards the queue and fails the receivers that wait [seed:289-292] (R-B1)."""
        require(self.idle(), "a lock is held")
        require(not self.stopped, "it has stopped")
        self.stopped = True
        for message in self.messages.values():
            message.stop()
        self.queue.clear()

    expects = Expect(
        nothing_at_a_peer_that_left=("violated", 8),
        once_stopped_nobody_is_called=("violated", 11),
        open_channels_are_offered=("violated", 7),
        callbacks_return=("violated", 11),
        **{
            "channels.gone_for_good": ("violated", 8),
            "messages.nobody_waits_once_stopped": ("violated", 8),
            "messages.offers_differ": ("violated", 5),
        },
    )


class SchedulerMovesFirst(SchedulerFixed):
    """Removes a request from its table before it checks whether the response fits (R-B7)."""

    lost: set[Client] = set()

    @transition()
    def receive_other_type(self, t: Client) -> None:
        """The record is destroyed, and the timer cancelled; an empty entry stays."""
        require(self.free(), "a lock is held")
        require(self.messages[t].state == Stage.SENT, "nothing is sent")
        self.lost.add(t)

    @transition()
    def expire(self, t: Client) -> None:
        require(t not in self.lost, "its timer is cancelled")
        super().expire(t)

    scope = Scope(
        {"ChannelId.number": range(0, 2), "connect.channels": range(1, 3)},
        Nat=range(0, 4),
        Peer=1,
        Client=1,
        Body=1,
        queue=1,
        deferred=1,
        most=(2,),
    )
    expects = Expect(receiver_is_called=("violated", 5))
