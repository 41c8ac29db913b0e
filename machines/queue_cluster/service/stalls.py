"""What a member tells a node that joins, before both go on: all but the messages themselves."""

from __future__ import annotations

from collections.abc import Mapping

from ..declaration import QueueOwnerFixed
from ..joining import Content, Count, Declared, Route, Updatee
from ..messages import QueueName
from .frames import Interest, Stall


def contents(one: Updatee) -> tuple[Content, ...]:
    """What is on its queues, for an `Updater`."""
    return tuple(Content(q, tuple(one.queues[q])) for q in sorted(one.queues))


def stall(one: Updatee, owners: Mapping[QueueName, QueueOwnerFixed]) -> Stall:
    """The wiring, the messages that are being routed, the ownership of each queue (Q48, Q56)."""
    queues = sorted(one.queues)
    return Stall(
        queues=tuple(Declared(q, one.declared[q]) for q in queues),
        declarations=one.declarations,
        bindings=tuple(sorted(one.bindings, key=lambda b: (b.exchange, b.queue))),
        counts=tuple(Count(node, one.created[node]) for node in sorted(one.created)),
        routes=tuple(
            Route(i, frozenset(one.routing[i]), one.bodies[i])
            for i in sorted(one.routing, key=lambda i: (i.node, i.seq))
        ),
        interests=tuple(
            Interest(q, owners[q].owner, frozenset(owners[q].consumers)) for q in queues
        ),
    )
