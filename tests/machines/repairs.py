"""What was wrong in the five systems once, and who would notice if it came back.

`REPAIRED` is about the classes that a service embeds: each row says what they do, in the form of a
promise. `VARIANTS` are the defects of the documents, one by one: a machine that has this defect and
no other, and a property that fails for it. `docs/promises.md` has both as tables.
"""

from __future__ import annotations

from typing import NamedTuple

from .promises import Promise


class Variant(NamedTuple):
    """`machine` is a place; `fails` is what its scope expects to be violated."""

    defect: str
    what: str
    machine: str
    fails: str


REPAIRED: dict[str, tuple[Promise, ...]] = {
    "unicast": (
        Promise(
            "the entries have their own timers, and a link under a clock is made of them",
            "in_time.LinkInTime.resent_in_time",
            "the task forgets what it saw",
        ),
        Promise(
            "the first ack is delayed, and its delay does not begin again",
            "in_time.ReceiverInTime.acked_in_time",
            "the delay of an ack begins again with each message",
        ),
        Promise(
            "acks are delayed at all",
            "in_time.ReceiverInTime.acks_are_apart",
            "an ack for each message",
        ),
        Promise(
            "a CLOSING connection has the close time-out",
            "declaration.Entry.idle_is_reaped",
            "the close time-out does not begin",
        ),
        Promise(
            "what is sent resets the time stamp",
            "in_time.SenderInTime.silence_ends_it",
            "sending does not reset the timestamp",
        ),
    ),
    "object_diffusion": (
        Promise(
            "the registry decides with which object a round begins",
            "registry.Registry.rounds_take_turns",
            "each round begins with the same object",
        ),
        Promise(
            "the registry has the time limit of each reply, which further requests do not prolong",
            "in_time.DiffusionInTime.nobody_is_awaited_for_longer",
            "the time limit of a reply begins again with each request",
        ),
        Promise(
            "each reply has the whole time limit",
            "in_time.DiffusionInTime.nobody_is_given_up_early",
            "the time limit goes on over the next reply",
        ),
        Promise(
            "the registry has the pool's lock",
            "system.Diffusion.the_lock_is_given_back",
            "the lock is given to a second peer",
        ),
        Promise(
            "what waits for the pool is bounded",
            "registry.Registry.what_the_pool_lacks_is_limited",
            "tests.test_breaks.test_a_pool_without_bound_is_noticed",
        ),
    ),
    "queue_cluster": (
        Promise(
            "owners and replicas are composed, and what their events return is what is multicast",
            "promises.BrokersFixed.what_is_under_way_is_remembered",
            "a consume is not returned",
        ),
        Promise(
            "a node that joins gets ownership (Q48)",
            "promises.BrokersFixed.owners_know_what_was_said",
            "a node joins without ownership",
        ),
        Promise(
            "a node that comes late does not own a queue beside its owner",
            "promises.BrokersFixed.at_most_one_owner",
            "each node that is interested runs its consumers",
        ),
        Promise(
            "queues may be declared after the object was made",
            "promises.BrokersFixed.every_queue_is_everywhere",
            "a queue that is declared again has the owner that ended",
        ),
        Promise(
            "two publishers at one node keep their messages apart",
            "acceptance.ClientsFixed.what_is_said_is_what_was_asked",
            "the end of routing has another number",
        ),
        Promise(
            "a message for an unknown queue is refused before anything is multicast",
            "acceptance.ClientsFixed.clients_may_publish",
            "tests.test_brokers.test_an_unknown_queue_is_refused_before_anything_is_multicast",
        ),
        Promise(
            "a message that comes again says so",
            "promises.BrokersFixed.replicas_have_what_was_said",
            "it is not said that a message comes again",
        ),
        Promise(
            "a queue can be destroyed",
            "promises.BrokersFixed.every_queue_is_everywhere",
            "a queue that is destroyed goes on at its owner",
        ),
        Promise(
            "a replica does not remember for ever who has left",
            "joining.Updatee.nothing_is_kept_in_mind_once_ready",
            "tests.test_brokers.test_a_member_that_left_leaves_nothing_behind",
        ),
        Promise(
            "queues are declared, bound and deleted at a place in the order (Q47)",
            "wiring.Wiring.bindings_have_their_queue",
            "bindings outlive their queue",
        ),
        Promise(
            "a node embeds an updater and an updatee",
            "promises.BrokersLive.who_joins_gets_every_queue",
            "an update does not end",
        ),
    ),
    "read_only_windows": (
        Promise(
            "the window refuses limits within which a transaction would be put back for ever",
            "declaration.WindowFixed.window_holds_what_starts_late",
            "tests.test_window.test_times_that_do_not_fit_are_refused",
        ),
        Promise(
            "and a margin before which nothing could start",
            "declaration.WindowFixed.margin_leaves_time",
            "tests.test_window.test_times_that_do_not_fit_are_refused",
        ),
        Promise(
            "the threads are those of the window",
            "system.Node.threads_have_what_was_posted",
            "tests.test_breaks.test_a_mistake_is_noticed",
        ),
        Promise(
            "writes have their turn by a guard of the window",
            "system.Node.writes_make_progress",
            "tests.test_breaks.test_a_mistake_is_noticed",
        ),
        Promise(
            "limits, latency and shutdown are the window's",
            "in_time.NodeInTime.shutdown_ends_in_time",
            "tests.test_breaks.test_a_wrong_timer_is_noticed",
        ),
    ),
    "message_scheduler": (
        Promise(
            "the queue is the scheduler's own",
            "system.Messaging.first_come_first_served",
            "the queue is a stack",
        ),
        Promise(
            "its outputs are what happens",
            "system.Messaging.who_waits_is_called",
            "no onSuccess is called",
        ),
        Promise(
            "offers have sizes: channels, and messages",
            "system.Messaging.all_that_is_open_is_offered",
            "every peer has one channel",
        ),
        Promise(
            "responses have types",
            "system.Messaging.told_what_happened",
            "a response of any type is taken",
        ),
        Promise(
            "a sender may refuse an offer, and waits on",
            "system.Messaging.who_comes_is_accepted",
            "who refuses leaves the queue",
        ),
        Promise(
            "who is withdrawn is neither offered anything nor called",
            "system.Messaging.told_what_happened",
            "a receiver that is withdrawn is called",
        ),
        Promise(
            "stop and disconnection are accepted in every stage, also during an offer",
            "system.Messaging.all_that_is_open_is_offered",
            "the channels of a peer that leaves stay",
        ),
        Promise(
            "a callback that waits does not run after stop returned",
            "threads.Threads.nothing_is_called_after_stop_returned",
            "stop returns too early",
        ),
        Promise(
            "after stop no request is accepted",
            "system.Messaging.nothing_begins_after_stop",
            "senders are accepted after stop",
        ),
    ),
}

