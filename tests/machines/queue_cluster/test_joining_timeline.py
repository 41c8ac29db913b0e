"""What a member tells another that joins, and when, to the millisecond."""

from __future__ import annotations

from tests.machines.queue_cluster.told import (
    Told,
    accepts,
    binds,
    crashes,
    declares,
    destroys,
    joins,
    lags,
    publishes,
    rejects,
    releases,
    subscribes,
    told,
)


def test_a_member_that_joins_learns_all() -> None:
    """From the back of each queue to its front."""
    scene = told(
        (0, declares("A", "q")),
        (0.5, declares("B", "r")),
        (2, binds("A", "x", "r")),
        (5, publishes("A", "m", "q")),
        (6, publishes("B", "n", "q", "r")),
        (7, publishes("B", "o", "r")),
        (9, subscribes("A", "a", "q")),
        (15, joins("C", "B")),
        (30, Told.look),
        (31, publishes("C", "p", "r")),
        (32, subscribes("C", "c", "r", 9)),
        (45, Told.look),
        (46, accepts("C", "c", "n")),
        (60, Told.look),
    )
    assert scene.story == [
        "1: A: declare q",
        "1.5: B: declare r",
        "2: [declare q is done], [bind r is refused]",
        "2.5: [declare r is done]",
        "6: A: create 0 m, A: enqueue A0 on q, A: routed 0",
        "7: B: create 0 n, B: enqueue B0 on q, B: enqueue B0 on r, B: routed 0,"
        " [publish m is done]",
        "8: B: create 1 o, B: enqueue B1 on r, B: routed 1, [publish n is done]",
        "9: [publish o is done]",
        "10: A: consume q/0",
        "12: A: acquire A0 on q, A: release for good q/0, A: cancel q/0",
        "13: [a gets m from q]",
        "15: C: joins by B",
        "17: B to C: stall 2 q/0 r/1; ; A1 B2; ; None: None:, B to C: front B0 on q n None,"
        " B to C: front A0 on q m A, B to C: done q, B to C: front B1 on r o None,"
        " B to C: front B0 on r n None, B to C: done r, [C has all queues]",
        "30: [A: q is STOPPED by None for : m n 3 completed 1 delivered],"
        " [A: r is STOPPED by None for : n o 3 completed 1 delivered],"
        " [B: q is STOPPED by None for : m n 3 completed],"
        " [B: r is STOPPED by None for : n o 3 completed],"
        " [C: q is STOPPED by None for : m n], [C: r is STOPPED by None for : n o]",
        "32: C: create 0 p, C: enqueue C0 on r, C: routed 0",
        "33: C: consume r/1, [publish p is done]",
        "35: C: acquire B0 on r, C: acquire B1 on r, C: acquire C0 on r",
        "36: [c gets n from r], [c gets o from r], [c gets p from r]",
        "45: [A: q is STOPPED by None for : m n 3 completed 1 delivered],"
        " [A: r is STOPPED by C for C: n o p 3 completed 1 delivered],"
        " [B: q is STOPPED by None for : m n 3 completed],"
        " [B: r is STOPPED by C for C: n o p 3 completed],"
        " [C: q is STOPPED by None for : m n 4 completed 3 delivered],"
        " [C: r is OWNED by C for C: n o p 4 completed 3 delivered]",
        "47: C: dequeue B0 on r",
        "48: [accept n is done]",
        "60: [A: q is STOPPED by None for : m n 3 completed 1 delivered],"
        " [A: r is STOPPED by C for C: o p 3 completed 1 delivered],"
        " [B: q is STOPPED by None for : m n 3 completed],"
        " [B: r is STOPPED by C for C: o p 3 completed],"
        " [C: q is STOPPED by None for : m n 5 completed 3 delivered],"
        " [C: r is OWNED by C for C: o p 5 completed 3 delivered]",
    ]


