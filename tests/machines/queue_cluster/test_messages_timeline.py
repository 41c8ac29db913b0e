"""What members of a cluster say of messages, and who gets which, and when, to the millisecond."""

from __future__ import annotations

from tests.machines.queue_cluster.told import (
    Told,
    accepts,
    binds,
    crashes,
    declares,
    destroys,
    publishes,
    rejects,
    releases,
    subscribes,
    told,
)


def test_a_message_comes_until_it_is_accepted() -> None:
    scene = told(
        (0, declares("A", "q")),
        (5, publishes("B", "m", "q")),
        (6, publishes("A", "n", "q")),
        (15, subscribes("A", "a", "q", 2)),
        (25, releases("A", "a", "m")),
        (35, accepts("A", "a", "m")),
        (36, accepts("A", "a", "m")),
        (37, accepts("A", "a", "n")),
        (45, Told.look),
    )
    assert scene.story == [
        "1: A: declare q",
        "2: [declare q is done]",
        "6: B: create 0 m, B: enqueue B0 on q, B: routed 0",
        "7: A: create 0 n, A: enqueue A0 on q, A: routed 0, [publish m is done]",
        "8: [publish n is done]",
        "16: A: consume q/0",
        "18: A: acquire B0 on q, A: acquire A0 on q, A: release for good q/0, A: cancel q/0",
        "19: [a gets m from q], [a gets n from q]",
        "26: A: requeue B0 on q, A: consume q/0",
        "27: [release m is done]",
        "28: A: acquire B0 on q, A: release for good q/0, A: cancel q/0",
        "29: [a gets m from q, again]",
        "36: A: dequeue B0 on q, A: consume q/0, [accept m is refused]",
        "37: [accept m is done]",
        "38: A: dequeue A0 on q",
        "39: [accept n is done]",
        "45: [A: q is OWNED by A for A: empty 8 completed 3 delivered],"
        " [B: q is STOPPED by A for A: empty 1 completed]",
    ]


def test_what_is_released_is_first_again() -> None:
    scene = told(
        (0, declares("A", "q")),
        (5, publishes("B", "m", "q")),
        (6, publishes("A", "n", "q")),
        (7, publishes("A", "o", "q")),
        (15, subscribes("A", "a", "q")),
        (20, subscribes("B", "b", "q")),
        (40, releases("A", "a", "m")),
        (60, Told.look),
        (65, accepts("B", "b", "n")),
        (80, Told.look),
    )
    assert scene.story == [
        "1: A: declare q",
        "2: [declare q is done]",
        "6: B: create 0 m, B: enqueue B0 on q, B: routed 0",
        "7: A: create 0 n, A: enqueue A0 on q, A: routed 0, [publish m is done]",
        "8: A: create 1 o, A: enqueue A1 on q, A: routed 1, [publish n is done]",
        "9: [publish o is done]",
        "16: A: consume q/0",
        "18: A: acquire B0 on q, A: release for good q/0, A: cancel q/0",
        "19: [a gets m from q]",
        "21: B: consume q/0",
        "23: B: acquire A0 on q, B: release for good q/0, B: cancel q/0",
        "24: [b gets n from q]",
        "41: A: requeue B0 on q, A: consume q/0",
        "42: [release m is done]",
        "43: A: acquire B0 on q, A: release for good q/0, A: cancel q/0",
        "44: [a gets m from q, again]",
        "60: [A: q is STOPPED by None for : m n o 6 completed 2 delivered],"
        " [B: q is STOPPED by None for : m n o 2 completed 1 delivered]",
        "66: B: dequeue A0 on q, B: consume q/0",
        "67: [accept n is done]",
        "68: B: acquire A1 on q, B: release for good q/0, B: cancel q/0",
        "69: [b gets o from q]",
        "80: [A: q is STOPPED by None for : m o 6 completed 2 delivered],"
        " [B: q is STOPPED by None for : m o 4 completed 2 delivered]",
    ]


def test_a_message_on_two_queues_has_one_body() -> None:
    scene = told(
        (0, declares("A", "q")),
        (0.5, declares("A", "r")),
        (5, publishes("B", "m", "q", "r")),
        (15, subscribes("A", "a", "q")),
        (20, accepts("A", "a", "m")),
        (30, Told.look),
        (35, subscribes("A", "b", "r")),
        (45, accepts("A", "b", "m")),
        (50, Told.look),
    )
    assert scene.story == [
        "1: A: declare q",
        "1.5: A: declare r",
        "2: [declare q is done]",
        "2.5: [declare r is done]",
        "6: B: create 0 m, B: enqueue B0 on q, B: enqueue B0 on r, B: routed 0",
        "7: [publish m is done]",
        "16: A: consume q/0",
        "18: A: acquire B0 on q, A: release for good q/0, A: cancel q/0",
        "19: [a gets m from q]",
        "21: A: dequeue B0 on q, A: consume q/0",
        "22: [accept m is done]",
        "30: [A: q is OWNED by A for A: empty 4 completed 1 delivered],"
        " [A: r is STOPPED by None for : m 4 completed 1 delivered],"
        " [B: q is STOPPED by A for A: empty 1 completed],"
        " [B: r is STOPPED by None for : m 1 completed]",
        "36: A: consume r/1",
        "38: A: acquire B0 on r, A: release for good r/1, A: cancel r/1",
        "39: [b gets m from r]",
        "46: A: dequeue B0 on r, A: consume r/1",
        "47: [accept m is done]",
        "50: [A: q is OWNED by A for A: empty 6 completed 2 delivered],"
        " [A: r is OWNED by A for A: empty 6 completed 2 delivered],"
        " [B: q is STOPPED by A for A: empty 1 completed],"
        " [B: r is STOPPED by A for A: empty 1 completed]",
    ]


