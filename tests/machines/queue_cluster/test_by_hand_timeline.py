"""What the service itself never asks of the machines in a node: an application that embeds the node
asks it, as its threads might, or takes another configuration of the machines."""

from __future__ import annotations

from collections.abc import Callable

from lawful.machines.queue_cluster.declaration import QueueOwnerFixed
from lawful.machines.queue_cluster.joining import Updatee, Updater
from lawful.machines.queue_cluster.ledger import Of
from lawful.machines.queue_cluster.messages import (
    Cancel,
    Consume,
    Key,
    MessageId,
    Node,
    QueueName,
)
from lawful.machines.queue_cluster.service.frames import Said
from lawful.machines.queue_cluster.service.node import LocalNode
from tests.machines.queue_cluster.told import (
    Does,
    Told,
    accepts,
    asks,
    declares,
    destroys,
    joins,
    publishes,
    releases,
    says,
    subscribes,
    told,
)

Q, NOTHING = QueueName("q"), QueueName("nothing")
TWO = ((0, declares("A", "q")), (3, publishes("A", "m", "q")), (4, publishes("B", "n", "q")))
LATER = Node("C")


def key(node: str, number: int) -> Key:
    return Key(MessageId(Node(node), number), Q)


def replica(name: str, ask: Callable[[Updatee], Said]) -> Does:
    return asks(name, lambda node: ask(node.replica))


def owner(name: str, ask: Callable[[QueueOwnerFixed], None]) -> Does:
    return asks(name, lambda node: ask(node.owners[Q]))


def join_unowned(queue: QueueOwnerFixed) -> None:
    """Looked up in the instance: before the first one the class has the text, not the event."""
    queue.join(owner=None, consumers=frozenset())


def updater(name: str, ask: Callable[[Updater], object]) -> Does:
    """Nothing of it is told to the new member."""

    def run(node: LocalNode) -> None:
        ask(node.updaters[LATER])

    return asks(name, run)


def test_two_messages_are_published_at_once() -> None:
    """Threads route them by turns."""
    scene = told(
        *TWO,
        (10, replica("A", lambda one: one.publish(b"x"))),
        (10.1, replica("A", lambda one: one.publish(b"y"))),
        (10.2, replica("A", lambda one: one.enqueue(2, Q))),
        (10.3, replica("A", lambda one: one.enqueue(2, Q))),
        (10.4, replica("A", lambda one: one.enqueue(9, Q))),
        (10.5, replica("A", lambda one: one.routed(2))),
        (10.6, replica("A", lambda one: one.enqueue(1, NOTHING))),
        (10.7, replica("A", lambda one: one.enqueue(1, Q))),
        (10.8, Told.weigh),
        (12, replica("A", lambda one: one.routed(1))),
        (12.1, replica("A", lambda one: one.routed(1))),
        (15, Told.look),
        (16, Told.weigh),
    )
    assert scene.story == [
        "1: A: declare q",
        "2: [declare q is done]",
        "4: A: create 0 m, A: enqueue A0 on q, A: routed 0",
        "5: B: create 0 n, B: enqueue B0 on q, B: routed 0, [publish m is done]",
        "6: [publish n is done]",
        "10.3: [enqueue: once to each queue (q not in publishing[seq] is false: q = q,"
        " publishing[seq] = {q})]",
        "10.4: [enqueue: this message is not routed here (seq in publishing is false: seq"
        " = 9, publishing = {1: set(), 2: {q}})]",
        "10.6: [enqueue: there is no such queue (q in queues is false: q = nothing,"
        " queues = {q: [MessageId(node=A, seq=0), MessageId(node=B, seq=0)]})]",
        "10.8: [A keeps queues 1, publishing 1, local 2, created 2, bodies 2, declared 1,"
        " queued 2], [B keeps queues 1, created 2, bodies 2, declared 1, queued 2]",
        "11: A: create 1 x",
        "11.1: A: create 2 y",
        "11.2: A: enqueue A2 on q",
        "11.5: A: routed 2",
        "11.7: A: enqueue A1 on q",
        "12.1: [routed: this message is not routed here (seq in publishing is false: seq ="
        " 1, publishing = {})]",
        "13: A: routed 1",
        "15: [A: q is STOPPED by None for : m n y x 2 completed],"
        " [B: q is STOPPED by None for : m n y x 1 completed]",
        "16: [A keeps queues 1, created 2, bodies 4, declared 1, queued 4],"
        " [B keeps queues 1, created 2, bodies 4, declared 1, queued 4]",
    ]