def test_what_happens_meanwhile_is_learned_too() -> None:
    scene = told(
        (0, declares("A", "q")),
        (5, publishes("A", "m", "q")),
        (6, publishes("B", "n", "q")),
        (7, publishes("B", "o", "q")),
        (9, subscribes("A", "a", "q", 2)),
        (14.6, publishes("A", "p", "q")),
        (14.9, accepts("A", "a", "m")),
        (15, joins("C", "B")),
        (15.3, releases("A", "a", "n")),
        (15.5, publishes("B", "r", "q")),
        (30, Told.look),
        (31, crashes("A")),
        (35, subscribes("C", "c", "q", 9)),
        (50, Told.look),
    )
    assert scene.story == [
        "1: A: declare q",
        "2: [declare q is done]",
        "6: A: create 0 m, A: enqueue A0 on q, A: routed 0",
        "7: B: create 0 n, B: enqueue B0 on q, B: routed 0, [publish m is done]",
        "8: B: create 1 o, B: enqueue B1 on q, B: routed 1, [publish n is done]",
        "9: [publish o is done]",
        "10: A: consume q/0",
        "12: A: acquire A0 on q, A: acquire B0 on q, A: release for good q/0, A: cancel q/0",
        "13: [a gets m from q], [a gets n from q]",
        "15: C: joins by B",
        "15.6: A: create 1 p, A: enqueue A1 on q, A: routed 1",
        "15.9: A: dequeue A0 on q, A: consume q/0",
        "16.3: A: requeue B0 on q",
        "16.5: B: create 2 r, B: enqueue B2 on q, B: routed 2",
        "16.6: [publish p is done]",
        "16.9: [accept m is done]",
        "17: B to C: stall 1 q/0; ; A1 B2; ; None:, B to C: front B1 on q o None,"
        " B to C: front B0 on q n A, B to C: front A0 on q m A, B to C: done q,"
        " [C has all queues]",
        "17.3: [release n is done]",
        "17.5: [publish r is done]",
        "17.9: A: acquire B1 on q, A: acquire A1 on q, A: release for good q/0, A: cancel q/0",
        "18.9: [a gets o from q], [a gets p from q]",
        "30: [A: q is STOPPED by None for : n o p r 9 completed 4 delivered],"
        " [B: q is STOPPED by None for : n o p r 3 completed],"
        " [C: q is STOPPED by None for : n o p r]",
        "31: A: leaves",
        "36: C: consume q/0",
        "38: C: acquire B0 on q, C: acquire B1 on q, C: acquire A1 on q, C: acquire B2 on q",
        "39: [c gets n from q, again], [c gets o from q, again], [c gets p from q, again],"
        " [c gets r from q]",
        "50: [B: q is STOPPED by C for C: n o p r 3 completed],"
        " [C: q is OWNED by C for C: n o p r 4 completed 4 delivered]",
    ]


def test_what_is_being_routed_is_learned() -> None:
    scene = told(
        (0, declares("A", "q")),
        (0.5, declares("A", "r")),
        (10, publishes("A", "m", "q", "r")),
        (10.999, joins("C", "B")),
        (25, Told.look),
        (26, subscribes("C", "c", "r")),
        (40, accepts("C", "c", "m")),
        (50, Told.look),
    )
    assert scene.story == [
        "1: A: declare q",
        "1.5: A: declare r",
        "2: [declare q is done]",
        "2.5: [declare r is done]",
        "10.999: C: joins by B",
        "11: A: create 0 m, A: enqueue A0 on q, A: enqueue A0 on r, A: routed 0",
        "12: [publish m is done]",
        "12.999: B to C: stall 2 q/0 r/1; ; ; ; None: None:, B to C: done q, B to C: done r,"
        " [C has all queues]",
        "25: [A: q is STOPPED by None for : m 3 completed],"
        " [A: r is STOPPED by None for : m 3 completed], [B: q is STOPPED by None for : m],"
        " [B: r is STOPPED by None for : m], [C: q is STOPPED by None for : m],"
        " [C: r is STOPPED by None for : m]",
        "27: C: consume r/1",
        "29: C: acquire A0 on r, C: release for good r/1, C: cancel r/1",
        "30: [c gets m from r]",
        "41: C: dequeue A0 on r, C: consume r/1",
        "42: [accept m is done]",
        "50: [A: q is STOPPED by None for : m 3 completed],"
        " [A: r is STOPPED by C for C: empty 3 completed],"
        " [B: q is STOPPED by None for : m], [B: r is STOPPED by C for C: empty],"
        " [C: q is STOPPED by None for : m 2 completed 1 delivered],"
        " [C: r is OWNED by C for C: empty 2 completed 1 delivered]",
    ]


def test_an_updater_that_is_behind() -> None:
    """It tells what it knows at the place of the join."""
    scene = told(
        (0, declares("A", "q")),
        (3, lags("B", 6)),
        (5, publishes("A", "m", "q")),
        (6, publishes("A", "n", "q")),
        (8, joins("C", "B")),
        (9, subscribes("A", "a", "q")),
        (12, accepts("A", "a", "m")),
        (40, Told.look),
    )
    assert scene.story == [
        "1: A: declare q",
        "2: [declare q is done]",
        "6: A: create 0 m, A: enqueue A0 on q, A: routed 0",
        "7: A: create 1 n, A: enqueue A1 on q, [publish m is done], A: routed 1",
        "8: [publish n is done], C: joins by B",
        "10: A: consume q/0",
        "12: A: acquire A0 on q, A: release for good q/0, A: cancel q/0, [a has not got m]",
        "13: [a gets m from q]",
        "16: B to C: stall 1 q/0; ; A2; ; None:, B to C: front A1 on q n None,"
        " B to C: front A0 on q m None, B to C: done q, [C has all queues]",
        "40: [A: q is STOPPED by None for : m n 4 completed 1 delivered],"
        " [B: q is STOPPED by None for : m n], [C: q is STOPPED by None for : m n]",
    ]