VARIANTS: dict[str, tuple[Variant, ...]] = {
    "unicast": (
        Variant(
            "U-B4",
            "the receiver forgets what it delivered, and the pair hangs",
            "system_as_seed.LinkWedged",
            "settled",
        ),
    ),
    "object_diffusion": (
        Variant(
            "O-B3",
            "received objects are compared with the present decision",
            "connection_as_seed.ConnectionComparing",
            "honest_peers_stay",
        ),
    ),
    "queue_cluster": (
        Variant(
            "Q-B3",
            "the node that releases counts as the next one",
            "system_as_seed.ClusterCounting",
            "who_runs_owns_the_queue",
        ),
        Variant(
            "Q-B3",
            "the node that releases does not count, also if it is the only one",
            "system_as_seed.ClusterExcluding",
            "in_the_end_somebody_interested_owns_it",
        ),
        Variant(
            "Q-B4",
            "a node takes what it was granted without consumers",
            "system_as_seed.ClusterGranted",
            "nodes.runs_for_its_consumers",
        ),
    ),
    "read_only_windows": (
        Variant(
            "L-B5",
            "a window as long as a transaction: it never ends",
            "system_as_seed.NodeShort",
            "answered_in_the_end",
        ),
        Variant(
            "L-B8",
            "a margin as long as the window",
            "in_time.NodeNarrow",
            "every_window_answers",
        ),
        Variant(
            "L-B4",
            "a transaction that is put back begins the next window at once",
            "system_as_seed.NodeEager",
            "writes_make_progress",
        ),
    ),
}
