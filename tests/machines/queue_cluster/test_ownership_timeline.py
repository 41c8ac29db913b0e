"""What members of a cluster say of the ownership of a queue, and when, to the millisecond."""

from __future__ import annotations

from tests.machines.queue_cluster.told import (
    Told,
    accepts,
    crashes,
    declares,
    destroys,
    joins,
    lags,
    publishes,
    subscribes,
    told,
    unsubscribes,
)


def test_one_consumer_keeps_the_queue() -> None:
    scene = told(
        (0, declares("A", "q")),
        (5, subscribes("A", "a", "q")),
        (10, publishes("B", "m", "q")),
        (20, accepts("A", "a", "m")),
        (30, Told.look),
        (40, unsubscribes("A", "a")),
        (50, Told.look),
    )
    assert scene.story == [
        "1: A: declare q",
        "2: [declare q is done]",
        "6: A: consume q/0",
        "11: B: create 0 m, B: enqueue B0 on q, B: routed 0",
        "12: [publish m is done]",
        "13: A: acquire B0 on q, A: release for good q/0, A: cancel q/0",
        "14: [a gets m from q]",
        "21: A: dequeue B0 on q, A: consume q/0",
        "22: [accept m is done]",
        "30: [A: q is OWNED by A for A: empty 3 completed 1 delivered],"
        " [B: q is STOPPED by A for A: empty 1 completed]",
        "41: A: release for good q/0, A: cancel q/0",
        "50: [A: q is STOPPED by None for : empty 3 completed 1 delivered],"
        " [B: q is STOPPED by None for : empty 1 completed]",
    ]


def test_two_share_a_queue_by_slices() -> None:
    scene = told(
        (0, declares("A", "q")),
        (5, subscribes("A", "a", "q", 9)),
        (8, subscribes("B", "b", "q", 9)),
        (20, publishes("A", "m", "q")),
        (70, publishes("A", "n", "q")),
        (90, Told.look),
        (130, publishes("B", "o", "q")),
        (140, Told.look),
    )
    assert scene.story == [
        "1: A: declare q",
        "2: [declare q is done]",
        "6: A: consume q/0",
        "9: B: consume q/0",
        "21: A: create 0 m, A: enqueue A0 on q, A: routed 0",
        "22: [publish m is done]",
        "23: A: acquire A0 on q",
        "24: [a gets m from q]",
        "61: A: release for now q/0",
        "71: A: create 1 n, A: enqueue A1 on q, A: routed 1",
        "72: [publish n is done]",
        "73: B: acquire A1 on q",
        "74: [b gets n from q]",
        "90: [A: q is STOPPED by B for AB: m n 4 completed 1 delivered],"
        " [B: q is OWNED by B for AB: m n 1 completed 1 delivered]",
        "113: B: release for now q/0",
        "131: B: create 0 o, B: enqueue B0 on q, B: routed 0",
        "132: [publish o is done]",
        "133: A: acquire B0 on q",
        "134: [a gets o from q]",
        "140: [A: q is OWNED by A for AB: m n o 5 completed 2 delivered],"
        " [B: q is STOPPED by A for AB: m n o 2 completed 1 delivered]",
    ]


def test_the_ring_goes_round() -> None:
    scene = told(
        (0, declares("A", "q")),
        (5, subscribes("A", "a", "q", 9)),
        (8, subscribes("B", "b", "q", 9)),
        (9, subscribes("C", "c", "q", 9)),
        (70, Told.look),
        (125, Told.look),
        (180, Told.look),
        (190, crashes("A")),
        (200, Told.look),
        (240, crashes("B")),
        (250, Told.look),
        members="ABC",
    )
    assert scene.story == [
        "1: A: declare q",
        "2: [declare q is done]",
        "6: A: consume q/0",
        "9: B: consume q/0",
        "10: C: consume q/0",
        "61: A: release for now q/0",
        "70: [A: q is STOPPED by B for ABC: empty 1 completed],"
        " [B: q is OWNED by B for ABC: empty], [C: q is STOPPED by B for ABC: empty]",
        "113: B: release for now q/0",
        "125: [A: q is STOPPED by C for ABC: empty 1 completed],"
        " [B: q is STOPPED by C for ABC: empty], [C: q is OWNED by C for ABC: empty]",
        "165: C: release for now q/0",
        "180: [A: q is OWNED by A for ABC: empty 1 completed],"
        " [B: q is STOPPED by A for ABC: empty], [C: q is STOPPED by A for ABC: empty]",
        "190: A: leaves",
        "200: [B: q is OWNED by B for BC: empty], [C: q is STOPPED by B for BC: empty]",
        "240: B: leaves",
        "250: [C: q is OWNED by C for C: empty]",
    ]


