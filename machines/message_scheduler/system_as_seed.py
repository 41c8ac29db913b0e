"""Message scheduler, composed to the letter, and with the mistakes of its implementations.

`MessagingAsSeed` has the scheduler of `as_seed.py`. Between a receiver's callback and the lock of
the offers, `stop` misses a sender that the callback has scheduled, which is offered channels
afterwards (R-B1), and `disconnect` misses a channel that is about to return to the pool, on which a
message is sent to a peer that has left (R-B2). What a sender has refused is offered again, and
senders behind it get nothing (R-B6).

The others are `MessagingFixed` with one mistake.
"""

from lawful import Expect, Nat, Scope, Weak, drop, initial, transition
from lawful import Fairness

from .as_seed import (
    SchedulerAsSeed,
    SchedulerByPriority,
    SchedulerCounting,
    SchedulerLastTakesAll,
    SchedulerMovesFirst,
)
from .declaration import Token
from .system import MessagingFixed


class MessagingAsSeed(MessagingFixed):
    """Two locks, one after the other, and the gap between them."""

    scheduler: SchedulerAsSeed = SchedulerAsSeed(least=1, greatest=2)

    no_withdrawn_sender = drop("withdraw_sender")
    no_withdrawn_receiver = drop("withdraw_receiver")

    @transition()
    def negotiate(self) -> None:
        """Some thread takes the lock of the offers."""
        self.scheduler.negotiate()

    fairness = Fairness(Weak("negotiate"))
    scope = Scope(
        {
            "ChannelId.number": range(0, 1),
            "connect.channels": range(1, 2),
            "timeout": range(1, 2),
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
        deferred=2,
        discarded=2,
    )


class MessagingMovesFirst(MessagingFixed):
    """(R-B7)"""

    scheduler: SchedulerMovesFirst = SchedulerMovesFirst(least=1, greatest=2)


class MessagingLastTakesAll(MessagingFixed):
    """(R-B8)"""

    scheduler: SchedulerLastTakesAll = SchedulerLastTakesAll(least=1, greatest=2)


class MessagingCounting(MessagingFixed):
    """(R-B10)"""

    scheduler: SchedulerCounting = SchedulerCounting(least=1, greatest=2)


class MessagingByPriority(MessagingFixed):
    """(R-B11)"""

    scheduler: SchedulerByPriority = SchedulerByPriority(least=1, greatest=2)

    @transition()
    def schedule_urgent(self, token: Token) -> None:
        self.scheduler.schedule_urgent(token)
        self.waiting.append(token)
        self.shown[token] = set()
