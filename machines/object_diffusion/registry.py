"""Object diffusion: the global state, and the rounds of decisions over it.

Source: `object-diffusion.md` as in `declaration.py`: `DecisionGlobalState` with the decision
channels, registration by a bracket, and `makeDecisions` [seed:16-20,134-176]. A service embeds a
`Registry`. It contains the entry of every peer; each callback names the peer that calls it. A round
reads the state of all peers, and changes decisions only.

Abstractions. A `Peer` is one connection to an outbound peer, not its address: a peer that
reconnects is a new `Peer`, so that the end of the earlier connection's bracket cannot harm the
later connection (O-B8). Reading the state, computing and publishing are one step (O-B6). The caller
passes the object with which a round begins: if that changes from round to round, no object starves
(O-B9).
"""

from lawful import Machine, Nat, Param, Scope, assume, invariant, reachable, require, transition

from .attribution import Limits, Peer, attributed
from .declaration import InboundPeerFixed, Status
from .messages import Decision, ObjectId, RequestIds, RequestObjects


class Peers(Machine, abstract=True):
    """The entries of all inbound peers [seed:16-18] (O1)."""

    peers: dict[Peer, InboundPeerFixed] = {}

    target_object_redundancy: Param[Nat] = 3
    max_num_objects_outstanding: Param[Nat] = 100
    max_num_objects_inflight_per_peer: Param[Nat] = 50
    max_num_objects_inflight_total: Param[Nat] = 500
    max_num_ids_req: Param[Nat] = 10

    @assume
    def every_limit_leaves_something(self) -> bool:
        return (
            self.target_object_redundancy > 0
            and self.max_num_objects_outstanding > 0
            and self.max_num_objects_inflight_per_peer > 0
            and self.max_num_objects_inflight_total > 0
            and self.max_num_ids_req > 0
        )

    # The bracket of a connection [seed:168-170] (O40).

    @transition()
    def register(self, p: Peer) -> None:
        require(p not in self.peers, "this connection is registered")
        self.peers[p] = InboundPeerFixed(
            max_num_objects_outstanding=self.max_num_objects_outstanding,
            max_num_objects_inflight=self.max_num_objects_inflight_per_peer,
            max_num_ids_req=self.max_num_ids_req,
        )

    @transition()
    def unregister(self, p: Peer) -> None:
        """Its state and its decision go in one step; there is nothing else to clean up."""
        require(p in self.peers, "this connection is not registered")
        del self.peers[p]

    # The callbacks of a peer [seed:27-46] (O8).

    @transition()
    def read_decision(self, p: Peer) -> Decision:
        require(p in self.peers, "this connection is not registered")
        return self.peers[p].read_decision()

    @transition()
    def on_decision_completed(self, p: Peer) -> None:
        require(p in self.peers, "this connection is not registered")
        self.peers[p].on_decision_completed()

    @transition()
    def on_receive_ids(self, p: Peer, ids: tuple[ObjectId, ...]) -> None:
        require(p in self.peers, "this connection is not registered")
        self.peers[p].on_receive_ids(ids)

    @transition()
    def on_receive_objects(self, p: Peer, ids: frozenset[ObjectId]) -> None:
        require(p in self.peers, "this connection is not registered")
        self.peers[p].on_receive_objects(ids)

    @transition()
    def on_request_objects(self, p: Peer) -> RequestObjects:
        require(p in self.peers, "this connection is not registered")
        return self.peers[p].on_request_objects()

    @transition()
    def on_request_ids(self, p: Peer) -> RequestIds:
        require(p in self.peers, "this connection is not registered")
        return self.peers[p].on_request_ids()

    @transition()
    def on_added_to_pool(self, p: Peer, x: ObjectId) -> None:
        require(p in self.peers, "this connection is not registered")
        self.peers[p].on_added_to_pool(x)


