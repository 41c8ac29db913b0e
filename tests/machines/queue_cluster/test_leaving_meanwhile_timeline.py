"""A member joins slowly, while others leave, and queues end: what it makes of that, and what it
keeps in mind."""

from __future__ import annotations

from tests.machines.queue_cluster.told import (
    Act,
    Told,
    accepts,
    binds,
    crashes,
    declares,
    destroys,
    joins,
    lags,
    publishes,
    releases,
    subscribes,
    told,
)

DEAD = (
    (0, declares("A", "dead")),
    (0.2, declares("A", "q")),
    (2, binds("A", "alternate:q", "dead")),
)


def published(bodies: str) -> list[Act]:
    """From 3 ms on A and B publish these by turns."""
    return [(3 + i, publishes("AB"[i % 2], body, "q")) for i, body in enumerate(bodies)]


WHO_HAD_MESSAGES_LEAVES_MEANWHILE = [
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
    "9: D: create 0 d, D: enqueue D0 on q, D: routed 0",
    "10: [publish d is done]",
    "11: A: consume q/1",
    "13: A: acquire A0 on q, A: acquire B0 on q, A: release for good q/1,"
    " A: cancel q/1, D: consume q/1",
    "14: [a gets m from q], [a gets n from q]",
    "15: D: acquire A1 on q, D: acquire B1 on q, D: release for good q/1, D: cancel q/1",
    "16: [x gets o from q], [x gets p from q]",
    "20: C: joins by B",
    "20.5: D: leaves",
    "24: A: requeue A0 on q, A: consume q/1",
    "25: [release m is done]",
    "26: A: acquire A0 on q, A: release for good q/1,"
    " B to C: stall 2 dead/0 q/1; alternate:q>dead; A2 B2 D1; ; None: None:,"
    " B to C: done dead, A: cancel q/1",
    "27: [a gets m from q, again], B to C: front D0 on q d None, [A keeps queues 2,"
    " bindings 1, held 2, created 2, bodies 5, acquired 2, redelivered 3, declared 2,"
    " queued 5], [B keeps queues 2, bindings 1, created 2, bodies 5, acquired 2,"
    " redelivered 2, declared 2, queued 5, for C to_send 1],"
    " [C keeps queues 2, bindings 1, created 2, bodies 1, updating 1, heard 1, left 1,"
    " declared 2, queued 1]",
    "28: B to C: front B1 on q p None again",
    "28.2: A: leaves",
    "29: B to C: front A1 on q o None again",
    "30: B to C: front B0 on q n A, [B keeps queues 2, bindings 1, created 2,"
    " bodies 5, acquired 1, redelivered 3, declared 2, queued 5, q owner 1,"
    " q consumers 1, for C to_send 1], [C keeps queues 2, bindings 1, created 1,"
    " bodies 4, redelivered 3, updating 1, heard 1, left 2, declared 2, queued 4]",
    "31: B to C: front A0 on q m None again",
    "32: B to C: done q, [C has all queues]",
    "60: [B: dead is STOPPED by None for : empty 2 completed],"
    " [B: q is STOPPED by None for : m n o p d 2 completed],"
    " [C: dead is STOPPED by None for : empty],"
    " [C: q is STOPPED by None for : m n o p d]",
    "61: [B keeps queues 2, bindings 1, created 1, bodies 5, redelivered 4,"
    " declared 2, queued 5], [C keeps queues 2, bindings 1, created 1, bodies 5,"
    " redelivered 4, declared 2, queued 5]",
    "63: C: consume q/1",
    "65: C: acquire A0 on q, C: acquire B0 on q, C: acquire A1 on q,"
    " C: acquire B1 on q, C: acquire D0 on q",
    "66: [c gets m from q, again], [c gets n from q, again], [c gets o from q, again],"
    " [c gets p from q, again], [c gets d from q]",
    "80: [B: dead is STOPPED by None for : empty 2 completed],"
    " [B: q is STOPPED by C for C: m n o p d 2 completed],"
    " [C: dead is STOPPED by None for : empty 5 completed 5 delivered],"
    " [C: q is OWNED by C for C: m n o p d 5 completed 5 delivered]",
]