def test_messages_expire() -> None:
    """Those that nobody has, and each once."""
    scene = told(
        *TWO,
        (5, publishes("B", "o", "q")),
        (6, subscribes("A", "a", "q")),
        (15, replica("A", lambda one: one.expire(key("A", 0)))),
        (15.1, replica("A", lambda one: one.expire(key("B", 0)))),
        (15.2, replica("A", lambda one: one.expire(key("B", 1)))),
        (15.3, replica("A", lambda one: one.expire(key("B", 1)))),
        (15.4, replica("A", lambda one: one.expire(key("B", 7)))),
        (15.5, Told.weigh),
        (15.6, releases("A", "a", "m")),
        (20, Told.look),
        (21, Told.weigh),
    )
    assert scene.story == [
        "1: A: declare q",
        "2: [declare q is done]",
        "4: A: create 0 m, A: enqueue A0 on q, A: routed 0",
        "5: B: create 0 n, B: enqueue B0 on q, B: routed 0, [publish m is done]",
        "6: B: create 1 o, B: enqueue B1 on q, B: routed 1, [publish n is done]",
        "7: A: consume q/0, [publish o is done]",
        "9: A: acquire A0 on q, A: release for good q/0, A: cancel q/0",
        "10: [a gets m from q]",
        "15: [expire: is not there,"
        " or acquired (free(key) is false: key = Key(id=MessageId(node=A, seq=0),"
        " queue=q))]",
        "15.3: [expire: is not there,"
        " or acquired (free(key) is false: key = Key(id=MessageId(node=B, seq=1),"
        " queue=q))]",
        "15.4: [expire: is not there,"
        " or acquired (free(key) is false: key = Key(id=MessageId(node=B, seq=7),"
        " queue=q))]",
        "15.5: [A keeps queues 1, held 1, settling 2, created 2, bodies 3, acquired 1,"
        " declared 1, queued 3], [B keeps queues 1, created 2, bodies 3, acquired 1,"
        " declared 1, queued 3]",
        "16.1: A: dequeue B0 on q",
        "16.2: A: dequeue B1 on q",
        "16.6: A: requeue A0 on q, A: consume q/0",
        "17.6: [release m is done]",
        "18.6: A: acquire A0 on q, A: release for good q/0, A: cancel q/0",
        "19.6: [a gets m from q, again]",
        "20: [A: q is STOPPED by None for : m 5 completed 2 delivered],"
        " [B: q is STOPPED by None for : m 2 completed]",
        "21: [A keeps queues 1, held 1, created 2, bodies 1, acquired 1, redelivered 1,"
        " declared 1, queued 1], [B keeps queues 1, created 2, bodies 1, acquired 1,"
        " redelivered 1, declared 1, queued 1]",
    ]


def test_who_has_no_message_settles_none() -> None:
    scene = told(
        *TWO,
        (6, subscribes("A", "a", "q")),
        (15, replica("A", lambda one: one.accept(key("B", 0)))),
        (15.1, replica("A", lambda one: one.release(key("B", 0)))),
        (15.2, replica("A", lambda one: one.reject(key("B", 0), None)[0])),
        (15.3, replica("A", lambda one: one.reject(key("A", 0), NOTHING)[0])),
        (15.4, replica("A", lambda one: one.acquire(NOTHING)[1])),
        (15.5, replica("A", lambda one: one.declare(Q))),
        (16, accepts("A", "a", "m")),
        (16.1, replica("A", lambda one: one.accept(key("A", 0)))),
        (20, Told.look),
        (21, Told.weigh),
    )
    assert scene.story == [
        "1: A: declare q",
        "2: [declare q is done]",
        "4: A: create 0 m, A: enqueue A0 on q, A: routed 0",
        "5: B: create 0 n, B: enqueue B0 on q, B: routed 0, [publish m is done]",
        "6: [publish n is done]",
        "7: A: consume q/0",
        "9: A: acquire A0 on q, A: release for good q/0, A: cancel q/0",
        "10: [a gets m from q]",
        "15: [accept: no consumer here has it (key in held is false: key ="
        " Key(id=MessageId(node=B, seq=0), queue=q), held = {Key(id=MessageId(node=A,"
        " seq=0), queue=q)})]",
        "15.1: [release: no consumer here has it (key in held is false: key ="
        " Key(id=MessageId(node=B, seq=0), queue=q), held = {Key(id=MessageId(node=A,"
        " seq=0), queue=q)})]",
        "15.2: [reject: no consumer here has it (key in held is false: key ="
        " Key(id=MessageId(node=B, seq=0), queue=q), held = {Key(id=MessageId(node=A,"
        " seq=0), queue=q)})]",
        "15.3: [reject: there is no such queue (to is None or to in queues is false: to ="
        " nothing, queues = {q: [MessageId(node=A, seq=0), MessageId(node=B, seq=0)]})]",
        "15.4: [acquire: there is no such queue (q in queues is false: q = nothing,"
        " queues = {q: [MessageId(node=A, seq=0), MessageId(node=B, seq=0)]})]",
        "15.5: [declare: there is this queue (q not in queues is false: q = q,"
        " queues = {q: [MessageId(node=A, seq=0), MessageId(node=B, seq=0)]})]",
        "16.1: [accept: no consumer here has it (key in held is false: key ="
        " Key(id=MessageId(node=A, seq=0), queue=q), held = set())]",
        "17: A: dequeue A0 on q, A: consume q/0",
        "18: [accept m is done]",
        "19: A: acquire B0 on q, A: release for good q/0, A: cancel q/0",
        "20: [a gets n from q], [A: q is STOPPED by None for : n 5 completed 2 delivered],"
        " [B: q is STOPPED by None for : n 1 completed]",
        "21: [A keeps queues 1, held 1, created 2, bodies 1, acquired 1, declared 1,"
        " queued 1], [B keeps queues 1, created 2, bodies 1, acquired 1, declared 1,"
        " queued 1]",
    ]