def test_who_has_no_credit_gives_the_queue_away() -> None:
    scene = told(
        (0, declares("A", "q")),
        (5, subscribes("A", "a", "q")),
        (8, subscribes("B", "b", "q")),
        (10, publishes("A", "m", "q")),
        (11, publishes("A", "n", "q")),
        (12, publishes("A", "o", "q")),
        (30, Told.look),
        (35, accepts("A", "a", "m")),
        (45, Told.look),
        (46, accepts("B", "b", "n")),
        (60, Told.look),
    )
    assert scene.story == [
        "1: A: declare q",
        "2: [declare q is done]",
        "6: A: consume q/0",
        "9: B: consume q/0",
        "11: A: create 0 m, A: enqueue A0 on q, A: routed 0",
        "12: A: create 1 n, A: enqueue A1 on q, [publish m is done], A: routed 1",
        "13: A: acquire A0 on q, A: release for good q/0, A: cancel q/0, A: create 2 o,"
        " A: enqueue A2 on q, [publish n is done], A: routed 2",
        "14: [a gets m from q], [publish o is done]",
        "15: B: acquire A1 on q, B: release for good q/0, B: cancel q/0",
        "16: [b gets n from q]",
        "30: [A: q is STOPPED by None for : m n o 5 completed 1 delivered],"
        " [B: q is STOPPED by None for : m n o 1 completed 1 delivered]",
        "36: A: dequeue A0 on q, A: consume q/0",
        "37: [accept m is done]",
        "38: A: acquire A2 on q, A: release for good q/0, A: cancel q/0",
        "39: [a gets o from q]",
        "45: [A: q is STOPPED by None for : n o 7 completed 2 delivered],"
        " [B: q is STOPPED by None for : n o 1 completed 1 delivered]",
        "47: B: dequeue A1 on q, B: consume q/0",
        "48: [accept n is done]",
        "60: [A: q is STOPPED by B for B: o 7 completed 2 delivered],"
        " [B: q is OWNED by B for B: o 2 completed 1 delivered]",
    ]


def test_one_of_several_consumers_leaves_without_a_word() -> None:
    scene = told(
        (0, declares("A", "q")),
        (5, subscribes("A", "a", "q")),
        (6, subscribes("A", "b", "q")),
        (10, unsubscribes("A", "a")),
        (15, publishes("B", "m", "q")),
        (20, subscribes("A", "c", "q")),
        (30, unsubscribes("A", "b")),
        (35, Told.look),
        (36, unsubscribes("A", "c")),
        (45, Told.look),
    )
    assert scene.story == [
        "1: A: declare q",
        "2: [declare q is done]",
        "6: A: consume q/0",
        "16: B: create 0 m, B: enqueue B0 on q, B: routed 0",
        "17: [publish m is done]",
        "18: A: acquire B0 on q, A: release for good q/0, A: cancel q/0",
        "19: [b gets m from q]",
        "21: A: consume q/0",
        "35: [A: q is OWNED by A for A: m 2 completed 1 delivered],"
        " [B: q is STOPPED by A for A: m 1 completed]",
        "37: A: release for good q/0, A: cancel q/0",
        "45: [A: q is STOPPED by None for : m 2 completed 1 delivered],"
        " [B: q is STOPPED by None for : m 1 completed]",
    ]


