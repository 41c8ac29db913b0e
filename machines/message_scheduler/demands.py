"""The demands of `message-scheduler.md`, and where each is met.

Each entry has the number of a demand, its meaning in a few words, and places where it is met: in
this package, like `declaration.Class.name`, or in its tests, like `tests.test_request.test_name`.
If there is no place, the package's docstring gives the reason.
"""

DEMANDS: dict[str, tuple[str, ...]] = {
    "R1": ("one component sends peers what all others want to send",),
    "R2": ("it replaces fixed senders and single receivers",),
    "R3": (
        "it assigns the numbers of requests, and matches replies to them",
        "declaration.Request.send",
        "declaration.Request.receive",
        "system.Scheduler.numbers_differ",
        "numbers.NumbersFixed.each_has_its_own",
    ),
    "R4": (
        "senders are told of disconnects, and get new peers without asking",
        "declaration.Request.disconnect",
        "system.Scheduler.disconnect",
        "system.Scheduler.connect",
        "system.Scheduler.nothing_at_a_peer_that_left",
    ),
    "R5": ("a sender may use all peers at once", "rounds.Round.one_takes_all"),
    "R6": (
        "messages to a peer are bounded",
        "channel.Channel.one_message_at_a_time",
        "system.Scheduler.closed_for_one_message",
    ),
    "R7": (
        "senders wait for their turn, which is fair",
        "system.Scheduler.first_come_first_served",
        "system.Scheduler.open_channels_are_offered",
    ),
    "R8": ("who does not care gets any peer that is available", "system.Scheduler.offer"),
    "R9": (
        "any number may be submitted; what is sent is decided late",
        "declaration.Message.enqueue",
        "system.Scheduler.send",
    ),
    "R10": (
        "with the response the channel returns to the pool",
        "channel.Channel.reopen",
        "system.Scheduler.negotiate",
    ),
    "R11": (
        "every request ends in time",
        "declaration.Request.expire",
        "declaration.Message.comes_to_an_end",
        "system.Scheduler.receiver_is_called",
    ),
    "R12": (
        "peers are told apart, so that a retry may prefer another",
        "channel.ChannelId",
        "system.Scheduler.refuse",
        "declaration.Request.tries_again",
    ),
    "R13": (
        "a peer has one or more channels, not all as many",
        "channel.ChannelId",
        "system.Scheduler.connect",
    ),
    "R14": ("a channel is open or closed", "channel.Gate", "channel.Channel.send"),
    "R15": (
        "requests, responses, notifications; senders and receivers",
        "declaration.Request",
        "declaration.Notification",
        "declaration.Success",
    ),
    "R16": (
        "a queue of senders, first come first served",
        "declaration.Message.enqueue",
        "system.Scheduler.schedule",
        "system.Scheduler.first_come_first_served",
        "system.Scheduler.who_waits_is_queued",
        "turns.TurnsFixed.equals_come_first_served",
    ),
    "R17": (
        "an offer may come at once, in the thread that schedules",
        "locks.TwoLocks.lock_offers",
        "locks.OneLock.call",
    ),
    "R18": (
        "an offer of N channels, of which M may be used",
        "declaration.Message.offer",
        "rounds.Round.offer",
        "rounds.Round.size_is_what_is_open",
    ),
    "R19": (
        "sending closes the channel",
        "channel.Channel.send",
        "declaration.Message.sends_on_what_is_offered",
    ),
    "R20": (
        "a request has a receiver, a notification none",
        "declaration.Request.receiver_is_called_once",
        "declaration.Notification.send",
    ),
    "R21": (
        "every message has a timeout",
        "declaration.Message.has_a_time",
        "declaration.Request.expire",
        "declaration.Notification.digest",
    ),
    "R22": (
        "who closed a channel leaves the queue, who closed none keeps its place",
        "declaration.Message.close",
        "declaration.Message.refuse_all",
        "declaration.Message.keeps_its_place",
        "rounds.RoundFixed.continues",
    ),
    "R23": (
        "success, or failure with its reason; either may schedule again",
        "declaration.Request.receiver_is_called_once",
        "declaration.Reason",
        "system.Scheduler.schedule_inside",
        "system.Scheduler.scheduled_in_a_callback",
    ),
    "R24": (
        "all open channels are offered, and nobody hogs them",
        "system.Scheduler.offer",
        "rounds.Round.one_each_while_several_wait",
        "turns.TurnsFixed.served_in_the_end",
    ),
    "R25": (
        "M is 1 while several wait, and else N",
        "rounds.Round.size",
        "rounds.RoundLastTakesAll",
    ),
    "R26": (
        "a continuing sender gets what those before it leave",
        "rounds.RoundFixed.pass_on",
        "rounds.RoundFixed.continues",
        "turns.TurnsFixed.goes_first",
    ),
    "R27": (
        "the next offer is another one",
        "declaration.Message.offers_differ",
        "system.Scheduler.open_channels_are_offered",
        "system.Scheduler.refused_then_served",
    ),
    "R28": (
        "receivers are called with the number of the request",
        "declaration.Success",
        "declaration.Failure",
    ),
    "R29": (
        "a sender is offered or discarded, a receiver succeeds or fails",
        "declaration.Message.offer",
        "declaration.Discard",
        "declaration.Success",
        "declaration.Failure",
    ),
    "R30": (
        "exactly one callback, once, or returned to a withdrawer",
        "declaration.Message.sender_is_called_once",
        "declaration.Request.receiver_is_called_once",
        "declaration.Message.withdraw_sender",
        "system.Scheduler.withdraw_receiver",
    ),
    "R31": (
        "dependents die first: they withdraw, or stop the scheduler",
        "system.Scheduler.withdraw_sender",
        "system.Scheduler.withdraw_receiver",
        "system.Scheduler.stop",
    ),
    "R32": (
        "stop fails receivers, discards senders, and accepts none any more",
        "declaration.Message.discard",
        "declaration.Request.shut_down",
        "declaration.Message.turn_away",
        "system.Scheduler.once_stopped_nobody_is_called",
    ),
    "R33": (
        "peers are owned elsewhere, and locked while an offer is gone through",
        "channel.Channel.send",
        "system.Scheduler.die",
    ),
    "R34": (
        "the dead are skipped and removed; an offer may be smaller than it said",
        "system.Scheduler.skip",
        "system.Scheduler.offered_the_dead_alone",
        "channel.Channel.discover",
    ),
    "R35": ("an empty offer is never made", "declaration.Message.offer"),
    "R36": ("a peer lives as long as its heartbeat", "system.Scheduler.die"),
    "R37": ("two locks", "locks.TwoLocks.locks_exclude"),
    "R38": (
        "callbacks are never concurrent, and short",
        "locks.TwoLocks.callbacks_never_overlap",
        "locks.OneLock.callbacks_never_overlap",
        "rounds.Round.ends",
    ),
    "R39": (
        "the offers are locked before the requests",
        "locks.TwoLocks.lock_both",
        "locks.TwoLocksBothWays",
    ),
    "R40": (
        "schedule may be called from any callback",
        "declaration.Message.defer",
        "system.Scheduler.schedule_inside",
        "locks.TwoLocksUnnoticed",
        "locks.OneLock.call_in",
    ),
}
