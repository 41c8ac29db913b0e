"""A node joins: how it gets queues that the others continue to use.

Source: `new-cluster-plan.org`, the improved update of new members [seed:402-423] (Q48, Q56), cited
as in `declaration.py`. A member, the updater, sends the messages of its queues from back to front,
and continues its work. The new node, the updatee, pushes these to the front of its own queues, and
messages enqueued meanwhile to the back. It may own a queue only once it has all of it: until then
its `QueueOwner` is UPDATING. Both handle one total order, each at its own pace, so that either may
be ahead of the other.

Every node has an `Updatee` as its replica; a member that is an updater has an `Updater` for each
node that joins. Their callers do this:

1. Where the updater comes to the join in the order, it stalls, and so does the new node until it
   has all of this: which queues there are, which messages are being routed and which numbers are
   used (`welcome`), and its queues' ownership (`QueueOwner.join`). The updater notes what is on
   each queue (`Updater.begin`).
2. Then both go on. The updater sends what `front` says of each key that `Updater.send` returns, and
   for each queue at last what `Updater.done` returns. The new node calls `receive`, `pass_over` and
   `end`, and after `end` `QueueOwner.updated`.

The document's `update_front(q, m)` has only the message. It also needs to say whether it is
acquired, and the new node must remember what it handles about a message before the message comes.
Of a message that has gone, the updater says so: the new node may come to the multicast that removes
it after `end`, and if that is a reject, the new node has still to move it.
Of a queue that keeps few messages (a ring), all `Front` are handed over in the first step.
"""

from lawful import Machine, Nat, Record, Scope, drop, implies, invariant, require, transition

from .messages import Bind, Body, Done, Front, Gone, Key, MessageId, Node, QueueName, Reject
from .replica import ReplicaFixed


class Count(Record):
    """A node has used so many numbers."""

    node: Node
    count: Nat


class Route(Record):
    """A message is being routed: to these queues it was."""

    id: MessageId
    queues: frozenset[QueueName]
    body: Body


class Declared(Record):
    """A queue, with the number of its declaration."""

    queue: QueueName
    declared: Nat


class Content(Record):
    """The messages on a queue, the first one first."""

    queue: QueueName
    ids: tuple[MessageId, ...]


class Heard(Record):
    """What was multicast about a message that is still to come."""

    holder: Node | None
    redelivered: bool
    gone: bool


