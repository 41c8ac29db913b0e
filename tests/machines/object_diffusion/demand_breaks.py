"""How each demand of object diffusion is broken, and which property notices it."""

from __future__ import annotations

from typing import NamedTuple


class Break(NamedTuple):
    """A small change of a machine that breaks a demand, and the property that then fails.

    `machine` is explored; `owner` is the machine whose text is changed, itself or a part, in the
    row of that name; `change` is in the words of `lawful lint --mutants`.
    """

    machine: str
    owner: str
    row: str
    change: str
    fails: str


PEER, CONNECTION = "declaration.InboundPeerFixed", "connection.ConnectionFixed"
REGISTRY, NODE = "registry.Registry", "system.DiffusionFixed"
ATTRIBUTION = "attribution.Attribution"


def of_the_peer(row: str, change: str, fails: str) -> Break:
    return Break(PEER, "InboundPeerFixed", row, change, fails)


# O1 and O2 say what there is, O19 how functions call each other, O43 is no demand. No change of one
# place breaks O39: the tests break it with a class of their own.
BREAKS: dict[str, Break] = {
    "O3": Break(
        NODE,
        "DiffusionFixed",
        "publish",
        "{p for p in self.peers} for {p for p in self.peers if self.peers[p].state =="
        " Status.UNREAD}",
        "loops_are_told",
    ),
    "O4": of_the_peer(
        "room",
        "remaining + self.num_ids_in_flight + 1 for remaining + self.num_ids_in_flight",
        "as_many_ids_as_allowed_are_requested",
    ),
    "O5": Break(
        CONNECTION,
        "InboundPeerFixed",
        "on_request_ids",
        "decision.ids_to_ack + 1 for decision.ids_to_ack",
        "nothing_to_complain_of",
    ),
    "O6": of_the_peer(
        "on_request_ids",
        "decision.can_pipeline_ids_req for not decision.can_pipeline_ids_req",
        "blocks_on_nothing",
    ),
    "O7": of_the_peer(
        "interesting",
        "x in self.available_ids for x in self.available_ids and x not in in_pool",
        "nothing_is_requested_that_the_pool_has",
    ),
    "O8": of_the_peer(
        "decide",
        "self.compute_ack(in_pool) + 1 for self.compute_ack(in_pool)",
        "decision_can_be_followed",
    ),
    "O9": Break(
        NODE,
        "DiffusionFixed",
        "publish",
        "self.peers[p].state != Status.UNREAD for self.peers[p].state == Status.UNREAD",
        "loops_are_told",
    ),
    "O10": of_the_peer(
        "on_decision_completed",
        "without the assignment of self.step",
        "decision_until_completed",
    ),
    "O11": of_the_peer("decide", "from any state", "a_frozen_decision_stays"),
    "O12": of_the_peer(
        "on_request_ids",
        "self.num_ids_in_flight + decision.ids_to_req + 1 for self.num_ids_in_flight +"
        " decision.ids_to_req",
        "in_flight_is_what_is_pending",
    ),
    "O13": of_the_peer(
        "take_ids",
        "self.num_ids_in_flight - request.count + 1 for self.num_ids_in_flight - request.count",
        "in_flight_is_what_is_pending",
    ),
    "O14": of_the_peer(
        "on_request_objects",
        "without the assignment of self.available_ids",
        "an_object_is_in_one_place",
    ),
    "O15": of_the_peer(
        "on_receive_objects",
        "without the assignment of self.owt_pool",
        "what_arrives_goes_to_the_pool",
    ),
    "O16": of_the_peer(
        "take_ids",
        "without require(implies(request.blocking, len(ids) > 0))",
        "a_blocking_reply_brings_something",
    ),
    "O17": of_the_peer(
        "on_decision_completed",
        "without require(self.objects_requested(decision))",
        "all_of_a_decision_is_done",
    ),
    "O18": of_the_peer("take_ids", "without require(self.collects())", "steps_are_in_order"),
    "O20": of_the_peer("decide", "ack + 1 for ack", "acked_are_not_requested"),
    "O21": of_the_peer(
        "on_request_objects",
        "without the assignment of self.inflight_ids",
        "in_flight_is_what_is_pending",
    ),
    "O22": of_the_peer(
        "take_ids",
        "self.num_ids_in_flight + request.count for self.num_ids_in_flight - request.count",
        "outbound_keeps_no_more_than_agreed",
    ),
    "O23": Break(
        CONNECTION,
        "InboundPeerFixed",
        "on_request_ids",
        "[] for self.outstanding_fifo[decision.ids_to_ack:]",
        "fifos_agree",
    ),
    "O24": of_the_peer(
        "on_request_ids",
        "without the assignment of self.available_ids",
        "available_are_outstanding",
    ),
    "O25": of_the_peer(
        "on_receive_objects",
        "without require(ids == request.ids)",
        "in_flight_is_what_is_pending",
    ),
    "O26": Break(
        REGISTRY,
        "Registry",
        "take_lock",
        "without require(x in self.peers[p].owt_pool)",
        "inserting_is_on_its_way",
    ),
    "O27": of_the_peer(
        "compute_ack",
        "x not in in_pool for x not in in_pool and not self.handled(x)",
        "the_longest_prefix_is_acked",
    ),
    "O28": Break(NODE, "DiffusionFixed", "Peers.on_rejected", "without self.leave(p)", "asserts"),
    "O29": of_the_peer(
        "compute_ack",
        "True for x not in in_pool and not self.handled(x)",
        "the_longest_prefix_is_acked",
    ),
    "O30": Break(
        NODE,
        "DiffusionFixed",
        "is_worth_it",
        "self.peers[p].state != Status.UNREAD for self.peers[p].state == Status.UNREAD",
        "decisions_are_up_to_date",
    ),
    "O31": Break(
        REGISTRY,
        "Registry",
        "to_request",
        "True for decision is None or self.is_active(p)",
        "no_more_copies_than_the_target",
    ),
    "O32": of_the_peer(
        "decide",
        "len(self.outstanding_fifo) - ack + 1 for len(self.outstanding_fifo) - ack",
        "blocks_where_nothing_can_come",
    ),
    "O33": of_the_peer(
        "interesting",
        "x in in_pool for x not in in_pool",
        "nothing_is_requested_that_the_pool_has",
    ),
    "O34": Break(
        ATTRIBUTION,
        "Attribution",
        "lawful.machines.object_diffusion.attribution.attributed",
        "x not in some for x in some",
        "only_what_is_interesting",
    ),
    "O35": Break(
        REGISTRY,
        "Registry",
        "acquiring",
        "0 for 1",
        "no_more_copies_than_the_target",
    ),
    "O36": of_the_peer(
        "load",
        "len(self.inflight_ids) - len(self.owt_pool) for len(self.inflight_ids) +"
        " len(self.owt_pool)",
        "what_the_pool_lacks_is_limited",
    ),
    "O37": Break(
        NODE,
        "DiffusionFixed",
        "publish",
        "Status.ACTING for Status.UNREAD",
        "loops_are_told",
    ),
    "O38": Break(
        ATTRIBUTION,
        "Attribution",
        "lawful.machines.object_diffusion.attribution.attributed",
        "copies + 1 + 1 for copies + 1",
        "nothing_more_could_be_picked",
    ),
    "O40": Break(
        NODE,
        "DiffusionFixed",
        "Peers.leave",
        "self.peers.clear() for del self.peers[p]",
        "one_at_a_time_leaves",
    ),
    "O41": Break(
        NODE,
        "DiffusionFixed",
        "Peers.leave",
        "without del self.peers[p]",
        "who_is_gone_is_not_registered",
    ),
    "O42": Break(
        NODE,
        "DiffusionFixed",
        "is_worth_it",
        "in_pool for objects",
        "lost_copies_are_asked_for_again",
    ),
}
