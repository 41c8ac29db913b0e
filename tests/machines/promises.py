"""What each system promises, who checks it, and how it is broken on purpose.

A promise is about what can be observed: what was submitted, sent, delivered and answered, by whom,
in which order, how often and how late. `broken_by` names a row of the breaks of its system, or a
test that has a break of its own. `docs/promises.md` has the same as a table.
"""

from __future__ import annotations

from typing import NamedTuple

from lawful.machines.read_only_windows.demands import BREAKS as OF_WINDOWS

from .message_scheduler.test_breaks import EVERY as OF_THE_SCHEDULER
from .object_diffusion.demand_breaks import BREAKS as OF_DIFFUSION
from .object_diffusion.slips import SLIPS as SLIPS_OF_DIFFUSION
from .queue_cluster.test_breaks import EVERY as OF_THE_CLUSTER
from .unicast.breaks import BREAKS as OF_UNICAST
from .unicast.breaks import CONDITIONS, SLIPS


class Promise(NamedTuple):
    """`property` and a test in `broken_by` are places, as `demands.py` names them."""

    promised: str
    property: str
    broken_by: str


class Broken(NamedTuple):
    """A break: its words, and the property that a test sees fail."""

    what: str
    noticed: str


BREAKS: dict[str, dict[str, Broken]] = {
    "unicast": {
        row.what: Broken(row.what, row.noticed) for row in (*OF_UNICAST, *SLIPS, *CONDITIONS)
    },
    "object_diffusion": {
        **{
            demand: Broken(f"`{row.row}`: `{row.change}`", row.fails)
            for demand, row in OF_DIFFUSION.items()
        },
        **{row.what: Broken(row.what, row.fails) for row in SLIPS_OF_DIFFUSION},
    },
    "queue_cluster": {row.what: Broken(row.what, row.noticed) for row in OF_THE_CLUSTER},
    "read_only_windows": {
        demand: Broken(f"`{row.row}`: `{row.change}`", row.fails)
        for demand, row in OF_WINDOWS.items()
    },
    "message_scheduler": {row.what: Broken(row.what, row.noticed) for row in OF_THE_SCHEDULER},
}

