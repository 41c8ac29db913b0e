"""Queue cluster: a member brings a new node up to date, while the others go on.

Source: `new-cluster-plan.org`, as in `joining.py`: the improved update of new members
[seed:402-423] (Q48, Q56). The member and the new node handle one order, each at its own pace, so
that either may be ahead of the other.

Abstractions. `brokers.py` has all nodes and the ownership of queues, but nobody leaves during an
update. Here the other nodes say anything that fits what has its place in the order, and leave; the
member and the new node only listen. What does not fit is cut (`others_keep_to_the_order`), because
history decides it. Queues and bindings change within a budget.
"""

from lawful import (
    Ghost,
    Nat,
    Param,
    Record,
    Scope,
    assume,
    can,
    constraint,
    implies,
    initial,
    invariant,
    reachable,
    require,
    terminal,
    total,
    transition,
)

from .deliveries import Group
from .joining import Updatee, Updater
from .ledger import Ordered
from .messages import (
    AboutMessages,
    AboutWiring,
    Acquire,
    Body,
    Create,
    Dequeue,
    Destroy,
    Done,
    Enqueue,
    Front,
    Gone,
    Key,
    MessageId,
    Node,
    QueueName,
    Reject,
    Requeue,
    Routed,
)
from .system import Left


class Spoken(Record):
    """A multicast, or the leaving of its sender, with a place in the order."""

    sender: Node
    said: AboutMessages | AboutWiring | Left


class Updates(Group, abstract=True):
    """The member and its updater, the new node, and what the others say."""

    updater: Updater = Updater()
    inbox: dict[Node, list[Spoken]] = total([])
    link: list[Front | Gone | Done] = []
    wired: Nat = 0
    # What somebody had at the place of the join, and still has.
    before: Ghost[set[Key]] = set()
    # What came from the updater, of queues that are not complete.
    arrived: Ghost[set[Key]] = set()
    unfit: Ghost[bool] = False

    member: Param[Node]
    late: Param[Node]
    lag: Param[Nat] = 1
    wirings: Param[Nat] = 0
    # So many messages are on each queue at the beginning.
    filled: Param[Nat] = 0

    @assume
    def two_nodes(self) -> bool:
        return self.member != self.late

    @initial
    def begin(self, queues: frozenset[QueueName], n: Node, body: Body) -> None:
        """Another node has published what is on the queues."""
        require(n not in (self.member, self.late), "only listens")
        self.replicas[self.member] = Updatee(me=self.member)
        for q in sorted(queues):
            self.replicas[self.member].declare_delivered(q)
            self.note_declaration(q)
        for seq in range(self.filled):
            self.is_handled(n, Create(seq, body))
            for q in sorted(queues):
                self.is_handled(n, Enqueue(Key(MessageId(n, seq), q)))
            self.is_handled(n, Routed(seq))

    def is_handled(self, n: Node, m: AboutMessages) -> None:
        self.handle_message(self.member, n, m)
        self.note_routing(n, m)
        self.note(Ordered(n, m))

    # The others.

    @transition()
    def say(self, n: Node, m: AboutMessages) -> None:
        self.require_speaker(n)
        self.put(Spoken(n, m))
        self.unfit = not self.fits(n, m)
        self.note_routing(n, m)
        self.order(Ordered(n, m))

    @transition()
    def wire(self, n: Node, m: AboutWiring) -> None:
        self.require_speaker(n)
        require(self.wired < self.wirings, "wiring has changed enough")
        self.wired += 1
        self.put(Spoken(n, m))
        self.order(Ordered(n, m))

    @transition()
    def leave(self, n: Node) -> None:
        self.require_speaker(n)
        self.put(Spoken(n, Left()))
        self.note_absence(n)
        self.order(Ordered(n, Left()))

    def require_speaker(self, n: Node) -> None:
        require(n not in (self.member, self.late), "only listens")
        require(n not in self.absent, "a node that left says nothing")

    def fits(self, n: Node, m: AboutMessages) -> bool:
        """What it may say, by what has its place in the order."""
        match m:
            case Create(seq=seq):
                return seq == self.used.get(n, 0)
            case Enqueue(key=key):
                return key.id.node == n and self.is_still_routed(key)
            case Routed(seq=seq):
                return MessageId(n, seq) in self.routes
            case Acquire(key=key):
                return self.is_queued(key) and key not in self.taken
            case Requeue(key=key):
                return self.taken.get(key) == n
            case Dequeue(key=key):
                return self.is_queued(key) and self.taken.get(key, n) == n
            case Reject(key=key, seq=seq, to=to, body=body):
                return (
                    self.taken.get(key) == n
                    and seq == self.used.get(n, 0)
                    and key.queue != to
                    and body == self.content[key.id]
                )

    def is_still_routed(self, key: Key) -> bool:
        return key.id in self.routes and key.queue not in self.routes[key.id]

    def put(self, m: Spoken) -> None:
        require(all(len(self.inbox[k]) < self.lag for k in self.replicas), "one is far behind")
        for n in self.replicas:
            self.inbox[n].append(m)

    def order(self, m: Ordered) -> None:
        self.note(m)
        self.before = {key for key in self.before if key in self.taken}

    @constraint
    def others_keep_to_the_order(self) -> bool:
        return not self.unfit

    # The two nodes.

    @transition()
    def handle(self, n: Node) -> None:
        """The deliver thread handles the next multicast in the order."""
        require(len(self.inbox[n]) > 0, "everything is handled")
        m = self.inbox[n].pop(0)
        if isinstance(m.said, Left):
            self.replicas[n].member_leaves(m.sender)
        elif isinstance(m.said, AboutWiring):
            self.handle_wiring(n, m.said)
            if n == self.member and isinstance(m.said, Destroy):
                self.updater.destroy_delivered(m.said.queue)
        else:
            self.handle_message(n, m.sender, m.said)

    @transition()
    def join(self) -> None:
        """The member comes to the join in the order."""
        require(self.late not in self.replicas, "has joined")
        require(len(self.inbox[self.member]) == 0, "is not there yet")
        self.replicas[self.late] = Updatee(me=self.late)
        self.updater.begin(self.welcome(self.member, self.late))
        self.before = set(self.taken)

    @transition()
    def send(self, q: QueueName) -> None:
        """The update iterator's thread (Q56)."""
        self.link.append(self.replicas[self.member].front(self.updater.send(q)))

    @transition()
    def done(self, q: QueueName) -> None:
        self.link.append(self.updater.done(q))

    @transition()
    def receive(self) -> None:
        require(len(self.link) > 0, "nothing has come")
        m = self.link.pop(0)
        match m:
            case Front(key=key):
                self.replicas[self.late].receive(m)
                self.arrived.add(key)
            case Gone(key=key):
                self.replicas[self.late].pass_over(m)
                self.arrived.add(key)
            case Done(queue=q):
                self.replicas[self.late].end(m)
                self.arrived = {key for key in self.arrived if key.queue != q}

    @terminal
    def everything_is_handled(self) -> bool:
        return len(self.link) == 0 and all(len(self.inbox[n]) == 0 for n in self.replicas)