class Registry(Peers):
    """The entries, and the thread that decides for them [seed:20] (O3)."""

    @transition()
    def make_decisions(self, in_pool: frozenset[ObjectId], first: ObjectId) -> frozenset[Peer]:
        """A round for all active peers [seed:134-166] (O3, O30, O31, O37, O39).

        Returns the peers whose channel contains a decision. If a peer completed its last decision,
        and there is nothing to do and no reply to read, its channel stays empty.
        """
        return self.publish(in_pool, self.picked(in_pool, first))

    def picked(
        self, in_pool: frozenset[ObjectId], first: ObjectId
    ) -> dict[Peer, frozenset[ObjectId]]:
        """Which objects each active peer is to request (O36)."""
        limits = Limits(
            self.target_object_redundancy,
            self.max_num_objects_inflight_per_peer,
            self.max_num_objects_inflight_total,
        )
        return attributed(
            self.interesting(in_pool), self.acquiring(), self.inflight(), limits, first
        )

    def publish(
        self, in_pool: frozenset[ObjectId], picked: dict[Peer, frozenset[ObjectId]]
    ) -> frozenset[Peer]:
        """Combine the picked objects with each peer's ack and number of IDs [seed:162] (O32,
        O37)."""
        for p, peer in self.peers.items():
            if self.is_active(p) and self.is_worth_it(p, in_pool, picked[p]):
                peer.decide(in_pool, picked[p])
        return frozenset(p for p, peer in self.peers.items() if peer.state == Status.UNREAD)

    def is_active(self, p: Peer) -> bool:
        """Whether it acts upon no decision; else its decision is frozen [seed:138-139] (O30)."""
        return self.peers[p].state != Status.ACTING

    def is_worth_it(
        self, p: Peer, in_pool: frozenset[ObjectId], objects: frozenset[ObjectId]
    ) -> bool:
        """Whether it replaces an unread decision, or there is something to request or to read."""
        peer = self.peers[p]
        remaining = len(peer.outstanding_fifo) - peer.compute_ack(in_pool)
        return (
            peer.state == Status.UNREAD
            or len(objects) > 0
            or len(peer.pending) > 0
            or peer.ids_to_request(remaining) > 0
        )

    def interesting(self, in_pool: frozenset[ObjectId]) -> dict[Peer, frozenset[ObjectId]]:
        """The objects that each active peer could request [seed:145-150] (O33, O34)."""
        return {p: peer.interesting(in_pool) for p, peer in self.peers.items() if self.is_active(p)}

    def acquiring(self) -> dict[ObjectId, Nat]:
        """How many copies of each announced object are on their way [seed:154-158] (O35)."""
        announced = {x for peer in self.peers.values() for x in peer.outstanding_fifo}
        return {x: sum(1 for p in self.peers if self.acquires(p, x)) for x in announced}

    def acquires(self, p: Peer, x: ObjectId) -> bool:
        """Whether it is in flight, received, or still to be requested by a frozen peer (O31)."""
        peer = self.peers[p]
        return x in peer.inflight_ids or x in peer.owt_pool or x in self.to_request(p)

    def to_request(self, p: Peer) -> frozenset[ObjectId]:
        """The objects that a frozen peer has still to request."""
        decision = self.peers[p].decision
        if decision is None or self.is_active(p):
            return frozenset()
        return frozenset(x for x in decision.objects_to_req if x in self.peers[p].available_ids)

    def inflight(self) -> dict[Peer, Nat]:
        """The number of objects in flight from each peer, with those that it has still to
        request."""
        return {
            p: len(peer.inflight_ids) + len(self.to_request(p)) for p, peer in self.peers.items()
        }

    # What is on its way.

    def wanted(self, p: Peer) -> frozenset[ObjectId]:
        """The objects that a peer has in flight, and those that its decision asks for, read or
        not."""
        peer = self.peers[p]
        decision = peer.decision
        if decision is None:
            return frozenset(peer.inflight_ids)
        return frozenset(peer.inflight_ids | (decision.objects_to_req & peer.available_ids))

    def copies(self, x: ObjectId) -> Nat:
        return sum(1 for p, peer in self.peers.items() if x in peer.owt_pool or x in self.wanted(p))

    @invariant
    def no_more_copies_than_the_target(self) -> bool:
        """Copies in flight, received, or decided upon [seed:152-160] (O31, O35, O36)."""
        return all(self.copies(x) <= self.target_object_redundancy for x in ObjectId)

    @invariant
    def total_in_flight_is_limited(self) -> bool:
        """With the objects that are only decided upon (O36)."""
        return sum(len(self.wanted(p)) for p in self.peers) <= self.max_num_objects_inflight_total

    @invariant
    def asks_for_no_objects_where_it_blocks(self) -> bool:
        """A blocking decision acks all IDs, so that no object is left to request (O6)."""
        return all(self.pipelines(p) or not self.asked(p) for p in self.peers)

    @invariant
    def waits_upon_a_decision_to_block(self) -> bool:
        """A peer waits only while it acts upon a blocking decision, until the reply arrives
        (O17)."""
        return all(
            peer.state == Status.ACTING and not self.pipelines(p)
            for p, peer in self.peers.items()
            if peer.waits()
        )

    def pipelines(self, p: Peer) -> bool:
        decision = self.peers[p].decision
        return decision is None or decision.can_pipeline_ids_req

    def asked(self, p: Peer) -> bool:
        decision = self.peers[p].decision
        return decision is not None and len(decision.objects_to_req) > 0

    @reachable
    def a_frozen_peer_counts_before_it_asks(self) -> bool:
        """Another peer could request the object too, and does not (O31, O35)."""
        return any(
            len(self.to_request(p)) > 0
            and any(
                q != p and self.peers[q].state == Status.UNREAD and x in self.peers[q].available_ids
                for q in self.peers
                for x in self.to_request(p)
            )
            for p in self.peers
        )

    @reachable
    def two_copies_are_in_flight(self) -> bool:
        return any(
            all(p in self.peers and x in self.peers[p].inflight_ids for p in Peer) for x in ObjectId
        )

    scope = Scope(
        {"on_receive_ids.ids": 1},
        Peer=2,
        ObjectId=1,
        Nat=range(0, 3),
        outstanding_fifo=2,
        pending=3,
        target_object_redundancy=(1, 2),
        max_num_objects_outstanding=(1,),
        max_num_objects_inflight_per_peer=(1,),
        max_num_objects_inflight_total=(1, 2),
        max_num_ids_req=(1,),
    )


class AnyPeers(Peers):
    """Peers with arbitrary picks: a round of the registry consists of some of these steps.

    All its properties also hold in the registry, and are proved for any number of peers.
    """

    @transition()
    def decide(self, p: Peer, in_pool: frozenset[ObjectId], objects: frozenset[ObjectId]) -> None:
        require(p in self.peers, "this connection is not registered")
        self.peers[p].decide(in_pool, objects)

    scope = Scope(
        {"on_receive_ids.ids": 2},
        Peer=2,
        ObjectId=1,
        Nat=range(0, 3),
        outstanding_fifo=2,
        pending=3,
        target_object_redundancy=(1,),
        max_num_objects_outstanding=(2,),
        max_num_objects_inflight_per_peer=(1,),
        max_num_objects_inflight_total=(1,),
        max_num_ids_req=(1,),
    )