def test_what_is_granted_and_not_wanted_is_passed_on() -> None:
    """B hears late that it is the owner."""
    scene = told(
        (0, declares("A", "q")),
        (5, subscribes("A", "a", "q", 9)),
        (8, subscribes("B", "b", "q", 9)),
        (12, lags("B", 20)),
        (60, unsubscribes("B", "b")),
        (100, Told.look),
        (110, publishes("A", "m", "q")),
        (130, Told.look),
    )
    assert scene.story == [
        "1: A: declare q",
        "2: [declare q is done]",
        "6: A: consume q/0",
        "9: B: consume q/0",
        "61: B: cancel q/0, A: release for now q/0",
        "100: [A: q is OWNED by A for A: empty 1 completed], [B: q is STOPPED by A for A: empty]",
        "111: A: create 0 m, A: enqueue A0 on q, A: routed 0",
        "112: [publish m is done]",
        "113: A: acquire A0 on q",
        "114: [a gets m from q]",
        "130: [A: q is OWNED by A for A: m 3 completed 1 delivered],"
        " [B: q is STOPPED by A for A: empty]",
    ]


def test_who_unsubscribes_while_its_interest_is_on_the_way() -> None:
    scene = told(
        (0, declares("A", "q")),
        (5, subscribes("A", "a", "q", 9)),
        (8, subscribes("B", "b", "q", 9)),
        (8.5, unsubscribes("B", "b")),
        (20, subscribes("B", "c", "q", 9)),
        (20.2, unsubscribes("B", "c")),
        (20.4, subscribes("B", "d", "q", 9)),
        (80, Told.look),
    )
    assert scene.story == [
        "1: A: declare q",
        "2: [declare q is done]",
        "6: A: consume q/0",
        "9: B: consume q/0",
        "9.5: B: cancel q/0",
        "21: B: consume q/0",
        "21.2: B: cancel q/0",
        "21.4: B: consume q/0",
        "73.4: A: release for now q/0",
        "80: [A: q is STOPPED by B for AB: empty 1 completed], [B: q is OWNED by B for AB: empty]",
    ]


def test_a_member_that_owned_it_leaves() -> None:
    scene = told(
        (0, declares("A", "q")),
        (5, subscribes("A", "a", "q", 9)),
        (8, subscribes("B", "b", "q", 9)),
        (9, subscribes("C", "c", "q", 9)),
        (20, crashes("A")),
        (30, publishes("B", "m", "q")),
        (40, Told.look),
        (41, crashes("C")),
        (150, Told.look),
        members="ABC",
    )
    assert scene.story == [
        "1: A: declare q",
        "2: [declare q is done]",
        "6: A: consume q/0",
        "9: B: consume q/0",
        "10: C: consume q/0",
        "20: A: leaves",
        "31: B: create 0 m, B: enqueue B0 on q, B: routed 0",
        "32: [publish m is done]",
        "33: B: acquire B0 on q",
        "34: [b gets m from q]",
        "40: [B: q is OWNED by B for BC: m 2 completed 1 delivered],"
        " [C: q is STOPPED by B for BC: m]",
        "41: C: leaves",
        "150: [B: q is OWNED by B for B: m 2 completed 1 delivered]",
    ]


def test_a_member_that_joins_gets_its_turn() -> None:
    scene = told(
        (0, declares("A", "q")),
        (5, subscribes("A", "a", "q", 9)),
        (8, subscribes("B", "b", "q", 9)),
        (20, joins("C", "B")),
        (30, Told.look),
        (31, subscribes("C", "c", "q", 9)),
        (70, Told.look),
        (130, Told.look),
        (180, Told.look),
    )
    assert scene.story == [
        "1: A: declare q",
        "2: [declare q is done]",
        "6: A: consume q/0",
        "9: B: consume q/0",
        "20: C: joins by B",
        "22: B to C: stall 1 q/0; ; ; ; A:AB, B to C: done q, [C has all queues]",
        "30: [A: q is OWNED by A for AB: empty 1 completed],"
        " [B: q is STOPPED by A for AB: empty], [C: q is STOPPED by A for AB: empty]",
        "32: C: consume q/0",
        "61: A: release for now q/0",
        "70: [A: q is STOPPED by B for ABC: empty 1 completed],"
        " [B: q is OWNED by B for ABC: empty], [C: q is STOPPED by B for ABC: empty]",
        "113: B: release for now q/0",
        "130: [A: q is STOPPED by C for ABC: empty 1 completed],"
        " [B: q is STOPPED by C for ABC: empty], [C: q is OWNED by C for ABC: empty]",
        "165: C: release for now q/0",
        "180: [A: q is OWNED by A for ABC: empty 1 completed],"
        " [B: q is STOPPED by A for ABC: empty], [C: q is STOPPED by A for ABC: empty]",
    ]