class UpdatesFixed(Updates):
    """The properties."""

    @invariant
    def what_is_told_at_once_is_as_said(self, n: Node) -> bool:
        """The wiring, what is routed, and the numbers (Q15, Q25, Q29, Q47, Q48)."""
        if n not in self.replicas or len(self.inbox[n]) > 0:
            return True
        one = self.replicas[n]
        return (
            set(one.queues) == set(self.queued)
            and one.bindings == self.bound
            and one.declared == self.made
            and one.declarations == self.makings
            and one.routing == self.routes
            and one.created == self.used
        )

    @invariant
    def replicas_have_what_was_said(self, n: Node) -> bool:
        """Once it has handled everything and is up to date: the messages in their order, who has
        which, what comes again, and the bodies (Q23, Q24, Q26, Q27, Q28, Q48, Q56)."""
        if not self.is_up_to_date(n):
            return True
        one = self.replicas[n]
        return (
            one.queues == self.queued
            and one.acquired == self.taken
            and one.redelivered == {key for key in self.again if self.is_queued(key)}
            and one.bodies == {id: body for id, body in self.content.items() if self.is_wanted(id)}
        )

    def is_up_to_date(self, n: Node) -> bool:
        return (
            n in self.replicas and len(self.inbox[n]) == 0 and len(self.replicas[n].updating) == 0
        )

    @invariant
    def what_is_heard_is_as_said(self, key: Key) -> bool:
        """What a joining node heard of a message that has not come is what was said (Q56)."""
        if self.late not in self.replicas or len(self.inbox[self.late]) > 0:
            return True
        said = self.replicas[self.late].heard.get(key)
        if said is None:
            return True
        if said.gone:
            free = said.holder is None and not said.redelivered
            return free and not self.is_queued(key)
        has = said.holder is not None and said.holder not in self.replicas[self.late].left
        return implies(said.redelivered, key in self.again) and (
            self.taken.get(key) == said.holder if has else key not in self.taken
        )

    @invariant
    def what_came_is_not_kept_in_mind(self, key: Key) -> bool:
        """So that a long update takes no more memory than the queue (Q56)."""
        return key not in self.arrived or key not in self.replicas[self.late].heard

    @invariant
    def what_was_told_is_handled(self) -> bool:
        """Except what was acquired before the join, which the new node never handles (Q56)."""
        if self.late not in self.replicas or len(self.inbox[self.late]) > 0:
            return True
        one = self.replicas[self.late]
        return one.told <= self.before and one.gone == set()

    @invariant
    def what_has_gone_was_removed_before_its_queue(self) -> bool:
        """The new node hears of the removal before it hears that the queue is destroyed: the
        updater handled both in this order (Q43, Q56)."""
        if self.late not in self.replicas:
            return True
        one = self.replicas[self.late]
        return all(key.queue in one.queues for key in one.gone)

    @invariant
    def what_has_its_place_is_handled(self, n: Node) -> bool:
        """(Q24, Q26, Q56)"""
        return can(self.handle, n) == (len(self.inbox[n]) > 0)

    @invariant
    def an_update_goes_on_until_it_is_done(self, q: QueueName) -> bool:
        """The member sends the queue, or has sent it; or the queue is destroyed (Q43, Q56)."""
        if self.late not in self.replicas or q not in self.replicas[self.late].updating:
            return q not in self.updater.to_send or self.is_destroyed(self.member, q)
        return (
            can(self.updater.send, q) != can(self.updater.done, q)
            or Done(q) in self.link
            or self.is_destroyed(self.late, q)
        )

    def is_destroyed(self, n: Node, q: QueueName) -> bool:
        return any(m.said == Destroy(q) for m in self.inbox[n])

    @invariant
    def an_updater_has_one_update(self, q: QueueName) -> bool:
        """It begins no other one while it has something to send (Q56)."""
        sends = can(self.updater.send, q) or can(self.updater.done, q)
        return implies(sends, not can(self.updater.begin, self.contents_of(self.member)))

    @invariant
    def a_node_may_join(self) -> bool:
        """Once, where the member comes to that place in the order (Q48)."""
        free = self.late not in self.replicas and len(self.inbox[self.member]) == 0
        return can(self.join) == free

    @invariant
    def what_is_sent_is_received(self) -> bool:
        """(Q56)"""
        return can(self.receive) == (len(self.link) > 0)

    @invariant
    def nothing_is_kept_in_mind_of_the_update(self) -> bool:
        """By the new node, once it has every queue, or by the member at any time (Q56)."""
        return all(
            len(one.updating) > 0 or (one.heard, one.left) == ({}, set())
            for one in self.replicas.values()
        ) and (self.replicas[self.member].updating, self.replicas[self.member].told) == (
            set(),
            set(),
        )

    @reachable
    def hears_before_it_comes(self) -> bool:
        """The new node is ahead of the updater (Q56)."""
        return self.late in self.replicas and len(self.replicas[self.late].heard) > 0

    @reachable
    def is_told_before_it_hears(self) -> bool:
        """The updater is ahead of the new node (Q56)."""
        return self.late in self.replicas and len(self.replicas[self.late].told) > 0

    scope = Scope(
        {"MessageId.seq": range(0, 1)},
        Node=3,
        QueueName=1,
        Exchange=1,
        Body=1,
        Nat=range(0, 2),
        queues=2,
        queued=2,
        inbox=1,
        link=2,
        to_send=2,
        member=(Node("Node1"),),
        late=(Node("Node2"),),
        lag=(1,),
        wirings=(0,),
        filled=(0,),
    )
    # Queues are declared, bound and destroyed.
    wiring = Scope(wirings=(1,))
    # Two messages wait; nothing is published or rejected later.
    several = Scope(
        {
            "MessageId.seq": range(0, 2),
            "Create.seq": range(0, 1),
            "Reject.seq": range(0, 1),
        },
        Nat=range(0, 3),
        filled=(2,),
    )
    # Two nodes speak and leave, with the message of one of them.
    crowded = Scope({"MessageId.seq": range(0, 1), "Create.seq": range(1, 2)}, Node=4, filled=(1,))
    # A message waits, and another one is published: it comes before or after the first one.
    growing = Scope(
        {"MessageId.seq": range(0, 2), "Create.seq": range(1, 2), "Reject.seq": range(0, 1)},
        Nat=range(0, 3),
        filled=(1,),
    )
    # A message that waits is rejected.
    rejecting = Scope(
        {"MessageId.seq": range(0, 2), "Create.seq": range(0, 1)},
        Nat=range(0, 3),
        filled=(1,),
    )
    # A message that waits is rejected to the other of two queues. Nothing is published.
    dead_letters = Scope(
        {"Create.seq": range(0, 1), "Reject.seq": range(1, 2), "MessageId.seq": range(0, 2)},
        Nat=range(0, 3),
        QueueName=2,
        queues=1,
        queued=1,
        link=1,
        to_send=1,
        filled=(1,),
    )
    # The same, and a dead letter comes behind what the other queue has.
    dead_letters_behind = Scope(
        {"Create.seq": range(0, 1), "Reject.seq": range(1, 2), "MessageId.seq": range(0, 2)},
        Nat=range(0, 3),
        QueueName=2,
        link=1,
        to_send=1,
        filled=(1,),
    )
    # Two messages wait, and the new node is two multicasts behind.
    behind = Scope(
        {
            "MessageId.seq": range(0, 2),
            "Create.seq": range(0, 1),
            "Reject.seq": range(0, 1),
        },
        Nat=range(0, 3),
        inbox=2,
        filled=(2,),
        lag=(2,),
    )
