"""Object diffusion: rounds that have more to request than there is room for.

Source as in `registry.py`. The registry that a service embeds, with one peer and two objects, of
which one or two at a time are downloaded (O-B9). `attribution.py` has the same with a stream of
objects.
"""

from lawful import Scope, can, drop, invariant, step_property

from .callbacks import Status
from .messages import ObjectId
from .registry import Registry


class RegistryInTurns(Registry):
    """The registry within a scope of its own."""

    nobody_else = drop("a_frozen_peer_counts_before_it_asks")

    @invariant
    def a_round_is_possible_at_any_time(self, in_pool: frozenset[ObjectId]) -> bool:
        """Whatever the pool has: what is picked is within the limits of each entry (O3, O30)."""
        return can(self.make_decisions, in_pool)

    @step_property
    def a_round_begins_as_it_says(self, after: "RegistryInTurns") -> bool:
        """The object that is noted as the first is on its way (O-B9)."""
        first = after.last
        return first is None or first == self.last or after.copies(first) > 0

    @step_property
    def a_round_asks_for_all_that_it_may(self, after: "RegistryInTurns") -> bool:
        """Up to the limit of each peer, and of all (O36, O38)."""
        return not any(
            after.leaves_out(q, peer.had)
            for p, peer in after.peers.items()
            if peer.state == Status.UNREAD
            and p in self.peers
            and self.peers[p].state == Status.COMPLETED
            for q in after.peers
        )

    scope = Scope(
        {"on_receive_ids.ids": 2},
        Peer=1,
        ObjectId=2,
        Nat=range(0, 3),
        outstanding_fifo=2,
        pending=3,
        target_object_redundancy=(1,),
        max_num_objects_outstanding=(2,),
        max_num_objects_inflight_per_peer=(1, 2),
        max_num_objects_inflight_total=(1, 2),
        max_num_ids_req=(1,),
    )
