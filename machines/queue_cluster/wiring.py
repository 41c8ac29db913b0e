"""Queue cluster: which queues there are, and which exchanges route to them.

Source: `new-cluster-plan.org`, cited as in `declaration.py` [seed:345-346] (Q47). `Wiring` is the
part of `replica.py` that knows no messages. To declare, bind or destroy is a multicast like others;
the command is complete where its multicast is delivered to its sender (Q54).
"""

from lawful import Machine, invariant, require, transition

from .messages import Bind, Declare, Destroy, Exchange, MessageId, QueueName


class Wiring(Machine, abstract=True):
    """The replicated queues and bindings, as one node knows them."""

    queues: dict[QueueName, list[MessageId]] = {}
    bindings: set[Bind] = set()

    @transition()
    def declare(self, q: QueueName) -> Declare:
        """[seed:345-346] (Q47)"""
        require(q not in self.queues, "there is this queue")
        return Declare(q)

    @transition()
    def bind(self, exchange: Exchange, q: QueueName) -> Bind:
        """[seed:345-346] (Q47)"""
        require(q in self.queues, "there is no such queue")
        return Bind(exchange, q)

    @transition()
    def destroy(self, q: QueueName) -> Destroy:
        """[seed:319,345-346] (Q43, Q47)"""
        require(q in self.queues, "there is no such queue")
        return Destroy(q)

    @transition()
    def bind_delivered(self, m: Bind) -> None:
        """Unless the queue was destroyed meanwhile [seed:345-346] (Q47)."""
        if m.queue in self.queues:
            self.bindings.add(m)

    @invariant
    def bindings_have_their_queue(self) -> bool:
        """(Q47)"""
        return all(b.queue in self.queues for b in self.bindings)
