"""What carries a node's words to the others, as the node needs it."""

from __future__ import annotations

from typing import Protocol

from ..messages import Node
from .frames import Said, Told


class Group(Protocol):
    """The members of the cluster, as one of them speaks to them."""

    def say(self, said: Said) -> None:
        """Multicast it; it comes back to `LocalNode.placed` in its place."""

    def tell(self, to: Node, told: Told) -> None:
        """Hand it to one member."""

    def complete(self) -> None:
        """This node has all queues."""
