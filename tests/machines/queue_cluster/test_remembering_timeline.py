"""What a member that has joined knows of messages, and when it forgets what it was told of them."""

from __future__ import annotations

from lawful.machines.queue_cluster.messages import (
    Create,
    Enqueue,
    Key,
    MessageId,
    Node,
    QueueName,
    Routed,
)
from tests.machines.queue_cluster.told import (
    Act,
    Told,
    accepts,
    binds,
    declares,
    destroys,
    joins,
    lags,
    publishes,
    rejects,
    releases,
    says,
    subscribes,
    told,
)

FIRST = Enqueue(Key(MessageId(Node("L"), 0), QueueName("dead")))
SECOND = Enqueue(Key(MessageId(Node("L"), 0), QueueName("q")))
THIRD = Enqueue(Key(MessageId(Node("L"), 1), QueueName("q")))
DEAD = (
    (0, declares("A", "dead")),
    (0.2, declares("A", "q")),
    (2, binds("A", "alternate:q", "dead")),
)


def published(bodies: str) -> list[Act]:
    """From 3 ms on A and B publish these by turns."""
    return [(3 + i, publishes("AB"[i % 2], body, "q")) for i, body in enumerate(bodies)]


def test_what_is_being_routed_as_it_joins() -> None:
    """By a member that nobody plays: to one queue before, to the other one after."""
    scene = told(
        *DEAD,
        (5, says("L", Create(0, b"l"), FIRST, Create(1, b"k"))),
        (15, joins("C", "B")),
        (20, says("L", FIRST, SECOND, Routed(0), THIRD, Routed(1))),
        (22, Told.look),
        (23, declares("A", "s")),
        (26, subscribes("C", "c", "q", 2)),
        (26.2, subscribes("C", "d", "dead")),
        (26.4, subscribes("C", "e", "s")),
        (40, Told.look),
        (41, Told.weigh),
    )
    assert scene.story == [
        "1: A: declare dead",
        "1.2: A: declare q",
        "2: [declare dead is done]",
        "2.2: [declare q is done]",
        "3: A: bind alternate:q dead",
        "4: [bind dead is done]",
        "5: L: create 0 l, L: enqueue L0 on dead, L: create 1 k",
        "15: C: joins by B",
        "17: B to C: stall 2 dead/0 q/1; alternate:q>dead; L2; L0 L1; None: None:,"
        " B to C: front L0 on dead l None, B to C: done dead, B to C: done q,"
        " [C has all queues]",
        "20: L: enqueue L0 on dead, L: enqueue L0 on q, L: routed 0, L: enqueue L1 on q,"
        " L: routed 1",
        "22: [A: dead is STOPPED by None for : l 3 completed 1 refused],"
        " [A: q is STOPPED by None for : l k 3 completed 1 refused],"
        " [B: dead is STOPPED by None for : l 1 refused],"
        " [B: q is STOPPED by None for : l k 1 refused],"
        " [C: dead is STOPPED by None for : l 1 refused],"
        " [C: q is STOPPED by None for : l k 1 refused]",
        "24: A: declare s",
        "25: [declare s is done]",
        "27: C: consume q/1",
        "27.2: C: consume dead/0",
        "27.4: C: consume s/2",
        "29: C: acquire L0 on q, C: acquire L1 on q, C: release for good q/1, C: cancel q/1",
        "29.2: C: acquire L0 on dead, C: release for good dead/0, C: cancel dead/0",
        "30: [c gets l from q], [c gets k from q]",
        "30.2: [d gets l from dead]",
        "40: [A: dead is STOPPED by None for : l 4 completed 1 refused],"
        " [A: q is STOPPED by None for : l k 4 completed 1 refused],"
        " [A: s is STOPPED by C for C: empty 4 completed 1 refused],"
        " [B: dead is STOPPED by None for : l 1 refused],"
        " [B: q is STOPPED by None for : l k 1 refused],"
        " [B: s is STOPPED by C for C: empty 1 refused],"
        " [C: dead is STOPPED by None for : l 3 completed 3 delivered 1 refused],"
        " [C: q is STOPPED by None for : l k 3 completed 3 delivered 1 refused],"
        " [C: s is OWNED by C for C: empty 3 completed 3 delivered 1 refused]",
        "41: [A keeps queues 3, bindings 1, created 1, bodies 2, acquired 3, declared 3,"
        " queued 3, s owner 1, s consumers 1], [B keeps queues 3, bindings 1, created 1,"
        " bodies 2, acquired 3, declared 3, queued 3, s owner 1, s consumers 1],"
        " [C keeps queues 3, bindings 1, held 3, created 1, bodies 2, acquired 3,"
        " declared 3, queued 3, s owner 1, s consumers 1]",
    ]