def test_who_had_messages_leaves_meanwhile() -> None:
    """One before the new member is told of them, and one while it is."""
    scene = told(
        *DEAD,
        *published("mnop"),
        (8, publishes("D", "d", "q")),
        (10, subscribes("A", "a", "q", 2)),
        (12, subscribes("D", "x", "q", 2)),
        (17.9, lags("B", 4)),
        (20, joins("C", "B")),
        (20.5, crashes("D")),
        (23, releases("A", "a", "m")),
        (27, Told.weigh),
        (28.2, crashes("A")),
        (30, Told.weigh),
        (60, Told.look),
        (61, Told.weigh),
        (62, subscribes("C", "c", "q", 9)),
        (80, Told.look),
        members="ABD",
        at_once=1,
    )
    assert scene.story == WHO_HAD_MESSAGES_LEAVES_MEANWHILE


TWO_LEAVE_AND_ONE_STAYS_MEANWHILE = [
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
    "13: A: acquire A0 on q, A: acquire B0 on q, A: release for good q/1,"
    " A: cancel q/1, D: consume q/1",
    "14: [a gets m from q], [a gets n from q]",
    "15: D: acquire A1 on q, D: release for good q/1, D: cancel q/1",
    "16: [x gets o from q]",
    "20: C: joins by B",
    "20.2: E: leaves",
    "20.4: D: leaves",
    "23: A: dequeue A0 on q, A: consume q/1",
    "24: [accept m is done]",
    "25: B to C: stall 2 dead/0 q/1; alternate:q>dead; A2 B2; ; None: None:,"
    " A: acquire A1 on q, A: release for good q/1, B to C: done dead, A: cancel q/1",
    "26: [a gets o from q, again], B to C: front B1 on q p None, [A keeps queues 2,"
    " bindings 1, held 2, created 2, bodies 3, acquired 2, redelivered 1, declared 2,"
    " queued 3], [B keeps queues 2, bindings 1, created 2, bodies 4, acquired 2,"
    " redelivered 1, declared 2, queued 4, for C to_send 1],"
    " [C keeps queues 2, bindings 1, created 2, bodies 1, updating 1, heard 2, left 2,"
    " declared 2, queued 1]",
    "27: B to C: front A1 on q o None again",
    "28: B to C: front B0 on q n A",
    "29: B to C: gone A0 on q",
    "30: B to C: done q, [C has all queues]",
    "40: [A: dead is STOPPED by None for : empty 9 completed 3 delivered],"
    " [A: q is STOPPED by None for : n o p 9 completed 3 delivered],"
    " [B: dead is STOPPED by None for : empty 2 completed],"
    " [B: q is STOPPED by None for : n o p 2 completed],"
    " [C: dead is STOPPED by None for : empty], [C: q is STOPPED by None for : n o p]",
    "41: [A keeps queues 2, bindings 1, held 2, created 2, bodies 3, acquired 2,"
    " redelivered 1, declared 2, queued 3], [B keeps queues 2, bindings 1, created 2,"
    " bodies 3, acquired 2, redelivered 1, declared 2, queued 3],"
    " [C keeps queues 2, bindings 1, created 2, bodies 3, acquired 2, redelivered 1,"
    " told 1, declared 2, queued 3]",
    "42: B: leaves",
    "44: A: leaves",
    "46: [C keeps queues 2, bindings 1, bodies 3, redelivered 2, declared 2, queued 3]",
    "48: C: consume q/1",
    "50: C: acquire B0 on q, C: acquire A1 on q, C: acquire B1 on q",
    "51: [c gets n from q, again], [c gets o from q, again], [c gets p from q]",
    "60: [C: dead is STOPPED by None for : empty 3 completed 3 delivered],"
    " [C: q is OWNED by C for C: n o p 3 completed 3 delivered]",
]


def test_two_leave_and_one_stays_meanwhile() -> None:
    """What the third one has is no message that comes again."""
    scene = told(
        *DEAD,
        *published("mnop"),
        (10, subscribes("A", "a", "q", 2)),
        (12, subscribes("D", "x", "q", 1)),
        (19.9, lags("B", 3)),
        (20, joins("C", "B")),
        (20.2, crashes("E")),
        (20.4, crashes("D")),
        (22, accepts("A", "a", "m")),
        (26, Told.weigh),
        (40, Told.look),
        (41, Told.weigh),
        (42, crashes("B")),
        (44, crashes("A")),
        (46, Told.weigh),
        (47, subscribes("C", "c", "q", 9)),
        (60, Told.look),
        members="ABDE",
        at_once=1,
    )
    assert scene.story == TWO_LEAVE_AND_ONE_STAYS_MEANWHILE


