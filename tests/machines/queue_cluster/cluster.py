"""Three nodes and the group between them: each multicast has a place in one total order."""

from __future__ import annotations

from typing import Any

from lawful.machines.queue_cluster.declaration import QueueOwnerFixed
from lawful.machines.queue_cluster.messages import Cancel, Consume, Node, Release
from lawful.machines.queue_cluster.ownership import Multicast, Ownership
from lawful.runtime.timers import SimulatedClock

NODES = A, B, C = Node("a"), Node("b"), Node("c")


class Cluster:
    """The nodes as a service would drive them; each one handles the order at its own pace."""

    def __init__(self) -> None:
        self.clock = SimulatedClock()
        self.nodes = {n: QueueOwnerFixed(me=n, clock=self.clock) for n in NODES}
        self.unordered: dict[Node, list[Multicast]] = {n: [] for n in NODES}
        self.order: list[tuple[Node, Multicast | None]] = []  # None: the sender left here.
        self.handled = dict.fromkeys(NODES, 0)

    @property
    def alive(self) -> list[Node]:
        return [n for n in self.nodes if (n, None) not in self.order]

    def does(self, n: Node, event: str, *args: Any) -> Any:
        """An event at a node; what it multicasts waits for its place."""
        said: Any = getattr(self.nodes[n], event)(*args)
        messages: tuple[Multicast | None, ...] = said if said.__class__ is tuple else (said,)
        self.unordered[n] += [m for m in messages if m is not None]
        return said

    def place(self, n: Node) -> None:
        """What the node said first, and has no place yet, gets the next one."""
        self.order.append((n, self.unordered[n].pop(0)))

    def crash(self, n: Node) -> None:
        self.unordered[n].clear()
        self.order.append((n, None))

    def handle(self, n: Node) -> None:
        """The node handles what is next in the order."""
        sender, m = self.order[self.handled[n]]
        self.handled[n] += 1
        node = self.nodes[n]
        match m:
            case None:
                node.member_leaves(sender)
            case Consume():
                node.consume_delivered(sender)
            case Release():
                node.release_delivered(sender, m)
            case Cancel():
                node.cancel_delivered(sender)

    def settle(self) -> None:
        """Everything said is ordered, handled everywhere, and a queue that is granted is taken."""
        while self.step():
            pass

    def step(self) -> bool:
        for n in self.alive:
            if self.unordered[n]:
                self.place(n)
                return True
            if self.handled[n] < len(self.order):
                self.handle(n)
                return True
            if "take" in self.nodes[n].lawful.enabled():
                self.does(n, "take")
                return True
        return False

    def owners(self) -> list[Node]:
        """Where consumers run, or may still be busy."""
        return [n for n in self.alive if self.nodes[n].state != Ownership.STOPPED]