def test_a_node_that_knows_the_queue_does_not_join_it() -> None:
    """It has said something; another one is interested, owns it, or both."""
    join = owner("A", join_unowned)
    scene = told(
        *TWO,
        (6, subscribes("A", "a", "q")),
        (6.5, join),
        (15, accepts("A", "a", "m")),
        (15.5, says("L", Of(Q, 0, Consume()))),
        (17, join),
        (17.1, says("L", Of(Q, 0, Cancel()))),
        (19, join),
        (20, Told.look),
        (21, owner("B", join_unowned)),
    )
    assert scene.story == [
        "1: A: declare q",
        "2: [declare q is done]",
        "4: A: create 0 m, A: enqueue A0 on q, A: routed 0",
        "5: B: create 0 n, B: enqueue B0 on q, B: routed 0, [publish m is done]",
        "6: [publish n is done]",
        "6.5: [join: has said something (1 == 0 is false)]",
        "7: A: consume q/0",
        "9: A: acquire A0 on q, A: release for good q/0, A: cancel q/0",
        "10: [a gets m from q]",
        "15.5: L: consume q/0",
        "16: A: dequeue A0 on q, A: consume q/0",
        "17: [accept m is done], [join: knows the queue (owner is None is false: owner = L)]",
        "17.1: L: cancel q/0",
        "19: [join: knows the queue (owner is None is false: owner = L)]",
        "20: [A: q is STOPPED by L for A: n 4 completed 1 delivered],"
        " [B: q is STOPPED by L for A: n 1 completed]",
        "21: [join: knows the queue (owner is None is false: owner = L)]",
    ]


def test_a_node_joins_no_queue_of_which_the_owner_has_left_no_word() -> None:
    """The owner has cancelled, and not released it."""
    scene = told(
        *TWO,
        (6, says("L", Of(Q, 0, Consume()), Of(Q, 0, Cancel()))),
        (10, Told.look),
        (11, owner("A", join_unowned)),
    )
    assert scene.story == [
        "1: A: declare q",
        "2: [declare q is done]",
        "4: A: create 0 m, A: enqueue A0 on q, A: routed 0",
        "5: B: create 0 n, B: enqueue B0 on q, B: routed 0, [publish m is done]",
        "6: [publish n is done], L: consume q/0, L: cancel q/0",
        "10: [A: q is STOPPED by L for : m n 2 completed],"
        " [B: q is STOPPED by L for : m n 1 completed]",
        "11: [join: knows the queue (owner is None is false: owner = L)]",
    ]


def test_a_queue_that_has_ended_has_no_consumers() -> None:
    ended = list[QueueOwnerFixed]()

    def keep(node: LocalNode) -> None:
        ended.append(node.owners[Q])

    def consume(_: LocalNode) -> None:
        ended[0].consume()

    scene = told(*TWO, (6, asks("A", keep)), (7, destroys("A", "q")), (15, asks("A", consume)))
    assert scene.story == [
        "1: A: declare q",
        "2: [declare q is done]",
        "4: A: create 0 m, A: enqueue A0 on q, A: routed 0",
        "5: B: create 0 n, B: enqueue B0 on q, B: routed 0, [publish m is done]",
        "6: [publish n is done]",
        "8: A: destroy q",
        "9: [destroy q is done]",
        "15: [consume: state is ENDED, not UPDATING or STOPPED or OWNED or STOPPING]",
    ]