def test_a_rejected_message_goes_to_the_alternate() -> None:
    scene = told(
        (0, declares("A", "q")),
        (0.5, declares("A", "dead")),
        (4, binds("A", "alternate:q", "dead")),
        (5, publishes("B", "m", "q")),
        (6, publishes("B", "n", "q")),
        (15, subscribes("A", "a", "q")),
        (25, rejects("A", "a", "m")),
        (35, Told.look),
        (36, destroys("B", "dead")),
        (45, rejects("A", "a", "n")),
        (55, Told.look),
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
        "16: A: consume q/0",
        "18: A: acquire B0 on q, A: release for good q/0, A: cancel q/0",
        "19: [a gets m from q]",
        "26: A: reject B0 on q as 0 to dead m, A: consume q/0",
        "27: [reject m is done]",
        "28: A: acquire B1 on q, A: release for good q/0, A: cancel q/0",
        "29: [a gets n from q]",
        "35: [A: dead is STOPPED by None for : m 6 completed 2 delivered],"
        " [A: q is STOPPED by None for : n 6 completed 2 delivered],"
        " [B: dead is STOPPED by None for : m 2 completed],"
        " [B: q is STOPPED by None for : n 2 completed]",
        "37: B: destroy dead",
        "38: [destroy dead is done]",
        "46: A: reject B1 on q as 1 to None n, A: consume q/0",
        "47: [reject n is done]",
        "55: [A: q is OWNED by A for A: empty 7 completed 2 delivered],"
        " [B: q is STOPPED by A for A: empty 3 completed]",
    ]


def test_a_rejected_message_is_on_no_other_queue() -> None:
    scene = told(
        (0, declares("A", "q")),
        (0.5, declares("A", "dead")),
        (4, binds("A", "alternate:q", "dead")),
        (5, publishes("B", "m", "q")),
        (15, subscribes("A", "a", "q")),
        (20, subscribes("B", "d", "dead")),
        (25, rejects("A", "a", "m")),
        (40, accepts("B", "d", "m")),
        (45, publishes("A", "n", "dead")),
        (60, Told.look),
    )
    assert scene.story == [
        "1: A: declare q",
        "1.5: A: declare dead",
        "2: [declare q is done]",
        "2.5: [declare dead is done]",
        "5: A: bind alternate:q dead",
        "6: [bind dead is done], B: create 0 m, B: enqueue B0 on q, B: routed 0",
        "7: [publish m is done]",
        "16: A: consume q/0",
        "18: A: acquire B0 on q, A: release for good q/0, A: cancel q/0",
        "19: [a gets m from q]",
        "21: B: consume dead/1",
        "26: A: reject B0 on q as 0 to dead m, A: consume q/0",
        "27: [reject m is done]",
        "28: B: acquire A0 on dead, B: release for good dead/1, B: cancel dead/1",
        "29: [d gets m from dead]",
        "41: B: dequeue A0 on dead, B: consume dead/1",
        "42: [accept m is done]",
        "46: A: create 1 n, A: enqueue A1 on dead, A: routed 1",
        "47: [publish n is done]",
        "48: B: acquire A1 on dead, B: release for good dead/1, B: cancel dead/1",
        "49: [d gets n from dead]",
        "60: [A: dead is STOPPED by None for : n 6 completed 1 delivered],"
        " [A: q is OWNED by A for A: empty 6 completed 1 delivered],"
        " [B: dead is STOPPED by None for : n 4 completed 2 delivered],"
        " [B: q is STOPPED by A for A: empty 4 completed 2 delivered]",
    ]


def test_what_is_refused_changes_nothing() -> None:
    scene = told(
        (0, declares("A", "q")),
        (3, declares("B", "q")),
        (4, binds("B", "x", "nothing")),
        (5, destroys("A", "nothing")),
        (6, publishes("A", "m", "nothing")),
        (7, publishes("A", "n", "q", "nothing")),
        (8.5, publishes("A", "o", "q")),
        (15, subscribes("A", "a", "q")),
        (25, accepts("A", "a", "o")),
        (30, Told.look),
    )
    assert scene.story == [
        "1: A: declare q",
        "2: [declare q is done]",
        "3: [declare q is refused]",
        "4: [bind nothing is refused]",
        "5: [destroy nothing is refused]",
        "6: [publish m is refused]",
        "7: A: create 0 m, A: routed 0, [publish n is refused]",
        "8: A: create 1 n, A: routed 1",
        "9.5: A: create 2 o, A: enqueue A2 on q, A: routed 2",
        "10.5: [publish o is done]",
        "16: A: consume q/0",
        "18: A: acquire A2 on q, A: release for good q/0, A: cancel q/0",
        "19: [a gets o from q]",
        "26: A: dequeue A2 on q, A: consume q/0",
        "27: [accept o is done]",
        "30: [A: q is OWNED by A for A: empty 4 completed 1 delivered],"
        " [B: q is STOPPED by A for A: empty]",
    ]


