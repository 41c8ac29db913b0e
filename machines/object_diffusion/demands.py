"""The demands of `object-diffusion.md`, and where each is met.

Each entry has the number of a demand, its meaning in a few words, and places where it is met: in
this package, like `declaration.Class.name`, or in its tests, like `tests.test_peer.test_name`. If
there is no place, the package's docstring gives the reason.
"""

DEMANDS: dict[str, tuple[str, ...]] = {
    "O1": ("one state over all connections, a map from peers to theirs", "registry.Peers.peers"),
    "O2": ("a state of the interaction per peer", "declaration.InboundPeer"),
    "O3": (
        "a decision thread reads all states and decides for each peer",
        "registry.Registry.make_decisions",
    ),
    "O4": ("how many new IDs to request", "messages.Decision.ids_to_req"),
    "O5": (
        "acks go with a request for IDs, and wait where none is made",
        "messages.Decision.ids_to_ack",
        "declaration.InboundPeer.an_ack_waits",
    ),
    "O6": (
        "a request for IDs is pipelined, or blocks",
        "messages.Decision.can_pipeline_ids_req",
        "declaration.InboundPeer.blocks_on_nothing",
    ),
    "O7": ("which objects to request", "messages.Decision.objects_to_req"),
    "O8": (
        "a peer follows its decision, by callbacks alone",
        "declaration.InboundPeer.decision_can_be_followed",
    ),
    "O9": ("reading waits for a new decision", "declaration.InboundPeer.read_decision"),
    "O10": ("completion is signalled", "declaration.InboundPeer.on_decision_completed"),
    "O11": (
        "a decision is unread, acted upon or completed; while acted upon it is frozen",
        "declaration.Status",
        "declaration.InboundPeer.a_frozen_decision_stays",
    ),
    "O12": (
        "requesting IDs adds their number in flight and drops the acked prefix",
        "declaration.InboundPeer.on_request_ids",
    ),
    "O13": (
        "receiving IDs takes off what was requested, whatever came",
        "declaration.InboundPeer.take_ids",
        "declaration.InboundPeer.fewer_ids_than_requested",
        "tests.test_peer.test_ten_requested_and_seven_received",
    ),
    "O14": (
        "requesting objects moves them from available to in flight",
        "declaration.InboundPeer.on_request_objects",
    ),
    "O15": (
        "received objects are on their way to the pool until it has them",
        "declaration.InboundPeer.on_receive_objects",
        "declaration.InboundPeer.on_added_to_pool",
        "system.Diffusion.received_is_not_lost",
    ),
    "O16": (
        "the callbacks check the protocol",
        "declaration.InboundPeer.take_ids",
        "connection.Connection.honest_peers_stay",
    ),
    "O17": (
        "a decision is acted upon fully before that is signalled",
        "declaration.InboundPeer.on_decision_completed",
    ),
    "O18": ("read, collect, request objects, request IDs, signal", "declaration.Step"),
    "O19": ("each step calls the next in sequence", "declaration.Step"),
    "O20": (
        "no object is requested whose ID is acked in that round",
        "declaration.InboundPeer.acked_are_not_requested",
    ),
    "O21": (
        "each callback changes the fields that the diagram says",
        "declaration.InboundPeer.an_object_is_in_one_place",
        "declaration.InboundPeerFixed.requested_once",
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
    "O26": ("received objects wait for the pool's lock", "declaration.InboundPeer.owt_pool"),
    "O27": (
        "what this peer downloads to the pool, or the pool has, may be acked",
        "declaration.InboundPeer.compute_ack",
    ),
    "O28": (
        "an object that the pool rejects disconnects its peer, and others are asked",
        "system.Diffusion.reject",
        "system.Diffusion.a_rejected_object_comes_from_another",
    ),
    "O29": (
        "the longest prefix is acked, of a FIFO that mirrors the outbound one",
        "declaration.InboundPeer.compute_ack",
        "connection.Connection.fifos_agree",
    ),
    "O30": (
        "unread and completed decisions are made anew",
        "declaration.InboundPeer.decide",
    ),
    "O31": (
        "frozen peers keep their decision and inform the others",
        "registry.Registry.acquires",
        "registry.Registry.a_frozen_peer_counts_before_it_asks",
        "declaration.InboundPeer.a_frozen_decision_stays",
    ),
    "O32": (
        "what to ack and how many IDs to request comes first",
        "registry.Registry.publish",
        "declaration.InboundPeer.compute_ack",
        "declaration.InboundPeer.ids_to_request",
    ),
    "O33": (
        "candidates are available, not in the pool, not acked in this round",
        "declaration.InboundPeer.interesting",
        "attribution.Attribution.only_what_is_interesting",
    ),
    "O34": (
        "which active peers can provide an object",
        "registry.Registry.interesting",
        "attribution.attributed",
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
        "registry.Registry.total_in_flight_is_limited",
    ),
    "O37": ("partial decisions are completed and published", "registry.Registry.publish"),
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
    ),
    "O41": (
        "protocol errors and rejected objects disconnect",
        "connection.Connection.collect",
        "system.Diffusion.reject",
    ),
    "O42": (
        "the next round asks others for what is lost",
        "system.Diffusion.lost_copies_are_asked_for_again",
    ),
    "O43": ("differences to TxSubmission V2",),
}
