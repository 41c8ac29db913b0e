"""Object diffusion: rounds that have more to request than there is room for.

Source as in `registry.py`. The registry that a service embeds, with one peer and two objects, of
which one at a time is downloaded (O-B9). `attribution.py` has the same with a stream of objects.
"""

from lawful import Scope, drop

from .registry import Registry


class RegistryInTurns(Registry):
    """The registry within a scope of its own."""

    nobody_else = drop("a_frozen_peer_counts_before_it_asks")
    scope = Scope(
        {"on_receive_ids.ids": 2},
        Peer=1,
        ObjectId=2,
        Nat=range(0, 3),
        outstanding_fifo=2,
        pending=3,
        target_object_redundancy=(1,),
        max_num_objects_outstanding=(2,),
        max_num_objects_inflight_per_peer=(1,),
        max_num_objects_inflight_total=(1,),
        max_num_ids_req=(1,),
    )
