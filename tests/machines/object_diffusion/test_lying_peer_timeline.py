"""When a node gives up a peer that lies; as `test_one_peer_timeline.py`."""

from __future__ import annotations

from dataclasses import replace

from tests.machines.object_diffusion.told import (
    CONFIG,
    Told,
    announced,
    bodies,
    hangs_up,
    hears,
    invalid,
    slow,
    told,
)


def test_an_id_that_is_known_is_not_announced_again() -> None:
    """Neither where it waits to be requested,"""
    scene = told(
        (15, hears("A", announced("abc"))),
        (25, hears("A", bodies("ab"), announced("c"))),
        (45, Told.look),
    )
    assert scene.story == [
        "0: [A begins]",
        "10: wakes A#1, A ids ack 0 count 4 blocks",
        "15: <A announces a b c",
        "20: wakes A#1, A objects a b, A ids ack 0 count 3",
        "25: <A objects a b, <A announces c",
        "30: wakes A#1, A#1 inserts a, [A ends]",
        "31: [added a]",
        "45: [1 added, 1 connected, 1 disconnected, 1 refused, 0 wait]",
    ]


def test_nor_where_its_object_is_on_its_way_to_the_pool() -> None:
    scene = told(
        (15, hears("A", announced("ab"))),
        (25, hears("A", bodies("ab"), announced(""))),
        (75, hears("A", announced("a"))),
        (90, Told.look),
        prepare=slow(100),
    )
    assert scene.story == [
        "0: [A begins]",
        "10: wakes A#1, A ids ack 0 count 4 blocks",
        "15: <A announces a b",
        "20: wakes A#1, A objects a b, A ids ack 0 count 4",
        "25: <A objects a b, <A announces nothing",
        "30: wakes A#1, A#1 inserts a",
        "40: wakes A#1, A ids ack 2 count 4 blocks",
        "75: <A announces a, [A ends]",
        "90: [1 connected, 1 disconnected, 1 refused, 0 wait]",
    ]


def test_nor_where_its_object_is_requested() -> None:
    """Though its ID is acked, since another peer has brought it."""
    scene = told(
        (15, hears("A", announced("b"))),
        (16, hears("B", announced("a"))),
        (32, hears("A", bodies("b"), announced("ac"))),
        (45, hears("B", bodies("a"))),
        (75, hears("A", announced("a"))),
        (90, Told.look),
        config=replace(CONFIG, redundancy=2),
        peers="AB",
    )
    assert scene.story == [
        "0: [A begins], [B begins]",
        "10: wakes A#1 B#2, A ids ack 0 count 4 blocks, B ids ack 0 count 4 blocks",
        "15: <A announces b",
        "16: <B announces a",
        "20: wakes A#1 B#2, A objects b, B objects a, A ids ack 0 count 4, B ids ack 0 count 4",
        "30: wakes A#1 B#2, A ids ack 0 count 1, B ids ack 0 count 1",
        "32: <A objects b, <A announces a c",
        "40: wakes A#1 B#2, A#1 inserts b",
        "41: [added b]",
        "45: <B objects a",
        "50: wakes A#1 B#2, B#2 inserts a, A objects a c, A ids ack 1 count 3",
        "51: [added a]",
        "60: wakes A#1 B#2, A ids ack 1 count 1",
        "70: wakes A#1 B#2",
        "75: <A announces a",
        "80: wakes A#1 B#2, [A ends]",
        "90: [2 added, 2 connected, 1 disconnected, 1 refused, 0 wait], wakes B#2",
    ]


def test_an_invalid_object_ends_the_connection() -> None:
    """The other one that came with it is forgotten."""
    scene = told(
        (15, hears("A", announced("ab"))),
        (35, hears("A", bodies("ab"))),
        (60, Told.look),
        (700, Told.look),
        prepare=invalid("a"),
    )
    assert scene.story == [
        "0: [A begins]",
        "10: wakes A#1, A ids ack 0 count 4 blocks",
        "15: <A announces a b",
        "20: wakes A#1, A objects a b, A ids ack 0 count 4",
        "30: wakes A#1",
        "35: <A objects a b",
        "40: wakes A#1, A#1 inserts a",
        "41: [invalid a], [A ends]",
        "60: [1 connected, 1 disconnected, 1 invalid, 0 wait]",
        "541: [A begins], wakes A#2, A ids ack 0 count 4 blocks",
        "700: [2 connected, 1 disconnected, 1 invalid, 0 wait]",
    ]


def test_an_invalid_object_ends_the_connection_as_a_round_begins() -> None:
    scene = told(
        (15, hears("A", announced("ab"))),
        (35, hears("A", bodies("ab"))),
        (60, Told.look),
        prepare=invalid("a", 10),
    )
    assert scene.story == [
        "0: [A begins]",
        "10: wakes A#1, A ids ack 0 count 4 blocks",
        "15: <A announces a b",
        "20: wakes A#1, A objects a b, A ids ack 0 count 4",
        "30: wakes A#1",
        "35: <A objects a b",
        "40: wakes A#1, A#1 inserts a",
        "50: wakes A#1, [invalid a], [A ends]",
        "60: [1 connected, 1 disconnected, 1 invalid, 0 wait]",
    ]


def test_who_has_hung_up_is_not_rejected_once_more() -> None:
    scene = told(
        (15, hears("A", announced("ab"))),
        (35, hears("A", bodies("ab"))),
        (50, hangs_up("A")),
        (170, Told.look),
        prepare=invalid("a", 100),
    )
    assert scene.story == [
        "0: [A begins]",
        "10: wakes A#1, A ids ack 0 count 4 blocks",
        "15: <A announces a b",
        "20: wakes A#1, A objects a b, A ids ack 0 count 4",
        "30: wakes A#1",
        "35: <A objects a b",
        "40: wakes A#1, A#1 inserts a",
        "50: wakes A#1, [A ends]",
        "140: [invalid a]",
        "170: [1 connected, 1 disconnected, 1 invalid, 0 wait]",
    ]