def test_what_a_lost_member_had_comes_again() -> None:
    scene = told(
        (0, declares("A", "q")),
        (5, publishes("A", "m", "q")),
        (6, publishes("A", "n", "q")),
        (7, publishes("B", "o", "q")),
        (15, subscribes("B", "b", "q", 2)),
        (25, crashes("B")),
        (30, Told.look),
        (35, subscribes("A", "a", "q", 9)),
        (50, Told.look),
    )
    assert scene.story == [
        "1: A: declare q",
        "2: [declare q is done]",
        "6: A: create 0 m, A: enqueue A0 on q, A: routed 0",
        "7: A: create 1 n, A: enqueue A1 on q, A: routed 1, [publish m is done]",
        "8: B: create 0 o, B: enqueue B0 on q, B: routed 0, [publish n is done]",
        "9: [publish o is done]",
        "16: B: consume q/0",
        "18: B: acquire A0 on q, B: acquire A1 on q, B: release for good q/0, B: cancel q/0",
        "19: [b gets m from q], [b gets n from q]",
        "25: B: leaves",
        "30: [A: q is STOPPED by None for : m n o 3 completed]",
        "36: A: consume q/0",
        "38: A: acquire A0 on q, A: acquire A1 on q, A: acquire B0 on q",
        "39: [a gets m from q, again], [a gets n from q, again], [a gets o from q]",
        "50: [A: q is OWNED by A for A: m n o 6 completed 3 delivered]",
    ]


def test_what_a_lost_member_was_about_to_route_is_not_lost() -> None:
    scene = told(
        (0, declares("A", "q")),
        (5, publishes("B", "m", "q")),
        (6.05, crashes("B")),
        (15, subscribes("A", "a", "q", 9)),
        (30, accepts("A", "a", "m")),
        (50, Told.look),
    )
    assert scene.story == [
        "1: A: declare q",
        "2: [declare q is done]",
        "6: B: create 0 m, B: enqueue B0 on q, B: routed 0",
        "6.05: B: leaves",
        "16: A: consume q/0",
        "18: A: acquire B0 on q",
        "19: [a gets m from q]",
        "31: A: dequeue B0 on q",
        "32: [accept m is done]",
        "50: [A: q is OWNED by A for A: empty 3 completed 1 delivered]",
    ]


def test_an_acquire_that_comes_too_late_gives_the_message_back() -> None:
    """The queue was destroyed, and declared again."""
    scene = told(
        (0, declares("A", "q")),
        (5, publishes("B", "m", "q")),
        (9.6, destroys("B", "q")),
        (10, subscribes("A", "a", "q")),
        (20, Told.look),
        (25, declares("B", "q")),
        (35, Told.look),
    )
    assert scene.story == [
        "1: A: declare q",
        "2: [declare q is done]",
        "6: B: create 0 m, B: enqueue B0 on q, B: routed 0",
        "7: [publish m is done]",
        "10.6: B: destroy q",
        "11: A: consume q/0",
        "11.6: [a has ended], [destroy q is done]",
        "26: B: declare q",
        "27: [declare q is done]",
        "35: [A: q is STOPPED by None for : empty 1 completed],"
        " [B: q is STOPPED by None for : empty 3 completed]",
    ]


def test_two_queues_declared_at_once_are_one() -> None:
    scene = told(
        (0, declares("A", "q")),
        (0.3, declares("B", "q")),
        (5, Told.look),
        (6, destroys("A", "q")),
        (6.3, destroys("B", "q")),
        (12, Told.look),
        (13, declares("B", "q")),
        (14, binds("A", "x", "q")),
        (20, publishes("A", "m", "q")),
        (30, Told.look),
    )
    assert scene.story == [
        "1: A: declare q",
        "1.3: B: declare q",
        "2: [declare q is done]",
        "2.3: [declare q is done]",
        "5: [A: q is STOPPED by None for : empty 1 completed],"
        " [B: q is STOPPED by None for : empty 1 completed]",
        "7: A: destroy q",
        "7.3: B: destroy q",
        "8: [destroy q is done]",
        "8.3: [destroy q is done]",
        "14: B: declare q, [bind q is refused]",
        "15: [declare q is done]",
        "21: A: create 0 m, A: enqueue A0 on q, A: routed 0",
        "22: [publish m is done]",
        "30: [A: q is STOPPED by None for : m 3 completed],"
        " [B: q is STOPPED by None for : m 3 completed]",
    ]