def test_an_updater_that_is_ahead() -> None:
    """What it has no more is passed over."""
    scene = told(
        (0, declares("A", "q")),
        (5, publishes("A", "m", "q")),
        (6, publishes("A", "n", "q")),
        (7, subscribes("A", "a", "q", 2)),
        (15, accepts("A", "a", "n")),
        (15.5, joins("C", "B")),
        (15.6, lags("C", 8)),
        (15.8, accepts("A", "a", "m")),
        (16.2, publishes("A", "o", "q")),
        (40, Told.look),
    )
    assert scene.story == [
        "1: A: declare q",
        "2: [declare q is done]",
        "6: A: create 0 m, A: enqueue A0 on q, A: routed 0",
        "7: A: create 1 n, A: enqueue A1 on q, A: routed 1, [publish m is done]",
        "8: A: consume q/0, [publish n is done]",
        "10: A: acquire A0 on q, A: acquire A1 on q, A: release for good q/0, A: cancel q/0",
        "11: [a gets m from q], [a gets n from q]",
        "15.5: C: joins by B",
        "16: A: dequeue A1 on q, A: consume q/0",
        "16.8: A: dequeue A0 on q",
        "17: [accept n is done]",
        "17.2: A: create 2 o, A: enqueue A2 on q, A: routed 2",
        "17.5: B to C: stall 1 q/0; ; A2; ; None:, B to C: front A1 on q n A,"
        " B to C: front A0 on q m A, B to C: done q, [C has all queues]",
        "17.8: [accept m is done]",
        "18.2: [publish o is done]",
        "19.2: A: acquire A2 on q",
        "20.2: [a gets o from q]",
        "40: [A: q is OWNED by A for A: o 9 completed 3 delivered],"
        " [B: q is STOPPED by A for A: o], [C: q is STOPPED by A for A: o]",
    ]


def test_a_rejected_message_meanwhile() -> None:
    scene = told(
        (0, declares("A", "q")),
        (0.5, declares("A", "dead")),
        (4, binds("A", "alternate:q", "dead")),
        (5, publishes("B", "m", "q")),
        (6, publishes("B", "n", "q")),
        (9, subscribes("A", "a", "q", 2)),
        (14.5, rejects("A", "a", "m")),
        (15, joins("C", "B")),
        (15.2, rejects("A", "a", "n")),
        (30, Told.look),
        (31, subscribes("C", "c", "dead", 9)),
        (45, Told.look),
    )
    assert scene.story == [
        "1: A: declare q",
        "1.5: A: declare dead",
        "2: [declare q is done]",
        "2.5: [declare dead is done]",
        "5: A: bind alternate:q dead",
        "6: [bind dead is done], B: create 0 m, B: enqueue B0 on q, B: routed 0",
        "7: B: create 1 n, B: enqueue B1 on q, B: routed 1, [publish m is done]",
        "8: [publish n is done]",
        "10: A: consume q/0",
        "12: A: acquire B0 on q, A: acquire B1 on q, A: release for good q/0, A: cancel q/0",
        "13: [a gets m from q], [a gets n from q]",
        "15: C: joins by B",
        "15.5: A: reject B0 on q as 0 to dead m, A: consume q/0",
        "16.2: A: reject B1 on q as 1 to dead n",
        "16.5: [reject m is done]",
        "17: B to C: stall 2 dead/1 q/0; alternate:q>dead; B2; ; None: None:,"
        " B to C: done dead, B to C: front B1 on q n A, B to C: front B0 on q m A,"
        " B to C: done q, [C has all queues]",
        "17.2: [reject n is done]",
        "30: [A: dead is STOPPED by None for : m n 7 completed 2 delivered],"
        " [A: q is OWNED by A for A: empty 7 completed 2 delivered],"
        " [B: dead is STOPPED by None for : m n 2 completed],"
        " [B: q is STOPPED by A for A: empty 2 completed],"
        " [C: dead is STOPPED by None for : m n], [C: q is STOPPED by A for A: empty]",
        "32: C: consume dead/1",
        "34: C: acquire A0 on dead, C: acquire A1 on dead",
        "35: [c gets m from dead], [c gets n from dead]",
        "45: [A: dead is STOPPED by C for C: m n 7 completed 2 delivered],"
        " [A: q is OWNED by A for A: empty 7 completed 2 delivered],"
        " [B: dead is STOPPED by C for C: m n 2 completed],"
        " [B: q is STOPPED by A for A: empty 2 completed],"
        " [C: dead is OWNED by C for C: m n 2 completed 2 delivered],"
        " [C: q is STOPPED by A for A: empty 2 completed 2 delivered]",
    ]


