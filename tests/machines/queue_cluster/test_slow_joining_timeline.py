"""A member joins slowly, while others go on: what it is told, what it hears by itself, and what it
keeps of that in mind."""

from __future__ import annotations

from lawful.machines.queue_cluster.messages import (
    Enqueue,
    Key,
    MessageId,
    Node,
    QueueName,
)
from tests.machines.queue_cluster.told import (
    Act,
    Told,
    accepts,
    binds,
    declares,
    joins,
    lags,
    publishes,
    rejects,
    releases,
    subscribes,
    told,
    unsubscribes,
)

FIRST = Enqueue(Key(MessageId(Node("L"), 0), QueueName("dead")))
SECOND = Enqueue(Key(MessageId(Node("L"), 0), QueueName("q")))
DEAD = (
    (0, declares("A", "dead")),
    (0.2, declares("A", "q")),
    (2, binds("A", "alternate:q", "dead")),
)


def published(bodies: str) -> list[Act]:
    """From 3 ms on A and B publish these by turns."""
    return [(3 + i, publishes("AB"[i % 2], body, "q")) for i, body in enumerate(bodies)]


def test_what_consumers_do_meanwhile_is_said_afterwards() -> None:
    scene = told(
        *DEAD,
        *published("mnop"),
        (10, subscribes("A", "a", "q", 2)),
        (15, joins("C", "B")),
        (17.5, subscribes("C", "c", "q", 9)),
        (17.6, subscribes("C", "d", "q", 9)),
        (17.7, unsubscribes("C", "c")),
        (17.8, unsubscribes("C", "d")),
        (18, subscribes("C", "e", "q", 9)),
        (18.2, subscribes("C", "f", "dead", 9)),
        (18.3, unsubscribes("C", "f")),
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
        "7: B: create 1 p, B: enqueue B1 on q, B: routed 1, [publish o is done]",
        "8: [publish p is done]",
        "11: A: consume q/1",
        "13: A: acquire A0 on q, A: acquire B0 on q, A: release for good q/1, A: cancel q/1",
        "14: [a gets m from q], [a gets n from q]",
        "15: C: joins by B",
        "17: B to C: stall 2 dead/0 q/1; alternate:q>dead; A2 B2; ; None: None:, B to C: done dead",
        "18: B to C: front B1 on q p None",
        "19: B to C: front A1 on q o None",
        "19.2: C: consume dead/0",
        "19.3: C: cancel dead/0",
        "20: B to C: front B0 on q n A",
        "21: B to C: front A0 on q m A",
        "21.2: C: release for good dead/0",
        "22: B to C: done q, [C has all queues]",
        "23: C: consume q/1",
        "25: C: acquire A1 on q, C: acquire B1 on q",
        "26: [e gets o from q], [e gets p from q]",
        "40: [A: dead is STOPPED by None for : empty 7 completed 2 delivered],"
        " [A: q is STOPPED by C for C: m n o p 7 completed 2 delivered],"
        " [B: dead is STOPPED by None for : empty 2 completed],"
        " [B: q is STOPPED by C for C: m n o p 2 completed],"
        " [C: dead is STOPPED by None for : empty 2 completed 2 delivered],"
        " [C: q is OWNED by C for C: m n o p 2 completed 2 delivered]",
        "41: [A keeps queues 2, bindings 1, held 2, created 2, bodies 4, acquired 4,"
        " declared 2, queued 4, q owner 1, q consumers 1],"
        " [B keeps queues 2, bindings 1, created 2, bodies 4, acquired 4, declared 2,"
        " queued 4, q owner 1, q consumers 1], [C keeps queues 2, bindings 1, held 2,"
        " created 2, bodies 4, acquired 4, told 2, declared 2, queued 4, q owner 1,"
        " q consumers 1]",
    ]