def test_a_queue_with_consumers_is_destroyed_meanwhile() -> None:
    scene = told(
        *DEAD,
        *published("mnop"),
        (7.5, publishes("A", "z", "dead", "q")),
        (10, subscribes("A", "a", "q", 2)),
        (15, joins("C", "B")),
        (18.3, subscribes("C", "c", "q", 9)),
        (18.4, accepts("A", "a", "m")),
        (18.5, destroys("A", "q")),
        (20, Told.weigh),
        (20.6, declares("A", "q")),
        (20.8, publishes("B", "new", "q")),
        (21, destroys("B", "dead")),
        (23.5, publishes("B", "newer", "q")),
        (30, Told.weigh),
        (40, Told.look),
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
        "8.5: A: create 2 z, A: enqueue A2 on dead, A: enqueue A2 on q, A: routed 2",
        "9.5: [publish z is done]",
        "11: A: consume q/1",
        "13: A: acquire A0 on q, A: acquire B0 on q, A: release for good q/1, A: cancel q/1",
        "14: [a gets m from q], [a gets n from q]",
        "15: C: joins by B",
        "17: B to C: stall 2 dead/0 q/1; alternate:q>dead; A3 B2; ; None: None:,"
        " B to C: front A2 on dead z None",
        "18: B to C: done dead",
        "19: B to C: front A2 on q z None",
        "19.4: A: dequeue A0 on q, A: consume q/1",
        "19.5: A: destroy q",
        "20: B to C: front B1 on q p None, [A keeps queues 2, bindings 1, held 1,"
        " settling 1, created 2, bodies 5, acquired 2, declared 2, queued 6, q sent 1],"
        " [B keeps queues 2, bindings 1, created 2, bodies 5, acquired 2, declared 2,"
        " queued 6, for C to_send 1], [C keeps queues 2, bindings 1, created 2, bodies 2,"
        " updating 1, declared 2, queued 3]",
        "20.4: [accept m is done]",
        "20.5: [c has ended], [C has all queues], [a has ended], [destroy q is done]",
        "20.8: [publish new is refused]",
        "21: B to C: front A1 on q o None",
        "21.4: A: acquire A1 on q, A: release for good q/1, A: cancel q/1",
        "21.6: A: declare q",
        "21.8: B: create 2 new, B: routed 2",
        "22: B: destroy dead",
        "22.6: [declare q is done]",
        "23: [destroy dead is done]",
        "23.4: A: requeue A1 on q",
        "24.5: B: create 3 newer, B: enqueue B3 on q, B: routed 3",
        "25.5: [publish newer is done]",
        "30: [A keeps queues 1, held 1, created 2, bodies 1, declared 1, queued 1],"
        " [B keeps queues 1, created 2, bodies 1, declared 1, queued 1],"
        " [C keeps queues 1, created 2, bodies 1, declared 1, queued 1]",
        "40: [A: q is STOPPED by None for : newer 12 completed 2 delivered 1 vanished],"
        " [B: q is STOPPED by None for : newer 4 completed],"
        " [C: q is STOPPED by None for : newer]",
    ]


