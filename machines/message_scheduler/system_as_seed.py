"""Message scheduler, composed to the letter, and with the mistakes of its implementations.

`MessagingAsSeed` has the scheduler of `as_seed.py`. Between a receiver's callback and the lock of
the offers, `stop` misses a sender that the callback has scheduled, which is offered channels
afterwards (R-B1), and `disconnect` misses a channel that is about to return to the pool, on which a
message is sent to a peer that has left (R-B2). What a sender has refused is offered again, and
senders behind it get nothing (R-B6).

Each of the others has one mistake.
"""

from lawful import Expect, Scope, drop

from .ageing import MessagingAgeing
from .as_seed import (
    ByPriority,
    Counting,
    MovesFirst,
    SeedBroker,
    TakesAll,
)
from .system import Messaging, MessagingFair

ONE_CHANNEL = {
    "ChannelId.number": range(0, 1),
    "connect.channels": range(1, 2),
    "timeout": range(1, 2),
    "following": range(0, 4),
    "schedule.priority": range(0, 1),
    "Nat": range(0, 3),
    "Peer": 1,
    "Type": 1,
    "Token": 2,
    "Body": 1,
    "waiting": 2,
    "queue": 2,
    "results": 2,
    "due": 2,
}


class MessagingAsSeed(MessagingFair):
    """Two locks, one after the other, and the gap between them."""

    scheduler: SeedBroker = (  # pyright: ignore[reportIncompatibleVariableOverride]  # is read-only
        SeedBroker(least=1, greatest=2)
    )

    no_withdrawn_sender = drop("withdraw_sender")
    no_withdrawn_receiver = drop("withdraw_receiver")

    scope = Scope(ONE_CHANNEL, deferred=2, discarded=2)
    expects = Expect(
        first_come_first_served=("violated", 9),
        nobody_is_overtaken_too_often=("violated", 9),
        offers_differ=("violated", 5),
        all_that_is_open_is_offered=("violated", 11),
        sent_as_offered=("violated", 5),
        offers_can_be_used=("violated", 4),
        who_comes_is_accepted=("violated", 5),
        time_is_over_for_what_is_closed=("violated", 5),
        discarded_after_stop=("violated", 7),
        nothing_begins_after_stop=("violated", 4),
        nobody_is_told_wrong=("violated", 4),
        who_waits_is_called=("violated", 6),
        open_channels_are_offered=("violated", 11),
        all_is_over_after_stop=("violated", 6),
    )


class MessagingMovesFirst(MessagingFair):
    """(R-B7)"""

    scheduler: MovesFirst = (  # pyright: ignore[reportIncompatibleVariableOverride]  # is read-only
        MovesFirst(least=1, greatest=2)
    )

    scope = Scope({**ONE_CHANNEL, "Type": 2, "Token": 1})
    expects = Expect(
        offers_can_be_used=("violated", 15),
        time_is_over_for_what_is_closed=("violated", 6),
        told_what_happened=("violated", 13),
        results_come_first=("violated", 9),
        nobody_is_told_wrong=("violated", 6),
        who_waits_is_called=("violated", 8),
        receivers_are_told=("violated", 8),
    )


class MessagingLastTakesAll(Messaging):
    """(R-B8)"""

    scheduler: TakesAll = (  # pyright: ignore[reportIncompatibleVariableOverride]  # is read-only
        TakesAll(least=1, greatest=2)
    )

    scope = Scope({**ONE_CHANNEL, "Peer": 2})
    expects = Expect(
        one_each_while_several_wait=("violated", 7),
    )


class MessagingCounting(Messaging):
    """(R-B10)"""

    scheduler: Counting = (  # pyright: ignore[reportIncompatibleVariableOverride]  # is read-only
        Counting(least=1, greatest=2)
    )

    scope = Scope({**ONE_CHANNEL, "Peer": 2, "Token": 1})
    expects = Expect(
        nobody_is_told_wrong=("violated", 12),
    )


class MessagingByPriority(MessagingAgeing):
    """(R-B11)"""

    scheduler: ByPriority = (  # pyright: ignore[reportIncompatibleVariableOverride]  # is read-only
        ByPriority(least=1, greatest=2, patience=1)
    )

    scope = Scope({**ONE_CHANNEL, "schedule.priority": range(0, 2)})
    expects = Expect(
        nobody_is_overtaken_too_often=("violated", 8),
        open_channels_are_offered=("violated", 12),
    )