AN_UPDATER_THAT_IS_FAR_AHEAD = [
    "1: A: declare dead",
    "1.2: A: declare q",
    "2: [declare dead is done]",
    "2.2: [declare q is done]",
    "3: A: bind alternate:q dead",
    "4: [bind dead is done], A: create 0 m, A: enqueue A0 on q, A: routed 0",
    "5: B: create 0 n, B: enqueue B0 on q, B: routed 0, [publish m is done]",
    "6: A: create 1 o, A: enqueue A1 on q, A: routed 1, [publish n is done]",
    "7: B: create 1 p, B: enqueue B1 on q, B: routed 1, [publish o is done]",
    "8: A: create 2 u, A: enqueue A2 on q, A: routed 2, [publish p is done]",
    "9: B: create 2 v, B: enqueue B2 on q, B: routed 2, [publish u is done]",
    "10: [publish v is done]",
    "11: A: consume q/1",
    "13: A: acquire A0 on q, A: acquire B0 on q, A: acquire A1 on q,"
    " A: release for good q/1, A: cancel q/1",
    "14: [a gets m from q], [a gets n from q], [a gets o from q]",
    "15: C: joins by B",
    "15.5: A: requeue A1 on q, A: consume q/1",
    "16.2: A: dequeue A0 on q",
    "16.4: A: reject B0 on q as 3 to dead n",
    "16.5: [release o is done]",
    "17: B to C: stall 2 dead/0 q/1; alternate:q>dead; A3 B3; ; None: None:, B to C: done dead",
    "17.2: [accept m is done]",
    "17.4: [reject n is done]",
    "17.5: A: acquire A1 on q, A: acquire B1 on q, A: acquire A2 on q,"
    " A: release for good q/1, A: cancel q/1",
    "18: B to C: front B2 on q v None",
    "18.5: [a gets o from q, again], [a gets p from q], [a gets u from q]",
    "19: B to C: front A2 on q u None",
    "20: B to C: front B1 on q p A",
    "21: B to C: front A1 on q o A again",
    "22: B to C: gone B0 on q",
    "23: B to C: gone A0 on q",
    "24: B to C: done q, [C has all queues]",
    "26: [A keeps queues 2, bindings 1, held 3, created 2, bodies 5, acquired 3,"
    " redelivered 1, declared 2, queued 5], [B keeps queues 2, bindings 1, created 2,"
    " bodies 5, acquired 3, redelivered 1, declared 2, queued 5],"
    " [C keeps queues 2, bindings 1, created 2, bodies 4, acquired 2, redelivered 1,"
    " told 2, gone 2, declared 2, queued 4]",
    "30: A: dequeue B1 on q, A: consume q/1",
    "30.5: A: requeue A2 on q",
    "31: [accept p is done], A: reject A1 on q as 4 to dead o",
    "31.5: [release u is done]",
    "32: [reject o is done], A: acquire B2 on q",
    "32.5: A: acquire A2 on q",
    "33: [a gets v from q]",
    "33.5: [a gets u from q, again]",
    "34: [A keeps queues 2, bindings 1, held 2, created 2, bodies 4, acquired 2,"
    " redelivered 1, declared 2, queued 4, q owner 1, q consumers 1],"
    " [B keeps queues 2, bindings 1, created 2, bodies 4, acquired 2, redelivered 1,"
    " declared 2, queued 4, q owner 1, q consumers 1],"
    " [C keeps queues 2, bindings 1, created 2, bodies 5, acquired 3, redelivered 1,"
    " declared 2, queued 5]",
    "50: [A: dead is STOPPED by None for : n o 20 completed 8 delivered],"
    " [A: q is OWNED by A for A: u v 20 completed 8 delivered],"
    " [B: dead is STOPPED by None for : n o 3 completed],"
    " [B: q is STOPPED by A for A: u v 3 completed],"
    " [C: dead is STOPPED by None for : n o], [C: q is STOPPED by A for A: u v]",
    "51: [A keeps queues 2, bindings 1, held 2, created 2, bodies 4, acquired 2,"
    " redelivered 1, declared 2, queued 4, q owner 1, q consumers 1],"
    " [B keeps queues 2, bindings 1, created 2, bodies 4, acquired 2, redelivered 1,"
    " declared 2, queued 4, q owner 1, q consumers 1],"
    " [C keeps queues 2, bindings 1, created 2, bodies 4, acquired 2, redelivered 1,"
    " declared 2, queued 4, q owner 1, q consumers 1]",
    "53: C: consume q/1",
    "54: C: consume dead/0",
    "68: C: acquire A3 on dead, C: acquire A4 on dead",
    "81: [d gets n from dead], [d gets o from dead]",
    "90: [A: dead is STOPPED by C for C: n o 20 completed 8 delivered],"
    " [A: q is OWNED by A for AC: u v 20 completed 8 delivered],"
    " [B: dead is STOPPED by C for C: n o 3 completed],"
    " [B: q is STOPPED by A for AC: u v 3 completed],"
    " [C: dead is OWNED by C for C: n o 2 completed 2 delivered],"
    " [C: q is STOPPED by A for AC: u v 2 completed 2 delivered]",
]


