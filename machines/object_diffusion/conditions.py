"""Object diffusion without a condition that the registry meets.

The document does not say how long a reply may take, that a round is atomic, nor what an address
means if a peer reconnects. Its implementation made rounds atomic (O-B6). Each class here removes
one condition; the entries of peers and everything else are as in the repaired design.
"""

from lawful import Expect, Nat, Param, Scope, can, drop, invariant, require, total, transition

from .attribution import Peer
from .callbacks import Status
from .messages import ObjectId
from .system import Diffusion, DiffusionFixed


class DiffusionAsSeed(Diffusion):
    """No peer is given up, and each round wakes all peers that have completed their decision.

    O-B7: a peer that was asked and does not answer keeps others from getting the object elsewhere.
    """

    no_limits = drop("time_out")

    def is_worth_it(
        self, p: Peer, in_pool: frozenset[ObjectId], objects: frozenset[ObjectId]
    ) -> bool:
        return True

    expects = Expect(
        offered_objects_arrive=("violated", 21),
        announced_ids_are_acked=("violated", 21),
        peers_wake_for_something=("violated", 12),
    )


class DiffusionTorn(DiffusionFixed):
    """A round reads the state, and publishes its result in a later step (O-B6).

    In between a peer may read the decision that this round meant to replace. Its entry refuses a
    new decision while it acts, so that none is replaced; but two peers are asked for one object.
    """

    nothing_fails = drop("a_rejected_object_comes_from_another")
    made: dict[Peer, frozenset[ObjectId]] = {}
    publishing: bool = False

    @transition()
    def make_decisions(self, in_pool: frozenset[ObjectId]) -> frozenset[Peer]:
        require(in_pool == frozenset(self.pool), "the thread asks the pool")
        require(not self.publishing, "the last round is not published")
        self.made = self.picked(in_pool)
        self.publishing = True
        return frozenset()

    @transition(fair="weak")
    def publish_round(self, in_pool: frozenset[ObjectId]) -> None:
        require(in_pool == frozenset(self.pool), "the thread asks the pool")
        require(self.publishing, "no round was made")
        for p in self.peers:
            if (
                p in self.made
                and can(self.peers[p].decide, in_pool, self.made[p])
                and self.is_worth_it(p, in_pool, self.made[p])
            ):
                self.peers[p].decide(in_pool, self.made[p])
        self.woken = {p for p, peer in self.peers.items() if peer.state == Status.UNREAD}
        self.seen = in_pool
        self.made = {}
        self.publishing = False

    scope = Scope(
        {"on_receive_ids.ids": 1},
        Peer=2,
        ObjectId=1,
        Nat=range(0, 3),
        outstanding_fifo=2,
        pending=3,
        sent=3,
        target_object_redundancy=(1,),
        max_num_objects_outstanding=(1,),
        max_num_objects_inflight_per_peer=(1,),
        max_num_objects_inflight_total=(2,),
        max_num_ids_req=(1,),
        most_faults=(0,),
    )
    expects = Expect(
        no_more_copies_than_the_target=("violated", 17),
    )


class DiffusionByAddress(DiffusionFixed):
    """A peer is its address, under which it may reconnect (O-B8).

    If it does so before the bracket of its old connection ends, that end removes the entry of the
    new connection.
    """

    not_one_of_two = drop("a_frozen_peer_counts_before_it_asks")
    no_other = drop("a_rejected_object_comes_from_another")
    from_nobody_else = drop("an_id_is_acked_that_was_never_requested")
    brackets: dict[Peer, Nat] = total(0)
    overlap: Param[bool] = True

    @transition()
    def register(self, p: Peer) -> None:
        require(self.brackets[p] < 2, "two connections are enough")
        require(self.overlap or self.brackets[p] == 0, "the old connection has not ended")
        if p in self.peers:
            self.leave(p)
            self.brackets[p] += 1
        super().register(p)
        self.brackets[p] += 1

    def leave(self, p: Peer) -> None:
        require(self.brackets[p] > 0, "there is no connection")
        self.brackets[p] -= 1
        super().leave(p)
        self.gone.discard(p)

    @invariant
    def every_connection_has_its_entry(self) -> bool:
        """(O40)"""
        return all(p in self.peers for p in Peer if self.brackets[p] > 0)

    scope = Scope(
        {"on_receive_ids.ids": 1},
        Peer=1,
        ObjectId=1,
        Nat=range(0, 3),
        outstanding_fifo=2,
        pending=3,
        sent=3,
        target_object_redundancy=(1,),
        max_num_objects_outstanding=(1,),
        max_num_objects_inflight_per_peer=(1,),
        max_num_objects_inflight_total=(2,),
        max_num_ids_req=(1,),
        most_faults=(1,),
        expects=Expect(
            every_connection_has_its_entry=("violated", 3),
            received_is_not_lost=("violated", 14),
            only_the_holder_inserts=("violated", 14),
            # Another connection's entry takes the place of one that is at work.
            **{
                "peers.a_blocking_reply_brings_something": ("violated", 5),
                "peers.acks_are_a_prefix": ("violated", 6),
                "peers.steps_are_in_order": ("violated", 10),
                "peers.all_of_a_decision_is_done": ("violated", 3),
                "peers.what_arrives_goes_to_the_pool": ("violated", 10),
            },
        ),
    )
    apart = Scope(
        overlap=(False,),
        expects=Expect(
            every_connection_has_its_entry="holds",
            received_is_not_lost="holds",
            only_the_holder_inserts="holds",
            **{
                "peers.a_blocking_reply_brings_something": "holds",
                "peers.acks_are_a_prefix": "holds",
                "peers.steps_are_in_order": "holds",
                "peers.all_of_a_decision_is_done": "holds",
                "peers.what_arrives_goes_to_the_pool": "holds",
            },
        ),
    )