class Updatee(ReplicaFixed):
    """A replica that a member may bring up to date, or that brings another up to date."""

    updating: set[QueueName] = set()
    heard: dict[Key, Heard] = {}
    left: set[Node] = set()
    # Messages of which the updater said who has them, before this node handled the acquire.
    told: set[Key] = set()
    # Messages of which it said that they have gone, before this node handled that.
    gone: set[Key] = set()
    # The number of each queue's declaration, among those that made a queue.
    declared: dict[QueueName, Nat] = {}
    declarations: Nat = 0
    # What is on some queue, known without searching queues, which may be long.
    queued: set[Key] = set()

    @transition()
    def welcome(
        self,
        queues: tuple[Declared, ...],
        declarations: Nat,
        bindings: frozenset[Bind],
        counts: tuple[Count, ...],
        routes: tuple[Route, ...],
    ) -> None:
        """The wiring, and what is being routed, at the place of the join [seed:407-411,418-419]
        (Q47, Q48, Q56)."""
        require(len(self.queues) == 0 and len(self.created) == 0, "is a member")
        self.queues = {d.queue: [] for d in queues}
        self.updating = {d.queue for d in queues}
        self.declared = {d.queue: d.declared for d in queues}
        self.declarations = declarations
        self.bindings = set(bindings)
        for c in counts:
            self.created[c.node] = c.count
        for r in routes:
            self.routing[r.id] = set(r.queues)
            self.bodies[r.id] = r.body

    @transition()
    def receive(self, m: Front) -> None:
        """Push it to the front [seed:420] (Q56). What was multicast later outweighs what the
        updater knew when it sent this."""
        key, said = m.key, self.heard.get(m.key)
        if key.queue in self.updating and (said is None or not said.gone):
            self.queues[key.queue].insert(0, key.id)
            self.queued.add(key)
            self.bodies[key.id] = m.body
            holder = m.holder if said is None else said.holder
            if m.redelivered or self.comes_again(key) or self.has_left(m.holder):
                self.redelivered.add(key)
            if holder is not None and holder not in self.left:
                self.acquired[key] = holder
                if said is None:
                    self.told.add(key)
        if said is not None:
            del self.heard[key]

    @transition()
    def pass_over(self, m: Gone) -> None:
        """It does not come: this node has handled why, or will (Q56)."""
        key, said = m.key, self.heard.get(m.key)
        if key.queue in self.updating and (said is None or not said.gone):
            self.gone.add(key)
        if said is not None:
            del self.heard[key]

    @transition()
    def end(self, m: Done) -> None:
        """`update_done(q)`: this node has the whole queue [seed:421] (Q56)."""
        self.forget_update(m.queue)

    @transition()
    def front(self, key: Key) -> Front | Gone:
        """What an updater sends of this message [seed:415] (Q56)."""
        if not self.has(key):
            return Gone(key)
        return Front(key, self.bodies[key.id], self.acquired.get(key), key in self.redelivered)

    # Multicasts about messages that are still to come are remembered.

    @transition()
    def acquire_delivered(self, sender: Node, key: Key) -> None:
        """An updater that is ahead of this node said so before (Q56)."""
        if key in self.told:
            self.told.discard(key)
            del self.acquired[key]
        super().acquire_delivered(sender, key)
        if self.is_to_come(key):
            self.heard[key] = Heard(sender, self.comes_again(key), False)

    @transition()
    def requeue_delivered(self, sender: Node, key: Key) -> None:
        super().requeue_delivered(sender, key)
        self.forget_told()
        if self.is_to_come(key):
            self.heard[key] = Heard(None, True, False)

    @transition()
    def dequeue_delivered(self, sender: Node, key: Key) -> None:
        there = self.has(key)
        super().dequeue_delivered(sender, key)
        self.forget_told()
        if not there:
            self.hear_of_removal(key)

    @transition()
    def reject_delivered(self, sender: Node, m: Reject) -> None:
        there = self.has(m.key)
        super().reject_delivered(sender, m)
        self.forget_told()
        if not there:
            was_to_come = self.hear_of_removal(m.key)
            if was_to_come:
                self.move(m.to, MessageId(sender, m.seq), m.body)

    @transition()
    def member_leaves(self, member: Node) -> None:
        super().member_leaves(member)
        self.forget_told()
        if len(self.updating) > 0:
            self.left.add(member)

    @transition()
    def declare_delivered(self, q: QueueName) -> None:
        """All nodes count the same, because they handle one order (Q43, Q47)."""
        if q not in self.queues:
            self.declared[q] = self.declarations
            self.declarations += 1
        super().declare_delivered(q)

    @transition()
    def destroy_delivered(self, q: QueueName) -> None:
        super().destroy_delivered(q)
        self.forget_told()
        self.forget_update(q)
        if q in self.declared:
            del self.declared[q]

    def push(self, key: Key) -> None:
        if key.queue in self.queues:
            self.queued.add(key)
        super().push(key)

    def take_off(self, key: Key) -> None:
        super().take_off(key)
        self.queued.discard(key)

    def has(self, key: Key) -> bool:
        return key in self.queued

    def is_needed(self, id: MessageId) -> bool:
        return id in self.routing or any(Key(id, q) in self.queued for q in self.queues)

    def forget_told(self) -> None:
        """What nobody has any more."""
        self.told = {key for key in self.told if key in self.acquired}

    def hear_of_removal(self, key: Key) -> bool:
        """Hear that a message that is not here was removed; return whether it was to come at the
        join."""
        said_gone = key in self.gone
        self.gone.discard(key)
        if not said_gone and self.is_to_come(key):
            self.heard[key] = Heard(None, False, True)
            return True
        return said_gone

    def is_to_come(self, key: Key) -> bool:
        return key.queue in self.updating and not self.has(key) and key not in self.gone

    def comes_again(self, key: Key) -> bool:
        """As was heard: it was given back, or who had it has left (Q26, Q29)."""
        said = self.heard.get(key)
        return said is not None and (said.redelivered or self.has_left(said.holder))

    def has_left(self, n: Node | None) -> bool:
        """During the update."""
        return n is not None and n in self.left

    def forget_update(self, q: QueueName) -> None:
        self.updating.discard(q)
        self.heard = {key: said for key, said in self.heard.items() if key.queue != q}
        if len(self.updating) == 0:
            self.left.clear()

    @invariant
    def what_is_queued_is_known(self) -> bool:
        return all(
            key.queue in self.queues and key.id in self.queues[key.queue] for key in self.queued
        ) and all(Key(id, q) in self.queued for q, ids in self.queues.items() for id in ids)

    @invariant
    def each_queue_has_its_number(self) -> bool:
        """(Q43, Q47)"""
        return set(self.declared) == set(self.queues) and all(
            number < self.declarations for number in self.declared.values()
        )

    @invariant
    def what_was_told_is_acquired(self) -> bool:
        """So that it ends with the message (Q56)."""
        return all(key in self.acquired for key in self.told)

    @invariant
    def nothing_is_kept_in_mind_once_ready(self) -> bool:
        """What is still to come is remembered only during the update of its queue (Q56)."""
        return all(key.queue in self.updating for key in self.heard) and implies(
            len(self.updating) == 0, len(self.left) == 0
        )

    # Alone it would be told what no member tells. The scopes of `BrokersFixed` explore it.
    alone = drop("scope")


class Updater(Machine):
    """What a member has still to send to a node that joins: of each queue, from back to front."""

    to_send: dict[QueueName, list[MessageId]] = {}

    @transition()
    def begin(self, contents: tuple[Content, ...]) -> None:
        """What is on the queues at the place of the join [seed:413-414] (Q56)."""
        require(len(self.to_send) == 0, "sends already")
        for c in contents:
            self.to_send[c.queue] = list(c.ids)

    @transition()
    def send(self, q: QueueName) -> Key:
        """The next one towards the front [seed:415] (Q56)."""
        require(q in self.to_send, "sends no such queue")
        require(len(self.to_send[q]) > 0, "the iterator is at the front")
        return Key(self.to_send[q].pop(), q)

    @transition()
    def done(self, q: QueueName) -> Done:
        """[seed:416] (Q56)"""
        require(q in self.to_send, "sends no such queue")
        require(len(self.to_send[q]) == 0, "some messages are not sent")
        del self.to_send[q]
        return Done(q)

    @transition()
    def destroy_delivered(self, q: QueueName) -> None:
        """Nothing more is sent of it (Q43)."""
        if q in self.to_send:
            del self.to_send[q]

    scope = Scope(Node=1, QueueName=2, Nat=range(0, 2), to_send=2, contents=2, ids=2)
