"""Object diffusion: the global state, and the rounds of decisions over it.

Source: `object-diffusion.md` as in `declaration.py`: `DecisionGlobalState` with the decision
channels, registration by a bracket, and `makeDecisions` [seed:16-20,134-176]. A service embeds a
`Registry`. It contains the entry of every peer; each callback names the peer that calls it. A round
reads the state of all peers, and changes decisions only.

The registry has the pool's lock, which its service holds while it inserts an object, and the order
in which rounds visit the objects. What it returns is what its service does: it wakes the peers that
have a decision, tells a peer its decision, and sends a request. The service calls `make_decisions`
again and again (O3), and disconnects a peer whose reply is refused (O41).

Abstractions. A `Peer` is one connection to an outbound peer, not its address: a peer that
reconnects is a new `Peer`, so that the end of the earlier connection's bracket cannot harm the
later connection (O-B8). Reading the state, computing and publishing are one step (O-B6).
"""

from lawful import (
    Machine,
    Nat,
    Param,
    Record,
    Scope,
    assume,
    invariant,
    reachable,
    require,
    step_property,
    transition,
)

from .attribution import Limits, Peer, attributed, begun_with
from .callbacks import Status
from .declaration import InboundPeerFixed
from .messages import Decision, ObjectId, RequestIds, RequestObjects


class Insertion(Record):
    """The holder of the pool's lock, and its object."""

    peer: Peer
    object: ObjectId


class Peers(Machine, abstract=True):
    """The entries of all inbound peers [seed:16-18] (O1)."""

    peers: dict[Peer, InboundPeerFixed] = {}
    lock: Insertion | None = None

    target_object_redundancy: Param[Nat] = 3
    max_num_objects_outstanding: Param[Nat] = 100
    max_num_objects_inflight_per_peer: Param[Nat] = 50
    max_num_objects_inflight_total: Param[Nat] = 500
    max_num_ids_req: Param[Nat] = 10
    reply_timeout: Param[Nat] = 10

    @assume
    def every_limit_leaves_something(self) -> bool:
        return (
            self.target_object_redundancy > 0
            and self.max_num_objects_outstanding > 0
            and self.max_num_objects_inflight_per_peer > 0
            and self.max_num_objects_inflight_total > 0
            and self.max_num_ids_req > 0
            and self.reply_timeout > 0
        )

    # The bracket of a connection [seed:168-170] (O40).

    @transition()
    def register(self, p: Peer) -> None:
        require(p not in self.peers, "this connection is registered")
        self.admit(p)

    def admit(self, p: Peer) -> None:
        self.peers[p] = InboundPeerFixed(
            max_num_objects_outstanding=self.max_num_objects_outstanding,
            max_num_objects_inflight=self.max_num_objects_inflight_per_peer,
            max_num_ids_req=self.max_num_ids_req,
            reply_timeout=self.reply_timeout,
        )

    @transition()
    def unregister(self, p: Peer) -> None:
        """Its state and its decision go in one step, and the lock if it has it."""
        require(p in self.peers, "this connection is not registered")
        self.leave(p)

    def leave(self, p: Peer) -> None:
        """An insertion that has not happened will not happen."""
        del self.peers[p]
        if self.lock is not None and self.lock.peer == p:
            self.lock = None

    @transition(timer="peers[p].reply")
    def time_out(self, p: Peer) -> None:
        """The next reply is late: the caller disconnects the peer (O-B7)."""
        self.leave(p)

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

    # The way to the pool: `submitObjectsToPool` [seed:43,118] (O15, O26).

    @transition()
    def take_lock(self, p: Peer, x: ObjectId) -> None:
        """Only its holder inserts an object."""
        require(self.lock is None, "the pool is locked")
        require(p in self.peers, "this connection is not registered")
        require(x in self.peers[p].owt_pool, "not on its way to the pool")
        self.lock = Insertion(p, x)

    @transition()
    def on_added_to_pool(self, p: Peer, x: ObjectId) -> None:
        """It is in the pool before it leaves the way to the pool (O15)."""
        require(self.lock == Insertion(p, x), "does not have the lock")
        self.peers[p].on_added_to_pool(x)
        self.lock = None

    @transition()
    def on_rejected(self, p: Peer, x: ObjectId) -> None:
        """The pool finds it invalid, so its peer is adversarial: the caller disconnects it
        [seed:127-130] (O28, O41)."""
        require(self.lock == Insertion(p, x), "does not have the lock")
        self.leave(p)

    @invariant
    def entries_have_the_limits_of_the_node(self) -> bool:
        """Whatever a round picks, an entry refuses what is beyond them (O8, O22, O36, O-B7)."""
        return all(
            peer.max_num_objects_outstanding == self.max_num_objects_outstanding
            and peer.max_num_objects_inflight == self.max_num_objects_inflight_per_peer
            and peer.max_num_ids_req == self.max_num_ids_req
            and peer.reply_timeout == self.reply_timeout
            for peer in self.peers.values()
        )

    @step_property
    def only_the_holder_inserts(self, after: "Peers") -> bool:
        """What other peers have on the way to the pool stays there, also another copy, and so do
        the holder's other objects (O15, O26)."""
        return all(
            x in peer.owt_pool or self.lock == Insertion(p, x)
            for p, peer in after.peers.items()
            if p in self.peers
            for x in self.peers[p].owt_pool
        )

    @step_property
    def the_lock_is_free_before_it_is_taken(self, after: "Peers") -> bool:
        """Also by the peer that has it, for another object (O15, O26)."""
        return self.lock is None or after.lock is None or after.lock == self.lock

    @invariant
    def inserting_is_on_its_way(self) -> bool:
        """The holder of the lock is connected, and has the object (O15, O26)."""
        lock = self.lock
        return lock is None or (
            lock.peer in self.peers and lock.object in self.peers[lock.peer].owt_pool
        )