def test_a_queue_is_destroyed_meanwhile() -> None:
    scene = told(
        (0, declares("A", "q")),
        (0.5, declares("A", "r")),
        (5, publishes("B", "m", "q", "r")),
        (14.5, destroys("A", "q")),
        (15, joins("C", "B")),
        (15.5, destroys("A", "r")),
        (16, declares("A", "q")),
        (30, Told.look),
    )
    assert scene.story == [
        "1: A: declare q",
        "1.5: A: declare r",
        "2: [declare q is done]",
        "2.5: [declare r is done]",
        "6: B: create 0 m, B: enqueue B0 on q, B: enqueue B0 on r, B: routed 0",
        "7: [publish m is done]",
        "15: C: joins by B",
        "15.5: A: destroy q",
        "16: [declare q is refused]",
        "16.5: A: destroy r, [destroy q is done]",
        "17: B to C: stall 2 q/0 r/1; ; B1; ; None: None:, B to C: front B0 on q m None,"
        " B to C: done q, B to C: front B0 on r m None, B to C: done r, [C has all queues]",
        "17.5: [destroy r is done]",
    ]


def test_an_updater_is_lost() -> None:
    """Another one has to be asked."""
    scene = told(
        (0, declares("A", "q")),
        (5, publishes("A", "m", "q")),
        (15, joins("C", "B")),
        (16.5, crashes("B")),
        (30, Told.look),
    )
    assert scene.story == [
        "1: A: declare q",
        "2: [declare q is done]",
        "6: A: create 0 m, A: enqueue A0 on q, A: routed 0",
        "7: [publish m is done]",
        "15: C: joins by B",
        "16.5: B: leaves",
        "30: [A: q is STOPPED by None for : m 2 completed]",
    ]


def test_who_joins_is_lost() -> None:
    scene = told(
        (0, declares("A", "q")),
        (5, publishes("A", "m", "q")),
        (15, joins("C", "B")),
        (16.5, crashes("C")),
        (30, Told.look),
    )
    assert scene.story == [
        "1: A: declare q",
        "2: [declare q is done]",
        "6: A: create 0 m, A: enqueue A0 on q, A: routed 0",
        "7: [publish m is done]",
        "15: C: joins by B",
        "16.5: C: leaves",
        "30: [A: q is STOPPED by None for : m 2 completed], [B: q is STOPPED by None for : m]",
    ]


def test_a_holder_is_lost_while_another_joins() -> None:
    scene = told(
        (0, declares("A", "q")),
        (5, publishes("B", "m", "q")),
        (6, publishes("B", "n", "q")),
        (9, subscribes("A", "a", "q", 2)),
        (15, joins("C", "B")),
        (15.4, crashes("A")),
        (30, Told.look),
        (31, subscribes("C", "c", "q", 9)),
        (50, Told.look),
    )
    assert scene.story == [
        "1: A: declare q",
        "2: [declare q is done]",
        "6: B: create 0 m, B: enqueue B0 on q, B: routed 0",
        "7: B: create 1 n, B: enqueue B1 on q, B: routed 1, [publish m is done]",
        "8: [publish n is done]",
        "10: A: consume q/0",
        "12: A: acquire B0 on q, A: acquire B1 on q, A: release for good q/0, A: cancel q/0",
        "13: [a gets m from q], [a gets n from q]",
        "15: C: joins by B",
        "15.4: A: leaves",
        "17: B to C: stall 1 q/0; ; B2; ; None:, B to C: front B1 on q n A,"
        " B to C: front B0 on q m A, B to C: done q, [C has all queues]",
        "30: [B: q is STOPPED by None for : m n 2 completed], [C: q is STOPPED by None for : m n]",
        "32: C: consume q/0",
        "34: C: acquire B0 on q, C: acquire B1 on q",
        "35: [c gets m from q, again], [c gets n from q, again]",
        "50: [B: q is STOPPED by C for C: m n 2 completed],"
        " [C: q is OWNED by C for C: m n 2 completed 2 delivered]",
    ]
