"""What travels between the nodes of a queue cluster, and what it is about.

Source: `new-cluster-plan.org`, cited as in `declaration.py`. A multicast gets one place in the
total order of the group, and every node handles it there; `Front`, `Gone` and `Done` go from a
member to a node that joins.
"""

from typing import Annotated

from lawful import Nat, Opaque, OrderedSort, Record, Sort

Body = Annotated[bytes, Opaque("Body")]


class Node(OrderedSort):
    """A member of the cluster; node IDs are ordered round a ring [seed:250-252] (Q34). A node that
    starts again has another ID."""


class QueueName(OrderedSort):
    """A replicated queue. One that is declared again, after it was destroyed, is a new queue with
    the same name."""


class Exchange(Sort):
    """Routes messages to the queues that are bound to it."""


class MessageId(Record):
    """[seed:90] (Q15)."""

    node: Node
    seq: Nat


class Key(Record):
    """A message on a queue: `QueueKey` [seed:156] (Q23)."""

    id: MessageId
    queue: QueueName


# Of ownership, of one queue.


class Consume(Record):
    """The sender becomes interested in the queue [seed:293] (Q38)."""


class Release(Record):
    """The owner gives the queue away. `interested` is the Boolean that the document passes and
    never uses [seed:267] (Q36): False if it lost interest, True if it wants another turn."""

    interested: bool


class Cancel(Record):
    """The sender is no longer interested [seed:302] (Q40)."""


# Of messages.


class Create(Record):
    """The sender is about to route this message, its own with this number [seed:114] (Q18)."""

    seq: Nat
    body: Body


class Enqueue(Record):
    """[seed:116] (Q18)."""

    key: Key


class Routed(Record):
    """The message is on all its queues [seed:120] (Q19)."""

    seq: Nat


class Acquire(Record):
    """A consumer of the sender has acquired it [seed:126] (Q20)."""

    key: Key


class Requeue(Record):
    """It was given back: `release` [seed:131] (Q20)."""

    key: Key


class Dequeue(Record):
    """It was accepted, or has expired [seed:136] (Q20)."""

    key: Key


class Reject(Record):
    """It moves to another queue, if the alternate exchange has one, as the sender's message with
    this number [seed:140] (Q21). A node that joins may not have the message yet, so that the
    multicast has its body."""

    key: Key
    seq: Nat
    to: QueueName | None
    body: Body


AboutMessages = Create | Enqueue | Routed | Acquire | Requeue | Dequeue | Reject


# Of wiring.


class Declare(Record):
    """[seed:345-346] (Q47)."""

    queue: QueueName


class Bind(Record):
    """[seed:345-346] (Q47)."""

    exchange: Exchange
    queue: QueueName


class Destroy(Record):
    """[seed:319,345-346] (Q43, Q47)."""

    queue: QueueName


AboutWiring = Declare | Bind | Destroy


# To a node that joins.


class Front(Record):
    """`update_front(q, m)` [seed:415], with what the updater knows of the message (Q56)."""

    key: Key
    body: Body
    holder: Node | None
    redelivered: bool


class Gone(Record):
    """In place of a `Front`: the message has left its queue at the updater (Q56)."""

    key: Key


class Done(Record):
    """`update_done(q)` [seed:416] (Q56)."""

    queue: QueueName


# To a client.


class Delivery(Record):
    """A consumer gets this message; `redelivered` if another may have had it before (Q20, Q29)."""

    key: Key
    body: Body
    redelivered: bool