def test_a_peer_that_announces_too_much_is_given_up() -> None:
    scene = told((15, hears("A", announced("abcde"))), (25, Told.look))
    assert scene.story == [
        "0: [A begins]",
        "10: wakes A#1, A ids ack 0 count 4 blocks",
        "15: <A announces a b c d e, [A ends]",
        "25: [1 connected, 1 disconnected, 1 refused, 0 wait]",
    ]


def test_a_peer_that_announces_twice_is_given_up() -> None:
    scene = told((15, hears("A", announced("aa"))), (25, Told.look))
    assert scene.story == [
        "0: [A begins]",
        "10: wakes A#1, A ids ack 0 count 4 blocks",
        "15: <A announces a a, [A ends]",
        "25: [1 connected, 1 disconnected, 1 refused, 0 wait]",
    ]


def test_a_peer_that_announces_nothing_where_it_may_wait_is_given_up() -> None:
    scene = told((15, hears("A", announced(""))), (25, Told.look))
    assert scene.story == [
        "0: [A begins]",
        "10: wakes A#1, A ids ack 0 count 4 blocks",
        "15: <A announces nothing, [A ends]",
        "25: [1 connected, 1 disconnected, 1 refused, 0 wait]",
    ]


def test_a_peer_that_sends_objects_for_ids_is_given_up() -> None:
    scene = told((15, hears("A", bodies("a"))), (25, Told.look))
    assert scene.story == [
        "0: [A begins]",
        "10: wakes A#1, A ids ack 0 count 4 blocks",
        "15: <A objects a, [A ends]",
        "25: [1 connected, 1 disconnected, 1 refused, 0 wait]",
    ]


def test_a_peer_that_says_two_things_at_once_is_given_up() -> None:
    scene = told((15, hears("A", announced("a"), announced("b"))), (25, Told.look))
    assert scene.story == [
        "0: [A begins]",
        "10: wakes A#1, A ids ack 0 count 4 blocks",
        "15: <A announces a, <A announces b, [A ends]",
        "25: [1 connected, 1 disconnected, 1 flood, 0 wait]",
    ]


def test_a_peer_that_sends_too_little_is_given_up() -> None:
    scene = told((15, hears("A", announced("ab"))), (25, hears("A", bodies("a"))), (45, Told.look))
    assert scene.story == [
        "0: [A begins]",
        "10: wakes A#1, A ids ack 0 count 4 blocks",
        "15: <A announces a b",
        "20: wakes A#1, A objects a b, A ids ack 0 count 4",
        "25: <A objects a",
        "30: wakes A#1, [A ends]",
        "45: [1 connected, 1 disconnected, 1 refused, 0 wait]",
    ]


def test_a_peer_that_sends_too_much_is_given_up() -> None:
    scene = told(
        (15, hears("A", announced("ab"))), (25, hears("A", bodies("abc"))), (45, Told.look)
    )
    assert scene.story == [
        "0: [A begins]",
        "10: wakes A#1, A ids ack 0 count 4 blocks",
        "15: <A announces a b",
        "20: wakes A#1, A objects a b, A ids ack 0 count 4",
        "25: <A objects a b c",
        "30: wakes A#1, [A ends]",
        "45: [1 connected, 1 disconnected, 1 refused, 0 wait]",
    ]


def test_a_peer_that_announces_ids_for_objects_is_given_up() -> None:
    scene = told(
        (15, hears("A", announced("ab"))), (25, hears("A", announced("c"))), (45, Told.look)
    )
    assert scene.story == [
        "0: [A begins]",
        "10: wakes A#1, A ids ack 0 count 4 blocks",
        "15: <A announces a b",
        "20: wakes A#1, A objects a b, A ids ack 0 count 4",
        "25: <A announces c",
        "30: wakes A#1, [A ends]",
        "45: [1 connected, 1 disconnected, 1 refused, 0 wait]",
    ]


def test_a_peer_that_announces_again_is_given_up() -> None:
    scene = told(
        (15, hears("A", announced("ab"))),
        (25, hears("A", bodies("ab"), announced("a"))),
        (45, Told.look),
    )
    assert scene.story == [
        "0: [A begins]",
        "10: wakes A#1, A ids ack 0 count 4 blocks",
        "15: <A announces a b",
        "20: wakes A#1, A objects a b, A ids ack 0 count 4",
        "25: <A objects a b, <A announces a",
        "30: wakes A#1, A#1 inserts a, [A ends]",
        "31: [added a]",
        "45: [1 added, 1 connected, 1 disconnected, 1 refused, 0 wait]",
    ]


def test_a_peer_that_announces_more_than_it_may_is_given_up() -> None:
    scene = told(
        (15, hears("A", announced("ab"))),
        (25, hears("A", bodies("ab"), announced("cdefg"))),
        (45, Told.look),
    )
    assert scene.story == [
        "0: [A begins]",
        "10: wakes A#1, A ids ack 0 count 4 blocks",
        "15: <A announces a b",
        "20: wakes A#1, A objects a b, A ids ack 0 count 4",
        "25: <A objects a b, <A announces c d e f g",
        "30: wakes A#1, A#1 inserts a, [A ends]",
        "31: [added a]",
        "45: [1 added, 1 connected, 1 disconnected, 1 refused, 0 wait]",
    ]
