"""The demands of `message-scheduler.md`, and who notices when one of them is broken.

Each entry has the number of a demand, its meaning in a few words, and the properties that fail when
it is broken; the tests break each of them. If there is no property, the package's docstring gives
the reason.
"""

DEMANDS: dict[str, tuple[str, ...]] = {
    "R1": ("one component sends peers what all others want to send",),
    "R2": ("it replaces fixed senders and single receivers",),
    "R3": (
        "it assigns the numbers of requests, and matches replies to them",
        "system.Messaging.told_what_happened",
        "system.Messaging.nobody_is_told_wrong",
        "system.MessagingOpen.what_comes_is_taken",
    ),
    "R4": (
        "senders are told of disconnects, and get new peers without asking",
        "system.Messaging.who_waits_is_called",
        "system.Messaging.all_that_is_open_is_offered",
    ),
    "R5": ("a sender may use all peers at once", "system.Messaging.one_each_while_several_wait"),
    "R6": (
        "messages to a peer are bounded",
        "system.Messaging.time_is_over_for_what_is_closed",
    ),
    "R7": (
        "senders wait for their turn, which is fair",
        "system.Messaging.who_waits_is_called",
        "system.Messaging.nobody_is_overtaken_too_often",
    ),
    "R8": (
        "who does not care gets any peer that is available",
        "system.Messaging.all_that_is_open_is_offered",
    ),
    "R9": (
        "any number may be submitted; what is sent is decided late",
        "system.Messaging.who_comes_is_accepted",
    ),
    "R10": (
        "with the response the channel returns to the pool",
        "system.Messaging.time_is_over_for_what_is_closed",
    ),
    "R11": (
        "every request ends in time",
        "system.Messaging.who_waits_is_called",
        "system.Messaging.told_what_happened",
    ),
    "R12": (
        "peers are told apart, so that a retry may prefer another",
        "system.Messaging.who_comes_is_accepted",
    ),
    "R13": (
        "a peer has one or more channels, not all as many",
        "system.Messaging.all_that_is_open_is_offered",
    ),
    "R14": (
        "a channel is open or closed",
        "system.Messaging.time_is_over_for_what_is_closed",
    ),
    "R15": (
        "requests, responses, notifications; senders and receivers",
        "system.Messaging.nobody_is_told_wrong",
    ),
    "R16": (
        "a queue of senders by priority, and of equals first come first served",
        "system.Messaging.first_come_first_served",
        "system.Messaging.the_urgent_go_first",
    ),
    "R17": (
        "an offer may come at once, in the thread that schedules",
        "system.Messaging.who_waits_is_called",
        "threads.Threads.nobody_is_forgotten",
    ),
    "R18": (
        "an offer of N channels, of which M may be used",
        "system.Messaging.offers_can_be_used",
    ),
    "R19": ("sending closes the channel", "system.Messaging.offers_can_be_used"),
    "R20": (
        "a request has a receiver, a notification none",
        "system.Messaging.nobody_is_told_wrong",
    ),
    "R21": (
        "every message has a timeout",
        "system.Messaging.time_is_over_for_what_is_closed",
    ),
    "R22": (
        "who closed a channel leaves the queue, who closed none keeps its place",
        "system.Messaging.who_comes_is_accepted",
    ),
    "R23": (
        "success, or failure with its reason; either may schedule again",
        "system.Messaging.told_what_happened",
    ),
    "R24": (
        "all open channels are offered, and nobody hogs them",
        "system.Messaging.all_that_is_open_is_offered",
        "system.Messaging.one_each_while_several_wait",
        "system.Messaging.nobody_is_overtaken_too_often",
    ),
    "R25": (
        "M is 1 while several wait, and else N",
        "system.Messaging.one_each_while_several_wait",
    ),
    "R26": (
        "a continuing sender gets what those before it leave",
        "system.Messaging.first_come_first_served",
        "system.Messaging.the_urgent_go_first",
    ),
    "R27": ("the next offer is another one", "system.Messaging.offers_differ"),
    "R28": (
        "receivers are called with the number of the request",
        "system.Messaging.told_what_happened",
        "system.Messaging.results_come_first",
    ),
    "R29": (
        "a sender is offered or discarded, a receiver succeeds or fails",
        "system.Messaging.who_waits_is_called",
    ),
    "R30": (
        "exactly one callback, once, or returned to a withdrawer",
        "system.Messaging.told_what_happened",
        "system.Messaging.who_comes_is_accepted",
    ),
    "R31": (
        "dependents die first: they withdraw, or stop the scheduler",
        "system.Messaging.told_what_happened",
        "system.Messaging.who_comes_is_accepted",
        "threads.Threads.nothing_is_called_after_stop_returned",
    ),
    "R32": (
        "stop fails receivers, discards senders, and accepts none any more",
        "system.MessagingOpen.all_is_over_when_everybody_is_told",
        "system.Messaging.results_come_first",
        "system.Messaging.who_waits_is_called",
        "system.Messaging.nothing_begins_after_stop",
    ),
    "R33": (
        "peers are owned elsewhere, and locked while an offer is gone through",
        "system.Messaging.all_that_is_open_is_offered",
    ),
    "R34": (
        "the dead are skipped and removed; an offer may be smaller than it said",
        "system.Messaging.all_that_is_open_is_offered",
    ),
    "R35": ("an empty offer is never made", "system.Messaging.offers_differ"),
    "R36": ("a peer lives as long as its heartbeat", "system.Messaging.who_waits_is_called"),
    "R37": ("locks", "threads.Threads.lock_excludes"),
    "R38": (
        "callbacks are never concurrent, and short",
        "threads.Threads.callbacks_never_overlap",
    ),
    "R39": ("the offers are locked before the requests",),
    "R40": (
        "schedule may be called from any callback",
        "system.Messaging.who_comes_is_accepted",
    ),
}