class Registry(Peers):
    """The entries, and the thread that decides for them [seed:20] (O3)."""

    last: ObjectId | None = None

    @transition()
    def make_decisions(self, in_pool: frozenset[ObjectId]) -> frozenset[Peer]:
        """A round for all active peers [seed:134-166] (O3, O30, O31, O37, O39).

        Returns the peers whose channel contains a decision: the caller wakes them. If a peer
        completed its last decision, and there is nothing to do and no reply to read, its channel
        stays empty.
        """
        return self.publish(in_pool, self.picked(in_pool))

    def picked(self, in_pool: frozenset[ObjectId]) -> dict[Peer, frozenset[ObjectId]]:
        """Which objects each active peer is to request (O36). The next round begins later."""
        limits = Limits(
            self.target_object_redundancy,
            self.max_num_objects_inflight_per_peer,
            self.max_num_objects_inflight_total,
        )
        interesting, acquiring = self.interesting(in_pool), self.acquiring()
        picked = attributed(interesting, acquiring, self.inflight(), limits, self.last)
        self.last = begun_with(interesting, acquiring, picked, self.last)
        return picked

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
        """The number of objects in flight from each peer, until the pool has them (O-B10), with
        those that it has still to request."""
        return {p: peer.load() + len(self.to_request(p)) for p, peer in self.peers.items()}

    # What is on its way.

    def on_their_way(self, p: Peer) -> frozenset[ObjectId]:
        """The objects that a peer has in flight or received, and those that its decision asks for,
        read or not."""
        peer = self.peers[p]
        decision = peer.decision
        asked = peer.inflight_ids | peer.owt_pool
        if decision is None:
            return frozenset(asked)
        return frozenset(asked | (decision.objects_to_req & peer.available_ids))

    def copies(self, x: ObjectId) -> Nat:
        return sum(1 for p in self.peers if x in self.on_their_way(p))

    def leaves_out(self, p: Peer, in_pool: frozenset[ObjectId]) -> bool:
        """Whether an active peer could be asked for an object in addition."""
        asked = self.on_their_way(p)
        total = sum(len(self.on_their_way(q)) for q in self.peers)
        return (
            self.is_active(p)
            and len(asked) < self.max_num_objects_inflight_per_peer
            and total < self.max_num_objects_inflight_total
            and any(
                x not in in_pool
                and x not in asked
                and self.copies(x) < self.target_object_redundancy
                for x in self.peers[p].available_ids
            )
        )

    @invariant
    def no_more_copies_than_the_target(self) -> bool:
        """Copies in flight, received, or decided upon [seed:152-160] (O31, O35, O36)."""
        return all(self.copies(x) <= self.target_object_redundancy for x in ObjectId)

    @invariant
    def what_the_pool_lacks_is_limited(self) -> bool:
        """Objects in flight, received, or decided upon, of all peers together (O36, O-B10)."""
        every = sum(len(self.on_their_way(p)) for p in self.peers)
        return every <= self.max_num_objects_inflight_total

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

    @step_property
    def rounds_take_turns(self, after: "Registry") -> bool:
        """A round begins with the next wanted object after that with which the last round began; if
        that could not be requested, its turn stays (O-B9)."""
        return all(
            after.last == self.begins_with(peer.had)
            for p, peer in after.peers.items()
            if peer.state == Status.UNREAD
            and p in self.peers
            and self.peers[p].state == Status.COMPLETED
        )

    def begins_with(self, in_pool: frozenset[ObjectId]) -> ObjectId | None:
        ids = {x for p in self.peers if self.is_active(p) for x in self.peers[p].available_ids}
        wanted = ids - in_pool
        turn = next((x for x in sorted(wanted) if all(self.is_next(y, x) for y in wanted)), None)
        if turn is None:
            return self.last
        return turn if self.copies(turn) > 0 or self.has_room_for(turn) else self.last

    def has_room_for(self, x: ObjectId) -> bool:
        """Whether a round could request it from a peer, before it requests anything."""
        loads = {
            p: peer.load() if self.is_active(p) else len(self.on_their_way(p))
            for p, peer in self.peers.items()
        }
        return sum(loads.values()) < self.max_num_objects_inflight_total and any(
            x in peer.available_ids
            and self.is_active(p)
            and loads[p] < self.max_num_objects_inflight_per_peer
            for p, peer in self.peers.items()
        )

    def is_next(self, x: ObjectId, first: ObjectId) -> bool:
        """Whether no round skips x that begins with `first`."""
        last = self.last
        if last is None or first > last:
            return x >= first or (last is not None and x <= last)
        return first <= x <= last

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
    # Which of two objects comes first.
    several = Scope(ObjectId=2)


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
    # A peer has two objects on the way to the pool.
    inserting = Scope(
        Peer=1,
        ObjectId=2,
        max_num_objects_inflight_per_peer=(2,),
        max_num_ids_req=(2,),
    )
