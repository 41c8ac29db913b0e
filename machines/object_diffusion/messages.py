"""Object diffusion: the decision for an inbound peer, and its requests to the outbound peer.

Source: `object-diffusion.md`, cited as in `declaration.py`.
"""

from lawful import Nat, OrderedSort, Record


class ObjectId(OrderedSort):
    """The ID of an object. The attribution visits IDs in their order."""


class Decision(Record):
    """`PeerDecision`: what the inbound peer should do next [seed:22-25] (O4-O7)."""

    ids_to_ack: Nat
    ids_to_req: Nat
    can_pipeline_ids_req: bool
    objects_to_req: frozenset[ObjectId]


class RequestIds(Record):
    """Asks for at most `count` new IDs, and acknowledges the oldest `ack` ones (O5, O12)."""

    blocking: bool
    ack: Nat
    count: Nat


class RequestObjects(Record):
    """Asks for exactly these objects (O14, O25)."""

    ids: frozenset[ObjectId]


Request = RequestIds | RequestObjects
