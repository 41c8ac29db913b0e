"""Object diffusion, composed, where its document is silent: the behaviour of its implementation.

Source as in `as_seed.py`, whose entries are here connected to an honest outbound peer.
`ConnectionRefusing` has the repaired entry, and one mistake of the loop around it.
"""

from lawful import Expect, drop

from .as_seed import InboundPeerAsSeed, InboundPeerComparing, InboundPeerWaiting
from .connection import Connection, ReplyIds
from .declaration import InboundPeer, InboundPeerFixed


class ConnectionWaiting(Connection):
    """Blocks while a reply is under way (O-B2), and forgets received objects (O-B5)."""

    peer: InboundPeer = InboundPeerWaiting(
        max_num_objects_outstanding=2, max_num_objects_inflight=2, max_num_ids_req=1
    )
    expects = Expect(
        nothing_to_complain_of=("violated", 20),
        something_becomes_of_each_id=("violated", 17),
        announced_ids_are_acked=("violated", 23),
        an_object_is_dropped_before_its_id_is_acked="violated",
        **{"peer.blocks_on_nothing": ("violated", 19)},
    )


class ConnectionAsSeed(Connection):
    """Also signals completion before the reply to a blocking request arrives (O-B1)."""

    peer: InboundPeer = InboundPeerAsSeed(
        max_num_objects_outstanding=2, max_num_objects_inflight=2, max_num_ids_req=1
    )
    expects = Expect(
        nothing_to_complain_of=("violated", 10),
        something_becomes_of_each_id=("violated", 17),
        announced_ids_are_acked=("violated", 23),
        an_object_is_dropped_before_its_id_is_acked="violated",
        **{"peer.blocks_on_nothing": ("violated", 9)},
    )


class ConnectionComparing(Connection):
    """Compares received objects with the present decision, not with the request (O-B3).

    A reply that is read in a later round is treated as an error, and an honest peer disconnected.
    """

    peer: InboundPeer = InboundPeerComparing(
        max_num_objects_outstanding=2, max_num_objects_inflight=2, max_num_ids_req=2
    )
    never_received = drop("an_object_is_dropped_before_its_id_is_acked")
    expects = Expect(honest_peers_stay=("violated", 14))


class ConnectionRefusing(Connection):
    """Treats an ID as announced before if the pool has its object from another peer (O-B4)."""

    peer: InboundPeer = InboundPeerFixed(
        max_num_objects_outstanding=2, max_num_objects_inflight=2, max_num_ids_req=2
    )

    def accepts(self, reply: ReplyIds) -> bool:
        return not any(x in self.pool for x in reply.ids)

    expects = Expect(honest_peers_stay=("violated", 6))