def test_an_updater_sends_what_it_has() -> None:
    scene = told(
        *TWO,
        (15, joins("C", "B")),
        (16.5, updater("B", lambda one: one.send(NOTHING))),
        (16.6, updater("B", lambda one: one.done(NOTHING))),
        (16.7, updater("B", lambda one: one.done(Q))),
        (16.8, updater("B", lambda one: one.begin(()))),
        (17.5, updater("B", lambda one: one.send(Q))),
        (30, Told.look),
        (31, updater("B", lambda one: one.send(Q))),
        at_once=1,
    )
    assert scene.story == [
        "1: A: declare q",
        "2: [declare q is done]",
        "4: A: create 0 m, A: enqueue A0 on q, A: routed 0",
        "5: B: create 0 n, B: enqueue B0 on q, B: routed 0, [publish m is done]",
        "6: [publish n is done]",
        "15: C: joins by B",
        "16.5: [send: sends no such queue (q in to_send is false: q = nothing,"
        " to_send = {q: [MessageId(node=A, seq=0)]})]",
        "16.6: [done: sends no such queue (q in to_send is false: q = nothing,"
        " to_send = {q: [MessageId(node=A, seq=0)]})]",
        "16.7: [done: some messages are not sent (1 == 0 is false)]",
        "16.8: [begin: sends already (1 == 0 is false)]",
        "17: B to C: stall 1 q/0; ; A1 B1; ; None:, B to C: front B0 on q n None",
        "17.5: [send: the iterator is at the front (0 > 0 is false)]",
        "18: B to C: front A0 on q m None",
        "19: B to C: done q, [C has all queues]",
        "30: [A: q is STOPPED by None for : m n 2 completed],"
        " [B: q is STOPPED by None for : m n 1 completed],"
        " [C: q is STOPPED by None for : m n]",
        "31: [send: sends no such queue (q in to_send is false: q = q, to_send = {})]",
    ]


def test_a_queue_keeps_two_messages() -> None:
    """It loses the oldest one that nobody has, or the new one."""
    scene = told(
        *TWO,
        (5, publishes("B", "o", "q")),
        (9, Told.look),
        (9.1, Told.weigh),
        (10, subscribes("A", "a", "q")),
        (15, publishes("A", "p", "q")),
        (20, Told.look),
        (21, subscribes("B", "b", "q")),
        (30, publishes("A", "x", "q")),
        (40, Told.look),
        (41, accepts("A", "a", "n")),
        (45, publishes("B", "y", "q")),
        (50, Told.look),
        (51, Told.weigh),
        ring=2,
    )
    assert scene.story == [
        "1: A: declare q",
        "2: [declare q is done]",
        "4: A: create 0 m, A: enqueue A0 on q, A: routed 0",
        "5: B: create 0 n, B: enqueue B0 on q, B: routed 0, [publish m is done]",
        "6: B: create 1 o, B: enqueue B1 on q, B: routed 1, [publish n is done]",
        "7: [publish o is done]",
        "9: [A: q is STOPPED by None for : n o 2 completed],"
        " [B: q is STOPPED by None for : n o 2 completed]",
        "9.1: [A keeps queues 1, created 2, bodies 2, declared 1, queued 2],"
        " [B keeps queues 1, created 2, bodies 2, declared 1, queued 2]",
        "11: A: consume q/0",
        "13: A: acquire B0 on q, A: release for good q/0, A: cancel q/0",
        "14: [a gets n from q]",
        "16: A: create 1 p, A: enqueue A1 on q, A: routed 1",
        "17: [publish p is done]",
        "20: [A: q is STOPPED by None for : n p 4 completed 1 delivered],"
        " [B: q is STOPPED by None for : n p 2 completed]",
        "22: B: consume q/0",
        "24: B: acquire A1 on q, B: release for good q/0, B: cancel q/0",
        "25: [b gets p from q]",
        "31: A: create 2 x, A: enqueue A2 on q, A: routed 2",
        "32: [publish x is done]",
        "40: [A: q is STOPPED by None for : n p 5 completed 1 delivered],"
        " [B: q is STOPPED by None for : n p 3 completed 1 delivered]",
        "42: A: dequeue B0 on q, A: consume q/0",
        "43: [accept n is done]",
        "46: B: create 2 y, B: enqueue B2 on q, B: routed 2",
        "47: [publish y is done]",
        "48: A: acquire B2 on q, A: release for good q/0, A: cancel q/0",
        "49: [a gets y from q]",
        "50: [A: q is STOPPED by None for : p y 7 completed 2 delivered],"
        " [B: q is STOPPED by None for : p y 4 completed 1 delivered]",
        "51: [A keeps queues 1, held 1, created 2, bodies 2, acquired 2, declared 1,"
        " queued 2], [B keeps queues 1, held 1, created 2, bodies 2, acquired 2,"
        " declared 1, queued 2]",
    ]
