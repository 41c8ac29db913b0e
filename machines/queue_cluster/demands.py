"""The demands of `new-cluster-plan.org`, and where each is met.

Each entry has the number of a demand, its meaning in a few words, and places where it is met: in
this package, like `declaration.Class.name`, or in its tests, like `tests.test_ownership.test_name`.
If there is no place, the package's docstring gives the reason.
"""

DEMANDS: dict[str, tuple[str, ...]] = {
    "Q1": ("a new plugin beside the old one",),
    "Q2": ("first a minimal proof of concept",),
    "Q3": ("then a transient cluster",),
    "Q4": ("then a persistent one",),
    "Q5": ("then better updates of joiners", "joining.Updatee.end"),
    "Q6": ("the easiest option first",),
    "Q7": (
        "tests with senders and receivers",
        "replication.Replication.comes_back_from_the_dead",
        "replication.Replication.nothing_is_lost_or_doubled",
    ),
    "Q8": (
        "where the broker calls the cluster",
        "replica.Replica.reject",
        "replication_as_seed.ReplicationRinging",
    ),
    "Q9": (
        "a handler of what happens at the broker",
        "replica.Replica",
    ),
    "Q10": (
        "messages that are being enqueued here",
        "replica.Replica.local",
        "acceptance.ClientsFixed.nothing_of_this_node_is_forgotten",
    ),
    "Q11": (
        "a handler of delivered messages",
        "replica.Replica.enqueue_delivered",
    ),
    "Q12": ("a handler of delivered ownership", "declaration.QueueOwnerFixed"),
    "Q13": (
        "a core that holds them together",
        "replica.Replica",
    ),
    "Q14": ("the sketch shows the happy path only", "as_seed.QueueOwnerAsSeed"),
    "Q15": (
        "messages have an ID of node and sequence",
        "messages.MessageId",
        "replica.Replica.next_number",
    ),
    "Q16": (
        "flags of the thread that suppress replication",
        "replica.Replica.enqueue",
        "acceptance.ClientsFixed.clients_may_publish",
    ),
    "Q17": (
        "removals while a message is routed are not replicated",
        "replica.Replica.push",
        "acceptance.ClientsFixed.queues_are_as_said",
        "replication.ReplicationRing",
    ),
    "Q18": (
        "a new message is created once, and enqueued per queue",
        "replica.Replica.publish",
        "replica.Replica.enqueue",
        "promises.BrokersFixed.what_was_published_is_delivered",
    ),
    "Q19": (
        "the end of routing is replicated",
        "replica.Replica.routed",
    ),
    "Q20": (
        "taking a message is replicated",
        "replica.Replica.acquire",
        "promises.BrokersFixed.messages_are_taken_in_turn",
        "replication.Replication.one_client_has_it",
        "promises.BrokersFixed.one_client_has_it",
    ),
    "Q21": (
        "rejecting is replicated",
        "replica.Replica.reject",
        "promises.BrokersFixed.what_is_under_way_is_remembered",
    ),
    "Q22": (
        "a dequeue cleans up here",
        "replica.Replica.remove",
    ),
    "Q23": (
        "what is kept of entries and nodes",
        "replica.Replica.acquired",
        "replica.Replica.acquired_messages_are_on_their_queue",
    ),
    "Q24": (
        "delivered messages are enqueued by the others",
        "replica.Replica.enqueue_delivered",
        "replication.Replication.queues_have_one_order",
    ),
    "Q25": (
        "the end of routing cleans up",
        "replica.Replica.routed_delivered",
        "acceptance.ClientsFixed.routing_is_as_said",
        "replication.Replication.routing_ends",
    ),
    "Q26": (
        "a delivered acquire is noted",
        "replica.Replica.acquire_delivered",
        "replica.Replica.requeue_delivered",
        "promises.BrokersFixed.what_has_its_place_is_handled",
    ),
    "Q27": (
        "a delivered reject prepares to enqueue again",
        "replica.Replica.reject_delivered",
        "replication.Replication.nothing_is_lost_or_doubled",
    ),
    "Q28": (
        "a delivered dequeue removes the entry",
        "replica.Replica.dequeue_delivered",
        "replication.Replication.nobody_gets_what_is_gone",
        "promises.BrokersLive.what_is_acquired_is_settled",
    ),
    "Q29": (
        "what a member had acquired is released when it leaves",
        "replica.Replica.member_leaves",
        "replication.Replication.what_left_had_is_free",
    ),
    "Q30": (
        "a locked queue delivers nothing",
        "ownership.QueueOwner.dispatch",
        "ownership.QueueOwner.stopped_consumers_are_idle",
    ),
    "Q31": (
        "stopping waits for busy consumers",
        "ownership.QueueOwner.stopped",
        "ownership.QueueOwner.dispatched",
        "dispatching.DispatchingFixed",
        "promises.BrokersFixed.handling_ends_no_consumer",
        "promises.BrokersLive.who_is_busy_ends",
    ),
    "Q32": (
        "at most one owner, and none if nobody is interested",
        "turns.Turns.at_most_one_owner",
        "in_turns.ClusterInTurns.takes_turns",
        "system.Cluster.at_most_one_owner",
        "system.Cluster.in_the_end_somebody_interested_owns_it",
        "tests.test_system.test_there_is_at_most_one_owner_of_any_number_of_nodes",
    ),
    "Q33": (
        "released when interest is lost, or after a while if others are interested",
        "ownership.QueueOwner.lose_interest",
        "ownership.QueueOwner.slice_over",
        "system.Cluster.interested_nodes_own_it_one_day",
    ),
    "Q34": (
        "the next interested node round the ring owns it",
        "ownership.QueueOwner.next_after",
        "ownership.QueueOwner.the_next_one_gets_it",
    ),
    "Q35": (
        "consumers start stopped, and run by ownership alone",
        "ownership.QueueOwner.consumers_run_only_at_the_owner",
        "system.Cluster.who_runs_owns_the_queue",
    ),
    "Q36": ("drop and take of a queue", "ownership.QueueOwner.start_consumers"),
    "Q37": (
        "consumers and owner are replicated",
        "ownership.QueueOwner.consumers",
        "system.Cluster.all_come_to_know_the_same",
    ),
    "Q38": ("the first to consume owns it", "ownership.QueueOwner.consume_delivered"),
    "Q39": ("a delivered release passes it on", "ownership.QueueOwner.release_delivered"),
    "Q40": ("a delivered cancel ends interest", "ownership.QueueOwner.cancel_delivered"),
    "Q41": (
        "a member that leaves releases what it owned",
        "ownership.QueueOwner.member_leaves",
        "system.Cluster.the_owner_lives",
    ),
    "Q42": (
        "the first and the last consumer are made known",
        "ownership.QueueOwner.consume",
        "ownership.QueueOwner.interest_is_known",
    ),
    "Q43": (
        "what becomes of destroyed queues",
        "promises.BrokersFixed.every_queue_is_everywhere",
        "promises.BrokersFixed.handling_ends_no_consumer",
        "joining.Updatee.each_queue_has_its_number",
        "brokers.Brokers.forget",
        "system_as_seed.ClusterForgetting",
    ),
    "Q44": ("events and multicasts of the old cluster are used again",),
    "Q45": ("large messages in fragments, small ones in batches",),
    "Q46": (
        "completion is asynchronous",
        "replication.Replication.publishing_completes",
        "acceptance.ClientsFixed.what_is_said_is_what_was_asked",
    ),
    "Q47": (
        "wiring is replicated",
        "wiring.Wiring.declare",
        "wiring.Wiring.bind",
        "wiring.Wiring.destroy",
        "promises.BrokersFixed.every_queue_is_everywhere",
        "joining.Updatee.each_queue_has_its_number",
    ),
    "Q48": (
        "joiners are updated",
        "promises.BrokersFixed.replicas_have_what_was_said",
        "promises.BrokersFixed.owners_know_what_was_said",
        "promises.BrokersLive.who_joins_gets_every_queue",
    ),
    "Q49": ("persistence",),
    "Q50": (
        "other ways off a queue",
        "replica.Replica.expire",
        "replica.Replica.reject",
        "brokers.Brokers.expire",
        "replica.Replica.destroy_delivered",
    ),
    "Q51": (
        "flow control of internal queues",
        "replication.Replication.place",
    ),
    "Q52": ("transactions",),
    "Q53": ("the replication exchange",),
    "Q54": (
        "declaring, binding and destroying complete asynchronously",
        "wiring.Wiring",
    ),
    "Q55": ("queues that are not replicated",),
    "Q56": (
        "joiners catch up queue by queue",
        "joining.Updater.send",
        "joining.Updatee.receive",
        "declaration.QueueOwnerFixed.nothing_is_said_of_a_queue_that_is_updated",
        "promises.BrokersFixed.replicas_have_what_was_said",
        "promises.BrokersFixed.what_has_its_place_is_handled",
        "joining.Updatee.what_was_told_is_acquired",
    ),
    "Q57": ("no stall for wiring",),
    "Q58": ("observers of queues",),
}
