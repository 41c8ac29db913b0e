"""The demands of `object-diffusion.md`, where each is met, and who notices when it is broken.

Each entry has the number of a demand, its meaning in a few words, and places where it is met: in
this package, like `declaration.Class.name`, or in its tests, like `tests.test_peer.test_name`. If
there is no place, the package's docstring gives the reason. The tests break each demand, and one of
its properties notices it (`tests/machines/object_diffusion/demand_breaks.py`).
"""

DEMANDS: dict[str, tuple[str, ...]] = {
    "O1": ("one state over all connections, a map from peers to theirs", "registry.Peers.peers"),
    "O2": ("a state of the interaction per peer", "callbacks.Callbacks"),
    "O3": (
        "a decision thread reads all states and decides for each peer",
        "registry.Registry.make_decisions",
        "system.Diffusion.loops_are_told",
        "in_turns.RegistryInTurns.a_round_is_possible_at_any_time",
    ),
    "O4": (
        "how many new IDs to request",
        "messages.Decision.ids_to_req",
        "declaration.InboundPeerFixed.as_many_ids_as_allowed_are_requested",
        "declaration.InboundPeer.decision_can_be_followed",
    ),
    "O5": (
        "acks go with a request for IDs, and wait where none is made",
        "messages.Decision.ids_to_ack",
        "declaration.InboundPeer.an_ack_waits",
        "connection.Connection.fifos_agree",
        "connection.Connection.nothing_to_complain_of",
    ),
    "O6": (
        "a request for IDs is pipelined, or blocks",
        "messages.Decision.can_pipeline_ids_req",
        "declaration.InboundPeer.blocks_on_nothing",
        "declaration.InboundPeerFixed.blocks_where_nothing_can_come",
    ),
    "O7": (
        "which objects to request",
        "messages.Decision.objects_to_req",
        "declaration.InboundPeer.nothing_is_requested_that_the_pool_has",
    ),
    "O8": (
        "a peer follows its decision, by callbacks alone",
        "declaration.InboundPeer.decision_can_be_followed",
    ),
    "O9": (
        "reading waits for a new decision",
        "callbacks.Callbacks.read_decision",
        "system.Diffusion.loops_are_told",
    ),
    "O10": (
        "completion is signalled",
        "callbacks.Callbacks.on_decision_completed",
        "declaration.InboundPeerFixed.all_of_a_decision_is_done",
        "declaration.InboundPeer.decision_until_completed",
    ),
    "O11": (
        "a decision is unread, acted upon or completed; while acted upon it is frozen",
        "callbacks.Status",
        "declaration.InboundPeer.a_frozen_decision_stays",
    ),
    "O12": (
        "requesting IDs adds their number in flight and drops the acked prefix",
        "callbacks.Callbacks.on_request_ids",
        "declaration.InboundPeer.in_flight_is_what_is_pending",
        "declaration.InboundPeer.each_request_asks_for_something",
    ),
    "O13": (
        "receiving IDs takes off what was requested, whatever came",
        "callbacks.Callbacks.take_ids",
        "declaration.InboundPeer.fewer_ids_than_requested",
        "tests.test_peer.test_ten_requested_and_seven_received",
        "declaration.InboundPeer.no_more_comes_than_was_requested",
        "declaration.InboundPeer.in_flight_is_what_is_pending",
        "system.Diffusion.announced_ids_are_outstanding",
    ),
    "O14": (
        "requesting objects moves them from available to in flight",
        "callbacks.Callbacks.on_request_objects",
        "declaration.InboundPeer.an_object_is_in_one_place",
    ),
    "O15": (
        "received objects are on their way to the pool until it has them",
        "callbacks.Callbacks.on_receive_objects",
        "callbacks.Callbacks.on_added_to_pool",
        "system.Diffusion.received_is_not_lost",
        "registry.Peers.only_the_holder_inserts",
        "declaration.InboundPeerFixed.what_arrives_goes_to_the_pool",
        "declaration.InboundPeer.one_object_at_a_time_is_inserted",
    ),
    "O16": (
        "the callbacks check the protocol",
        "callbacks.Callbacks.take_ids",
        "connection.Connection.honest_peers_stay",
        "declaration.InboundPeer.a_blocking_reply_brings_something",
        "declaration.InboundPeer.no_more_comes_than_was_requested",
    ),
    "O17": (
        "a decision is acted upon fully before that is signalled",
        "callbacks.Callbacks.on_decision_completed",
        "declaration.InboundPeerFixed.all_of_a_decision_is_done",
    ),
    "O18": (
        "read, collect, request objects, request IDs, signal",
        "callbacks.Step",
        "declaration.InboundPeerFixed.steps_are_in_order",
    ),
    "O19": ("each step calls the next in sequence", "callbacks.Step"),
    "O20": (
        "no object is requested whose ID is acked in that round",
        "declaration.InboundPeer.acked_are_not_requested",
    ),
    "O21": (
        "each callback changes the fields that the diagram says",
        "declaration.InboundPeer.an_object_is_in_one_place",
        "declaration.InboundPeerFixed.requested_once",
        "declaration.InboundPeer.in_flight_is_what_is_pending",
    ),
    "O22": (
        "the outbound peer keeps no more than the limit available",
        "declaration.InboundPeer.outbound_keeps_no_more_than_agreed",
        "connection.Connection.outbound_keeps_few",
        "tests.test_proofs.test_the_limit_is_kept_for_any_number_of_peers",
    ),
    "O23": (
        "the FIFO is in the outbound peer's order, and acks are a prefix",
        "declaration.InboundPeer.acks_are_a_prefix",
        "connection.Connection.fifos_agree",
    ),
    "O24": (
        "what is available is in the FIFO",
        "declaration.InboundPeer.available_are_outstanding",
    ),
    "O25": (
        "exactly the requested objects arrive, and all do",
        "declaration.InboundPeer.in_flight_is_what_is_pending",
        "declaration.InboundPeer.nothing_left",
    ),
    "O26": (
        "received objects wait for the pool's lock",
        "callbacks.Callbacks.owt_pool",
        "registry.Peers.inserting_is_on_its_way",
        "registry.Peers.take_lock",
    ),
    "O27": (
        "what this peer downloads to the pool, or the pool has, may be acked",
        "callbacks.Callbacks.compute_ack",
        "declaration.InboundPeerFixed.the_longest_prefix_is_acked",
    ),
    "O28": (
        "an object that the pool rejects disconnects its peer, and others are asked",
        "registry.Peers.on_rejected",
        "system.Diffusion.a_rejected_object_comes_from_another",
    ),
    "O29": (
        "the longest prefix is acked, of a FIFO that mirrors the outbound one",
        "callbacks.Callbacks.compute_ack",
        "connection.Connection.fifos_agree",
        "declaration.InboundPeerFixed.the_longest_prefix_is_acked",
    ),
    "O30": (
        "unread and completed decisions are made anew",
        "callbacks.Callbacks.decide",
        "system.Diffusion.decisions_are_up_to_date",
    ),
    "O31": (
        "frozen peers keep their decision and inform the others",
        "registry.Registry.acquires",
        "registry.Registry.a_frozen_peer_counts_before_it_asks",
        "declaration.InboundPeer.a_frozen_decision_stays",
        "registry.Registry.no_more_copies_than_the_target",
    ),
    "O32": (
        "what to ack and how many IDs to request comes first",
        "registry.Registry.publish",
        "callbacks.Callbacks.compute_ack",
        "callbacks.Callbacks.ids_to_request",
        "declaration.InboundPeerFixed.blocks_where_nothing_can_come",
    ),
    "O33": (
        "candidates are available, not in the pool, not acked in this round",
        "callbacks.Callbacks.interesting",
        "attribution.Attribution.only_what_is_interesting",
        "declaration.InboundPeer.nothing_is_requested_that_the_pool_has",
        "declaration.InboundPeerFixed.what_the_pool_lacks_may_be_requested",
    ),
    "O34": (
        "which active peers can provide an object",
        "registry.Registry.interesting",
        "attribution.attributed",
        "attribution.Attribution.only_what_is_interesting",
    ),
    "O35": (
        "which copies are being acquired",
        "registry.Registry.acquiring",
        "registry.Registry.no_more_copies_than_the_target",
    ),
    "O36": (
        "as many providers as the target lacks, within the limits of each peer and of all",
        "attribution.Attribution.redundancy_is_met_and_no_more",
        "attribution.Attribution.limits_are_kept",
        "registry.Registry.what_the_pool_lacks_is_limited",
        "system.Diffusion.a_round_leaves_nothing_to_ask_for",
        "in_turns.RegistryInTurns.a_round_asks_for_all_that_it_may",
        "declaration.InboundPeer.what_the_pool_lacks_is_limited",
    ),
    "O37": (
        "partial decisions are completed and published",
        "registry.Registry.publish",
        "system.Diffusion.loops_are_told",
    ),
    "O38": (
        "copies come first, coverage and balance later",
        "attribution.Attribution.copies_come_before_coverage",
        "attribution.Attribution.nothing_more_could_be_picked",
    ),
    "O39": (
        "deciding changes nothing but decisions",
        "system.Diffusion.deciding_changes_decisions_alone",
    ),
    "O40": (
        "a bracket registers and unregisters",
        "registry.Peers.register",
        "registry.Peers.unregister",
        "system.Diffusion.one_at_a_time_leaves",
        "system.Diffusion.who_is_gone_is_not_registered",
    ),
    "O41": (
        "protocol errors and rejected objects disconnect",
        "connection.Connection.collect",
        "registry.Peers.on_rejected",
        "system.Diffusion.who_is_gone_is_not_registered",
    ),
    "O42": (
        "the next round asks others for what is lost",
        "system.Diffusion.lost_copies_are_asked_for_again",
    ),
    "O43": ("differences to TxSubmission V2",),
}