def test_an_updater_that_is_far_ahead() -> None:
    """It says who has a message, or that it has gone, before the new member hears of that."""
    scene = told(
        *DEAD,
        *published("mnopuv"),
        (10, subscribes("A", "a", "q", 3)),
        (14.5, releases("A", "a", "o")),
        (15, joins("C", "B")),
        (15.01, lags("C", 12)),
        (15.2, accepts("A", "a", "m")),
        (15.4, rejects("A", "a", "n")),
        (26, Told.weigh),
        (29, accepts("A", "a", "p")),
        (29.5, releases("A", "a", "u")),
        (30, rejects("A", "a", "o")),
        (34, Told.weigh),
        (50, Told.look),
        (51, Told.weigh),
        (52, subscribes("C", "c", "q", 9)),
        (53, subscribes("C", "d", "dead", 9)),
        (90, Told.look),
        at_once=1,
    )
    assert scene.story == AN_UPDATER_THAT_IS_FAR_AHEAD


AN_UPDATER_THAT_IS_FAR_BEHIND = [
    "1: A: declare dead",
    "1.2: A: declare q",
    "2: [declare dead is done]",
    "2.2: [declare q is done]",
    "3: A: bind alternate:q dead",
    "4: [bind dead is done], A: create 0 m, A: enqueue A0 on q, A: routed 0",
    "5: B: create 0 n, B: enqueue B0 on q, B: routed 0, [publish m is done]",
    "6: A: create 1 o, A: enqueue A1 on q, A: routed 1, [publish n is done]",
    "7: B: create 1 p, B: enqueue B1 on q, B: routed 1, [publish o is done]",
    "8: A: create 2 u, A: enqueue A2 on q, A: routed 2, [publish p is done]",
    "9: B: create 2 v, B: enqueue B2 on q, B: routed 2, [publish u is done]",
    "10: [publish v is done]",
    "11: A: consume q/1",
    "13: A: acquire A0 on q, A: acquire B0 on q, A: acquire A1 on q,"
    " A: acquire B1 on q, A: release for good q/1, A: cancel q/1",
    "14: [a gets m from q], [a gets n from q], [a gets o from q], [a gets p from q]",
    "15: C: joins by B",
    "16.2: A: dequeue A0 on q, A: consume q/1",
    "16.4: A: reject B0 on q as 3 to dead n",
    "16.6: A: requeue A1 on q",
    "17.2: [accept m is done]",
    "17.4: [reject n is done]",
    "17.6: [release o is done]",
    "18.2: A: acquire A2 on q, A: acquire B2 on q",
    "18.6: A: acquire A1 on q, A: release for good q/1, A: cancel q/1",
    "19.2: [a gets u from q], [a gets v from q]",
    "19.6: [a gets o from q, again]",
    "22.5: [A keeps queues 2, bindings 1, held 4, created 2, bodies 5, acquired 4,"
    " redelivered 1, declared 2, queued 5], [B keeps queues 2, bindings 1, created 2,"
    " bodies 6, acquired 4, declared 2, queued 6, for C to_send 1], [C keeps nothing]",
    "23: B to C: stall 2 dead/0 q/1; alternate:q>dead; A3 B3; ; None: None:, B to C: done dead",
    "23.5: [A keeps queues 2, bindings 1, held 4, created 2, bodies 5, acquired 4,"
    " redelivered 1, declared 2, queued 5], [B keeps queues 2, bindings 1, created 2,"
    " bodies 5, acquired 2, declared 2, queued 5, q owner 1, q consumers 1,"
    " for C to_send 1], [C keeps queues 2, bindings 1, created 2, bodies 1,"
    " updating 1, heard 5, declared 2, queued 1]",
    "24: B to C: front B2 on q v None",
    "25: B to C: front A2 on q u None",
    "26: B to C: front B1 on q p A, A: dequeue B1 on q, A: consume q/1",
    "26.2: A: reject A2 on q as 4 to dead u",
    "27: B to C: front A1 on q o A again, [accept p is done]",
    "27.2: [reject u is done]",
    "28: B to C: gone B0 on q, [A keeps queues 2, bindings 1, held 2, created 2,"
    " bodies 4, acquired 2, redelivered 1, declared 2, queued 4, q owner 1,"
    " q consumers 1], [B keeps queues 2, bindings 1, created 2, bodies 5, acquired 4,"
    " redelivered 1, declared 2, queued 5, for C to_send 1],"
    " [C keeps queues 2, bindings 1, created 2, bodies 4, acquired 2, redelivered 1,"
    " updating 1, heard 1, declared 2, queued 4, q owner 1, q consumers 1]",
    "29: B to C: gone A0 on q",
    "30: B to C: done q, [C has all queues]",
    "60: [A: dead is STOPPED by None for : n u 18 completed 7 delivered],"
    " [A: q is OWNED by A for A: o v 18 completed 7 delivered],"
    " [B: dead is STOPPED by None for : n u 3 completed],"
    " [B: q is STOPPED by A for A: o v 3 completed],"
    " [C: dead is STOPPED by None for : n u], [C: q is STOPPED by A for A: o v]",
    "61: [A keeps queues 2, bindings 1, held 2, created 2, bodies 4, acquired 2,"
    " redelivered 1, declared 2, queued 4, q owner 1, q consumers 1],"
    " [B keeps queues 2, bindings 1, created 2, bodies 4, acquired 2, redelivered 1,"
    " declared 2, queued 4, q owner 1, q consumers 1],"
    " [C keeps queues 2, bindings 1, created 2, bodies 4, acquired 2, redelivered 1,"
    " declared 2, queued 4, q owner 1, q consumers 1]",
    "63: C: consume q/1",
    "64: C: consume dead/0",
    "66: C: acquire A3 on dead, C: acquire A4 on dead",
    "67: [d gets n from dead], [d gets u from dead]",
    "80: [A: dead is STOPPED by C for C: n u 18 completed 7 delivered],"
    " [A: q is OWNED by A for AC: o v 18 completed 7 delivered],"
    " [B: dead is STOPPED by C for C: n u 3 completed],"
    " [B: q is STOPPED by A for AC: o v 3 completed],"
    " [C: dead is OWNED by C for C: n u 2 completed 2 delivered],"
    " [C: q is STOPPED by A for AC: o v 2 completed 2 delivered]",
]


def test_an_updater_that_is_far_behind() -> None:
    """The new member hears what becomes of a message before it is told of it."""
    scene = told(
        *DEAD,
        *published("mnopuv"),
        (10, subscribes("A", "a", "q", 4)),
        (14.9, lags("B", 6)),
        (15, joins("C", "B")),
        (15.2, accepts("A", "a", "m")),
        (15.4, rejects("A", "a", "n")),
        (15.6, releases("A", "a", "o")),
        (22.5, Told.weigh),
        (23.5, Told.weigh),
        (25, accepts("A", "a", "p")),
        (25.2, rejects("A", "a", "u")),
        (28, Told.weigh),
        (60, Told.look),
        (61, Told.weigh),
        (62, subscribes("C", "c", "q", 9)),
        (63, subscribes("C", "d", "dead", 9)),
        (80, Told.look),
        at_once=1,
    )
    assert scene.story == AN_UPDATER_THAT_IS_FAR_BEHIND