PROMISES: dict[str, tuple[Promise, ...]] = {
    "unicast": (
        Promise(
            "everything submitted is delivered",
            "system.FairLink.sent_is_delivered",
            "a CLOSING sender resends nothing",
        ),
        Promise(
            "once, and in order",
            "system.Link.no_duplicate",
            "an entry that was removed during a cut forgets what it delivered",
        ),
        Promise(
            "a connection is given up only when the peer was silent for the whole time-out",
            "in_time.SenderInTime.silence_ends_it",
            "sending does not reset the timestamp",
        ),
        Promise(
            "an ack is activity",
            "in_time.SenderInTime.silence_ends_it",
            "an ack is no sign of life",
        ),
        Promise(
            "what is reported as delivered was delivered",
            "reports.LinkReporting.delivered_as_reported",
            "a report takes what was sent last for delivered",
        ),
        Promise(
            "the rest is said to be in doubt",
            "reports.LinkReporting.in_doubt_is_what_is_not_acknowledged",
            "what is in doubt is not told",
        ),
        Promise(
            "all that is missing is asked for",
            "callers.ReceiverCalled.request_missing",
            "only the first gap is requested",
        ),
        Promise(
            "however far ahead a message is, nothing is skipped before the sender says so",
            "callers.ReceiverCalled.goes_on_where_it_was_told",
            "a message that is ahead is taken for one to begin with",
        ),
        Promise(
            "only what is asked for is sent again",
            "callers.SenderCalled.retransmit",
            "everything from the first requested one on is sent again",
        ),
        Promise(
            "an ack is late by at most the interval",
            "in_time.ReceiverInTime.acked_in_time",
            "the delay of an ack begins again with each message",
        ),
        Promise(
            "two acks are apart by the interval",
            "in_time.ReceiverInTime.acks_are_apart",
            "an ack for each message",
        ),
        Promise(
            "what is not acknowledged is sent again in time",
            "in_time.LinkInTime.resent_in_time",
            "the task forgets what it saw",
        ),
        Promise(
            "the pair goes on after a receiver's restart",
            "crashes.LinkCrashing",
            "tests.test_crashes.test_a_wrong_way_to_go_on_is_noticed",
        ),
        Promise(
            "with both directions, each end keeps what it submitted until it is delivered",
            "exchange.Exchange.kept_until_delivered",
            "an end that hears CLOSE forgets what it sends itself",
        ),
        Promise(
            "an ack of one direction says nothing of the other",
            "exchange.Exchange.acknowledged_is_delivered",
            "what an end delivers counts as acknowledged by the other one",
        ),
        Promise(
            "what is sent during a partition arrives or is reported",
            "interruptions.LinkPartitioned.kept_until_delivered",
            "what was sent during a cut is not reported",
        ),
        Promise(
            "only the application closes, if nothing is reaped",
            "interruptions.LinkClosed.closes_when_it_is_told",
            "the application closes and nothing happens",
        ),
        Promise(
            "closing once more does not prolong a connection",
            "in_time.SenderInTime.closed_in_time",
            "the close time-out begins again when the application closes once more",
        ),
        Promise(
            "what the application closed ends",
            "interruptions.LinkClosed.what_is_closed_ends",
            "what the application closed stays CLOSING",
        ),
        Promise(
            "a connection of an earlier life is known as an old one",
            "restarts.LinkWithEpoch.in_order",
            "a connection of an earlier life is taken for a newer one",
        ),
        Promise(
            "what a life with an older clock sent arrives or is reported, while no id comes again",
            "restarts.LinkSetBack.purged_has_arrived",
            "nobody hears of what a life with an older clock sent",
        ),
    ),
    "object_diffusion": (
        Promise(
            "nothing is requested that the pool has",
            "declaration.InboundPeer.nothing_is_requested_that_the_pool_has",
            "O33",
        ),
        Promise(
            "all that a peer offers and the pool lacks may be requested, up to the limit",
            "declaration.InboundPeerFixed.what_the_pool_lacks_may_be_requested",
            "only the first ID is offered",
        ),
        Promise(
            "the longest prefix is acked",
            "declaration.InboundPeerFixed.the_longest_prefix_is_acked",
            "O29",
        ),
        Promise(
            "no more IDs are requested than may be outstanding",
            "declaration.InboundPeerFixed.as_many_ids_as_allowed_are_requested",
            "O4",
        ),
        Promise(
            "a blocking reply brings something",
            "declaration.InboundPeer.a_blocking_reply_brings_something",
            "O16",
        ),
        Promise(
            "what the pool lacks is limited, for each peer and for all",
            "registry.Registry.what_the_pool_lacks_is_limited",
            "O36",
        ),
        Promise(
            "no more copies are requested than the target",
            "system.Diffusion.no_more_copies_than_the_target",
            "O31",
        ),
        Promise(
            "a decision picks all that could be picked",
            "attribution.Attribution.nothing_more_could_be_picked",
            "O38",
        ),
        Promise(
            "a round requests all that the limits leave room for",
            "in_turns.RegistryInTurns.a_round_asks_for_all_that_it_may",
            "a round requests one object of each peer",
        ),
        Promise(
            "a round begins with the object whose turn it is",
            "registry.Registry.rounds_take_turns",
            "a round requests in the order of the IDs, whatever it says that it begins with",
        ),
        Promise(
            "a round is possible at any time, whatever the pool has",
            "in_turns.RegistryInTurns.a_round_is_possible_at_any_time",
            "a round picks more than an entry accepts",
        ),
        Promise(
            "only the holder of the pool's lock inserts",
            "registry.Registry.only_the_holder_inserts",
            "what is inserted leaves the way to the pool of all peers",
        ),
        Promise(
            "the pool's lock is free before it is taken, also by its holder",
            "registry.Registry.the_lock_is_free_before_it_is_taken",
            "the holder of the lock takes it for another object",
        ),
    ),
    "queue_cluster": (
        Promise(
            "at most one node runs the consumers of a queue",
            "promises.BrokersFixed.at_most_one_owner",
            "each node that is interested runs its consumers",
        ),
        Promise(
            "a reject is dead-lettered once",
            "acceptance.ClientsFixed.queues_are_as_said",
            "a rejected message comes to the alternate queue twice",
        ),
        Promise(
            "and leaves its queue",
            "promises.BrokersFixed.replicas_have_what_was_said",
            "a rejected message stays where it was, too",
        ),
        Promise(
            "and comes to no other queue once its own is destroyed",
            "acceptance.ClientsFixed.queues_are_as_said",
            "what is rejected comes to the alternate queue though its own was destroyed",
        ),
        Promise(
            "what is given back keeps its place",
            "promises.BrokersFixed.replicas_have_what_was_said",
            "a message that comes back is the last one",
        ),
        Promise(
            "the second queue gets the right message",
            "acceptance.ClientsFixed.queues_are_as_said",
            "a message that is routed to the second queue comes to the first",
        ),
        Promise(
            "a consumer gets the message of its queue",
            "acceptance.ClientsFixed.clients_get_the_first_that_is_free",
            "the first queue's message is taken from the second queue",
        ),
        Promise(
            "a full ring loses its oldest message that nobody has",
            "acceptance.ClientsFixed.queues_are_as_said",
            "a ring loses its newest message",
        ),
        Promise(
            "replicas agree after any join",
            "promises.BrokersFixed.replicas_have_what_was_said",
            "a node joins and takes every message for a free one",
        ),
        Promise(
            "owners agree after any join",
            "promises.BrokersFixed.owners_know_what_was_said",
            "a node joins without ownership",
        ),
        Promise(
            "each multicast is what is remembered as sent",
            "promises.BrokersFixed.what_is_under_way_is_remembered",
            "a release is remembered and not returned",
        ),
        Promise(
            "and what was asked for",
            "acceptance.ClientsFixed.what_is_said_is_what_was_asked",
            "a create has another number",
        ),
        Promise(
            "a node asks for another turn if it has consumers, and only then",
            "subscribers.SubscribersFixed.a_release_says_who_waits",
            "a node without consumers asks for another turn",
        ),
        Promise(
            "several consumers of an owner take messages at a time",
            "subscribers.SubscribersFixed.an_owner_delivers",
            "one consumer at a time takes a message",
        ),
        Promise(
            "a consumer hears that a message comes again",
            "promises.BrokersFixed.replicas_have_what_was_said",
            "it is not said that a message comes again",
        ),
        Promise(
            "a queue that is destroyed ends everywhere",
            "promises.BrokersFixed.every_queue_is_everywhere",
            "a queue that is destroyed goes on at its owner",
        ),
    ),
    "read_only_windows": (
        Promise(
            "a transaction that comes is queued, in whatever window, until the node shuts down",
            "system.Node.only_shutdown_turns_away",
            "tests.test_breaks.test_who_is_turned_away_from_a_window_is_noticed",
        ),
        Promise(
            "what modifies is executed in read-write windows only",
            "requests.Request.modifies_in_read_write_windows",
            "tests.test_breaks.test_a_kind_that_is_taken_for_another_is_noticed",
        ),
        Promise(
            "what only reads, by the flow charts, is never held",
            "requests.Request.reads_are_never_held",
            "tests.test_breaks.test_a_kind_that_is_taken_for_another_is_noticed",
        ),
        Promise(
            "requests go the ways of the flow charts",
            "tests.test_breaks.test_the_ways_of_requests_are_those_of_the_document",
            "tests.test_breaks.test_a_way_that_is_changed_is_noticed",
        ),
        Promise(
            "no write is executed while a transaction is",
            "system.Node.writes_and_transactions_exclude_each_other",
            "L7",
        ),
        Promise(
            "windows last as configured",
            "in_time.WindowInTime.windows_last_as_configured",
            "L18",
        ),
        Promise(
            "nothing starts when less than the margin remains",
            "declaration.Window.started_in_time",
            "L20",
        ),
        Promise(
            "a transaction is executed no longer than its own time",
            "transaction.Transaction.execution_is_limited",
            "L21",
        ),
        Promise(
            "shutdown ends within the longest slice",
            "in_time.NodeInTime.shutdown_ends_in_time",
            "tests.test_breaks.test_a_wrong_timer_is_noticed",
        ),
        Promise(
            "between two read-only windows a held write is executed",
            "system.Node.writes_make_progress",
            "tests.test_breaks.test_a_mistake_is_noticed",
        ),
        Promise(
            "writes are executed in the order in which they came",
            "system.Node.writes_keep_their_order",
            "L11",
        ),
    ),
    "message_scheduler": (
        Promise(
            "an answer is matched by its peer",
            "system.Messaging.told_what_happened",
            "a response of any peer is taken",
        ),
        Promise(
            "by its number",
            "system.Messaging.told_what_happened",
            "a response to any request is taken",
        ),
        Promise(
            "and by its type",
            "system.Messaging.told_what_happened",
            "a response of any type is taken",
        ),
        Promise(
            "first come, first served, by arrival",
            "system.Messaging.first_come_first_served",
            "the queue is a stack",
        ),
        Promise(
            "a more urgent sender goes before less urgent ones that came earlier",
            "system.Messaging.the_urgent_go_first",
            "priorities are not looked at",
        ),
        Promise(
            "and never before one that was overtaken often enough",
            "system.Messaging.nobody_is_overtaken_too_often",
            "nobody ages",
        ),
        Promise(
            "who continues waits behind those that wait",
            "system.Messaging.first_come_first_served",
            "a sender that continues goes before those that wait",
        ),
        Promise(
            "nothing goes to a peer that left",
            "system.Messaging.all_that_is_open_is_offered",
            "the channels of a peer that leaves stay",
        ),
        Promise(
            "requests to a peer that leaves fail",
            "system.Messaging.who_waits_is_called",
            "requests to a peer that leaves do not fail",
        ),
        Promise(
            "nothing is called after stop returned",
            "threads.Threads.nothing_is_called_after_stop_returned",
            "stop returns too early",
        ),
        Promise(
            "nothing begins after stop",
            "system.Messaging.nothing_begins_after_stop",
            "senders are accepted after stop",
        ),
        Promise(
            "callbacks never overlap",
            "threads.Threads.callbacks_never_overlap",
            "callbacks overlap",
        ),
        Promise(
            "a response may come late, and is no error",
            "system.MessagingOpen.what_comes_is_taken",
            "a late response is refused",
        ),
        Promise(
            "stop is over when everybody was told, and not before",
            "system.MessagingOpen.all_is_over_when_everybody_is_told",
            "all is over before the senders are discarded",
        ),
    ),
}