OF_TWO_QUEUES_ONE_IS_READY_BEFORE_THE_OTHER = [
    "1: A: declare dead",
    "1.2: A: declare q",
    "2: [declare dead is done]",
    "2.2: [declare q is done]",
    "3: A: bind alternate:q dead",
    "4: [bind dead is done], A: create 0 m, A: enqueue A0 on q, A: routed 0",
    "5: B: create 0 n, B: enqueue B0 on q, B: routed 0, [publish m is done]",
    "6: A: create 1 o, A: enqueue A1 on q, A: routed 1, [publish n is done]",
    "7: [publish o is done]",
    "8: B: create 1 u, B: enqueue B1 on dead, B: routed 1",
    "8.5: B: create 2 v, B: enqueue B2 on dead, B: routed 2",
    "9: [publish u is done]",
    "9.5: [publish v is done]",
    "11: A: consume q/1",
    "11.2: A: consume dead/0",
    "13: A: acquire A0 on q, A: acquire B0 on q, A: release for good q/1, A: cancel q/1",
    "13.2: A: acquire B1 on dead, A: release for good dead/0, A: cancel dead/0",
    "14: [a gets m from q], [a gets n from q]",
    "14.2: [b gets u from dead]",
    "15: C: joins by B",
    "17: A: requeue B0 on q, A: consume q/1",
    "17.2: A: dequeue B1 on dead, A: consume dead/0",
    "18: [release n is done], A: dequeue A0 on q",
    "18.2: [accept u is done]",
    "19: A: acquire B0 on q, A: acquire A1 on q,"
    " B to C: stall 2 dead/0 q/1; alternate:q>dead; A2 B3; ; None: None:,"
    " [accept m is done], A: release for good q/1, B to C: front B2 on dead v None,"
    " A: cancel q/1",
    "19.2: A: acquire B2 on dead, A: release for good dead/0, A: cancel dead/0",
    "20: [a gets n from q, again], [a gets o from q], B to C: front B1 on dead u A",
    "20.2: [b gets v from dead]",
    "20.5: [A keeps queues 2, bindings 1, held 3, created 2, bodies 3, acquired 3,"
    " redelivered 1, declared 2, queued 3], [B keeps queues 2, bindings 1, created 2,"
    " bodies 4, acquired 1, redelivered 1, declared 2, queued 4, dead owner 1,"
    " dead consumers 1, q owner 1, q consumers 1, for C to_send 1],"
    " [C keeps queues 2, bindings 1, created 2, bodies 1, acquired 1, updating 2,"
    " heard 3, declared 2, queued 1]",
    "21: B to C: done dead",
    "21.5: [A keeps queues 2, bindings 1, held 3, created 2, bodies 3, acquired 3,"
    " redelivered 1, declared 2, queued 3], [B keeps queues 2, bindings 1, created 2,"
    " bodies 3, redelivered 1, declared 2, queued 3, dead owner 1, dead consumers 1,"
    " q owner 1, q consumers 1, for C to_send 1],"
    " [C keeps queues 2, bindings 1, created 2, bodies 1, acquired 1, updating 1,"
    " heard 3, declared 2, queued 1]",
    "22: B to C: front A1 on q o None",
    "22.5: [A keeps queues 2, bindings 1, held 3, created 2, bodies 3, acquired 3,"
    " redelivered 1, declared 2, queued 3], [B keeps queues 2, bindings 1, created 2,"
    " bodies 3, acquired 3, redelivered 1, declared 2, queued 3, for C to_send 1],"
    " [C keeps queues 2, bindings 1, created 2, bodies 2, acquired 2, updating 1,"
    " heard 2, declared 2, queued 2]",
    "23: B to C: front B0 on q n A again",
    "23.5: [A keeps queues 2, bindings 1, held 3, created 2, bodies 3, acquired 3,"
    " redelivered 1, declared 2, queued 3], [B keeps queues 2, bindings 1, created 2,"
    " bodies 3, acquired 3, redelivered 1, declared 2, queued 3, for C to_send 1],"
    " [C keeps queues 2, bindings 1, created 2, bodies 3, acquired 3, redelivered 1,"
    " updating 1, heard 1, declared 2, queued 3]",
    "24: B to C: gone A0 on q",
    "25: B to C: done q, [C has all queues]",
    "26: A: leaves",
    "40: [B: dead is STOPPED by None for : v 3 completed],"
    " [B: q is STOPPED by None for : n o 3 completed],"
    " [C: dead is STOPPED by None for : v], [C: q is STOPPED by None for : n o]",
    "41: [B keeps queues 2, bindings 1, created 1, bodies 3, redelivered 3,"
    " declared 2, queued 3], [C keeps queues 2, bindings 1, created 1, bodies 3,"
    " redelivered 3, declared 2, queued 3]",
]


def test_of_two_queues_one_is_ready_before_the_other() -> None:
    """What is heard of the second one is kept in mind."""
    scene = told(
        *DEAD,
        *published("mno"),
        (7, publishes("B", "u", "dead")),
        (7.5, publishes("B", "v", "dead")),
        (10, subscribes("A", "a", "q", 2)),
        (10.2, subscribes("A", "b", "dead", 1)),
        (14.9, lags("B", 2)),
        (15, joins("C", "B")),
        (16, releases("A", "a", "n")),
        (16.2, accepts("A", "b", "u")),
        (17, accepts("A", "a", "m")),
        (20.5, Told.weigh),
        (21.5, Told.weigh),
        (22.5, Told.weigh),
        (23.5, Told.weigh),
        (26, crashes("A")),
        (40, Told.look),
        (41, Told.weigh),
        at_once=1,
    )
    assert scene.story == OF_TWO_QUEUES_ONE_IS_READY_BEFORE_THE_OTHER