WHAT_WAS_TOLD_OF_A_MESSAGE_IS_FORGOTTEN_WITH_IT = [
    "1: A: declare dead",
    "1.2: A: declare q",
    "2: [declare dead is done]",
    "2.2: [declare q is done]",
    "3: A: bind alternate:q dead",
    "4: [bind dead is done], A: create 0 m, A: enqueue A0 on q, A: routed 0",
    "5: B: create 0 n, B: enqueue B0 on q, B: routed 0, [publish m is done]",
    "6: A: create 1 o, A: enqueue A1 on q, A: routed 1, [publish n is done]",
    "7: B: create 1 p, B: enqueue B1 on q, B: routed 1, [publish o is done]",
    "8: [publish p is done]",
    "11: A: consume q/1",
    "13: A: acquire A0 on q, A: acquire B0 on q, A: acquire A1 on q,"
    " A: acquire B1 on q, A: release for good q/1, A: cancel q/1",
    "14: [a gets m from q], [a gets n from q], [a gets o from q], [a gets p from q]",
    "15: C: joins by B",
    "17: B to C: stall 2 dead/0 q/1; alternate:q>dead; A2 B2; ; None: None:,"
    " B to C: done dead, B to C: front B1 on q p A, B to C: front A1 on q o A,"
    " B to C: front B0 on q n A, B to C: front A0 on q m A, B to C: done q,"
    " [C has all queues]",
    "20: [A keeps queues 2, bindings 1, held 4, created 2, bodies 4, acquired 4,"
    " declared 2, queued 4], [B keeps queues 2, bindings 1, created 2, bodies 4,"
    " acquired 4, declared 2, queued 4], [C keeps queues 2, bindings 1, created 2,"
    " bodies 4, acquired 4, told 4, declared 2, queued 4]",
    "22: A: reject A0 on q as 2 to dead m, A: consume q/1",
    "23: [reject m is done]",
    "24: [A keeps queues 2, bindings 1, held 3, created 2, bodies 4, acquired 3,"
    " declared 2, queued 4, q owner 1, q consumers 1],"
    " [B keeps queues 2, bindings 1, created 2, bodies 4, acquired 3, declared 2,"
    " queued 4, q owner 1, q consumers 1], [C keeps queues 2, bindings 1, created 2,"
    " bodies 4, acquired 3, told 3, declared 2, queued 4, q owner 1, q consumers 1]",
    "26: A: dequeue B0 on q",
    "27: [accept n is done]",
    "28: [A keeps queues 2, bindings 1, held 2, created 2, bodies 3, acquired 2,"
    " declared 2, queued 3, q owner 1, q consumers 1],"
    " [B keeps queues 2, bindings 1, created 2, bodies 3, acquired 2, declared 2,"
    " queued 3, q owner 1, q consumers 1], [C keeps queues 2, bindings 1, created 2,"
    " bodies 3, acquired 2, told 2, declared 2, queued 3, q owner 1, q consumers 1]",
    "30: A: requeue A1 on q",
    "31: [release o is done]",
    "32: A: acquire A1 on q",
    "33: [a gets o from q, again], [A keeps queues 2, bindings 1, held 2, created 2,"
    " bodies 3, acquired 2, redelivered 1, declared 2, queued 3, q owner 1,"
    " q consumers 1], [B keeps queues 2, bindings 1, created 2, bodies 3, acquired 2,"
    " redelivered 1, declared 2, queued 3, q owner 1, q consumers 1],"
    " [C keeps queues 2, bindings 1, created 2, bodies 3, acquired 2, redelivered 1,"
    " told 1, declared 2, queued 3, q owner 1, q consumers 1]",
    "35: B: destroy q",
    "36: [a has ended], [destroy q is done]",
    "38: [A keeps queues 1, bindings 1, held 2, created 2, bodies 1, declared 1,"
    " queued 1], [B keeps queues 1, bindings 1, created 2, bodies 1, declared 1,"
    " queued 1], [C keeps queues 1, bindings 1, created 2, bodies 1, declared 1,"
    " queued 1]",
]


