"""Replication of messages, composed: a queue is emptied (Q50).

Source: `new-cluster-plan.org` asks how queues stay consistent if a message leaves other than by a
consumer, "not controlled by queue lock", and notes that "target broker may not have all messages on
other brokers" [seed:364-376]. Here the owner executes `Queue::purge()`, as it does expiry: it
multicasts a dequeue for each message that is free there. `Queue::get()` is an acquire and an
accept, and `Queue::move()` an acquire and a reject to the other queue; `replication.py` has both,
and `destroying.py` the end of a queue.
"""

from lawful import Expect, Nat, Scope, reachable, require, transition

from .declaration import Node
from .replica import Dequeue, Key, QueueName
from .replication_fixed import ReplicationFixed


class ReplicationPurging(ReplicationFixed):
    """The owner empties a queue once."""

    purged: Nat = 0

    @transition()
    def purge(self, n: Node, q: QueueName) -> None:
        """Dequeue the messages that are free, whatever is under way [seed:374]."""
        require(self.owns(n), "does not own the queues")
        require(self.purged < 1, "was emptied")
        self.purged += 1
        for id in tuple(self.nodes[n].queues[q]):
            key = Key(id, q)
            if self.nodes[n].free(key):
                self.outbox[n].append(self.nodes[n].expire(key))

    @reachable
    def is_purged(self) -> bool:
        """Also a message that another node published."""
        return self.purged > 0 and any(
            isinstance(m, Dequeue) and m.key.id.node != n
            for n, said in self.outbox.items()
            for m in said
        )

    scope = Scope(
        {"MessageId.seq": range(0, 2)},
        Node=2,
        QueueName=1,
        Nat=range(0, 3),
        inbox=2,
        outbox=8,
        queues=2,
        queued=2,
        messages=(1,),
        lag=(1,),
        returns=(0,),
        crashes=(0,),
    )
    large = Scope(messages=(2,), outbox=10)
    expects = Expect(comes_back_from_the_dead="violated")