def test_who_subscribes_before_it_has_the_queue_is_heard_afterwards() -> None:
    scene = told(
        (0, declares("A", "q")),
        (4, publishes("A", "m", "q")),
        (5, subscribes("A", "a", "q", 9)),
        (20, joins("C", "A")),
        (22.5, subscribes("C", "c", "q", 9)),
        (30, Told.look),
        (31, unsubscribes("A", "a")),
        (40, Told.look),
    )
    assert scene.story == [
        "1: A: declare q",
        "2: [declare q is done]",
        "5: A: create 0 m, A: enqueue A0 on q, A: routed 0",
        "6: A: consume q/0, [publish m is done]",
        "8: A: acquire A0 on q",
        "9: [a gets m from q]",
        "20: C: joins by A",
        "22: A to C: stall 1 q/0; ; A1; ; A:A, A to C: front A0 on q m A, A to C: done q,"
        " [C has all queues]",
        "23.5: C: consume q/0",
        "30: [A: q is OWNED by A for AC: m 3 completed 1 delivered],"
        " [B: q is STOPPED by A for AC: m], [C: q is STOPPED by A for AC: m]",
        "32: A: release for good q/0, A: cancel q/0",
        "40: [A: q is STOPPED by C for C: m 3 completed 1 delivered],"
        " [B: q is STOPPED by C for C: m], [C: q is OWNED by C for C: m]",
    ]


def test_a_queue_that_is_destroyed_is_nobodys() -> None:
    scene = told(
        (0, declares("A", "q")),
        (5, subscribes("A", "a", "q", 9)),
        (8, subscribes("B", "b", "q", 9)),
        (10, destroys("B", "q")),
        (10.5, publishes("A", "l", "q")),
        (20, declares("A", "q")),
        (30, Told.look),
        (31, subscribes("B", "c", "q", 9)),
        (32, publishes("A", "m", "q")),
        (90, Told.look),
    )
    assert scene.story == [
        "1: A: declare q",
        "2: [declare q is done]",
        "6: A: consume q/0",
        "9: B: consume q/0",
        "11: B: destroy q",
        "11.5: A: create 0 l, A: enqueue A0 on q, A: routed 0",
        "12: [a has ended], [b has ended], [destroy q is done]",
        "12.5: [publish l is done]",
        "21: A: declare q",
        "22: [declare q is done]",
        "30: [A: q is STOPPED by None for : empty 3 completed],"
        " [B: q is STOPPED by None for : empty 1 completed]",
        "32: B: consume q/1",
        "33: A: create 1 m, A: enqueue A1 on q, A: routed 1",
        "34: [publish m is done]",
        "35: B: acquire A1 on q",
        "36: [c gets m from q]",
        "90: [A: q is STOPPED by B for B: m 4 completed],"
        " [B: q is OWNED by B for B: m 2 completed 1 delivered]",
    ]


def test_a_release_that_comes_after_the_destruction_is_about_another_queue() -> None:
    scene = told(
        (0, declares("A", "q")),
        (5, subscribes("A", "a", "q")),
        (8, subscribes("B", "b", "q")),
        (10, publishes("B", "m", "q")),
        (10.5, destroys("B", "q")),
        (11, declares("B", "q")),
        (11.2, destroys("B", "q")),
        (11.4, declares("B", "q")),
        (30, Told.look),
    )
    assert scene.story == [
        "1: A: declare q",
        "2: [declare q is done]",
        "6: A: consume q/0",
        "9: B: consume q/0",
        "11: B: create 0 m, B: enqueue B0 on q, B: routed 0, [declare q is refused]",
        "11.4: [declare q is refused]",
        "11.5: B: destroy q",
        "12: [publish m is done]",
        "12.2: B: destroy q",
        "12.5: [b has ended], [destroy q is done], [a has ended]",
        "13: A: acquire B0 on q, A: release for good q/0, A: cancel q/0",
        "13.2: [destroy q is done]",
        "15: A: requeue B0 on q",
    ]