def test_what_was_told_of_a_message_is_forgotten_with_it() -> None:
    scene = told(
        *DEAD,
        *published("mnop"),
        (10, subscribes("A", "a", "q", 4)),
        (15, joins("C", "B")),
        (20, Told.weigh),
        (21, rejects("A", "a", "m")),
        (24, Told.weigh),
        (25, accepts("A", "a", "n")),
        (28, Told.weigh),
        (29, releases("A", "a", "o")),
        (33, Told.weigh),
        (34, destroys("B", "q")),
        (38, Told.weigh),
    )
    assert scene.story == WHAT_WAS_TOLD_OF_A_MESSAGE_IS_FORGOTTEN_WITH_IT


def test_a_message_is_given_back_before_the_updater_knows() -> None:
    """It had told that somebody has it."""
    scene = told(
        *DEAD,
        *published("mno"),
        (10, subscribes("A", "a", "q", 2)),
        (14.9, lags("B", 8)),
        (15, joins("C", "B")),
        (22, releases("A", "a", "m")),
        (24.5, Told.weigh),
        (40, Told.look),
        (41, Told.weigh),
        at_once=1,
    )
    assert scene.story == [
        "1: A: declare dead",
        "1.2: A: declare q",
        "2: [declare dead is done]",
        "2.2: [declare q is done]",
        "3: A: bind alternate:q dead",
        "4: [bind dead is done], A: create 0 m, A: enqueue A0 on q, A: routed 0",
        "5: B: create 0 n, B: enqueue B0 on q, B: routed 0, [publish m is done]",
        "6: A: create 1 o, A: enqueue A1 on q, A: routed 1, [publish n is done]",
        "7: [publish o is done]",
        "11: A: consume q/1",
        "13: A: acquire A0 on q, A: acquire B0 on q, A: release for good q/1, A: cancel q/1",
        "14: [a gets m from q], [a gets n from q]",
        "15: C: joins by B",
        "23: A: requeue A0 on q, A: consume q/1",
        "24: [release m is done]",
        "24.5: [A keeps queues 2, bindings 1, held 2, acquiring 1, created 2, bodies 3,"
        " acquired 1, redelivered 1, declared 2, queued 3, q sent 2, q owner 1,"
        " q consumers 1], [B keeps queues 2, bindings 1, created 2, bodies 3, acquired 2,"
        " declared 2, queued 3, for C to_send 1], [C keeps nothing]",
        "25: A: acquire A0 on q, A: release for good q/1,"
        " B to C: stall 2 dead/0 q/1; alternate:q>dead; A2 B1; ; None: None:,"
        " A: cancel q/1, B to C: done dead",
        "26: [a gets m from q, again], B to C: front A1 on q o None",
        "27: B to C: front B0 on q n A",
        "28: B to C: front A0 on q m A",
        "29: B to C: done q, [C has all queues]",
        "40: [A: dead is STOPPED by None for : empty 9 completed 3 delivered],"
        " [A: q is STOPPED by None for : m n o 9 completed 3 delivered],"
        " [B: dead is STOPPED by None for : empty 1 completed],"
        " [B: q is STOPPED by None for : m n o 1 completed],"
        " [C: dead is STOPPED by None for : empty], [C: q is STOPPED by None for : m n o]",
        "41: [A keeps queues 2, bindings 1, held 2, created 2, bodies 3, acquired 2,"
        " redelivered 1, declared 2, queued 3], [B keeps queues 2, bindings 1, created 2,"
        " bodies 3, acquired 2, redelivered 1, declared 2, queued 3],"
        " [C keeps queues 2, bindings 1, created 2, bodies 3, acquired 2, redelivered 1,"
        " told 1, declared 2, queued 3]",
    ]
