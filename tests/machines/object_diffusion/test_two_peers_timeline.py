"""What a node says to two peers, and when; as `test_one_peer_timeline.py`."""

from __future__ import annotations

from dataclasses import replace

from tests.machines.object_diffusion.told import (
    CONFIG,
    Told,
    announced,
    bodies,
    hangs_up,
    hears,
    slow,
    told,
)

TWO = replace(CONFIG, redundancy=2)
ONE_AT_A_TIME = replace(CONFIG, inflight_total=1)


def test_an_object_is_requested_of_one_peer() -> None:
    """And of the other one, should the first one fail."""
    scene = told(
        (15, hears("A", announced("ab"))),
        (16, hears("B", announced("abc"))),
        (35, hears("B", bodies("c"))),
        (40, hangs_up("A")),
        (60, hears("B", announced(""))),
        (65, hears("B", bodies("ab"))),
        (120, Told.look),
        peers="AB",
    )
    assert scene.story == [
        "0: [A begins], [B begins]",
        "10: wakes A#1 B#2, A ids ack 0 count 4 blocks, B ids ack 0 count 4 blocks",
        "15: <A announces a b",
        "16: <B announces a b c",
        "20: wakes A#1 B#2, A objects a b, B objects c, A ids ack 0 count 4, B ids ack 0 count 3",
        "30: wakes A#1 B#2",
        "35: <B objects c",
        "40: wakes A#1 B#2, [A ends], B#2 inserts c",
        "41: [added c]",
        "50: wakes B#2, B objects a b",
        "60: <B announces nothing, wakes B#2",
        "65: <B objects a b",
        "70: wakes B#2, B#2 inserts a",
        "71: [added a], B#2 inserts b",
        "72: [added b]",
        "80: wakes B#2, B ids ack 3 count 4 blocks",
        "120: [3 added, 2 connected, 1 disconnected, 0 wait]",
    ]


def test_two_copies_are_requested_where_two_are_wanted() -> None:
    scene = told(
        (15, hears("A", announced("ab"))),
        (16, hears("B", announced("abc"))),
        (35, hears("B", bodies("a"))),
        (40, hears("A", bodies("ab"))),
        (60, hears("B", announced(""))),
        (65, hears("A", announced(""))),
        (120, Told.look),
        config=TWO,
        peers="AB",
    )
    assert scene.story == [
        "0: [A begins], [B begins]",
        "10: wakes A#1 B#2, A ids ack 0 count 4 blocks, B ids ack 0 count 4 blocks",
        "15: <A announces a b",
        "16: <B announces a b c",
        "20: wakes A#1 B#2, A objects a b, B objects a, A ids ack 0 count 4, B ids ack 0 count 3",
        "30: wakes A#1 B#2",
        "35: <B objects a",
        "40: wakes A#1 B#2, <A objects a b, B#2 inserts a",
        "41: [added a]",
        "50: wakes A#1 B#2, A#1 inserts a, A ids ack 1 count 1, B objects c, B ids ack 1 count 1",
        "51: [known a], A#1 inserts b",
        "52: [added b]",
        "60: <B announces nothing, wakes A#1 B#2, B ids ack 1 count 1",
        "65: <A announces nothing",
        "70: wakes A#1 B#2",
        "80: wakes A#1 B#2, B ids ack 0 count 3",
        "90: wakes A#1 B#2",
        "120: [2 added, 2 connected, 1 known, 0 wait]",
    ]


def test_an_id_is_acked_where_nothing_else_is_to_do() -> None:
    scene = told(
        (15, hears("B", announced("b"))),
        (25, hears("A", announced("b"))),
        (46, hears("B", bodies("b"))),
        (90, Told.look),
        config=replace(CONFIG, outstanding=1),
        peers="AB",
    )
    assert scene.story == [
        "0: [A begins], [B begins]",
        "10: wakes A#1 B#2, A ids ack 0 count 1 blocks, B ids ack 0 count 1 blocks",
        "15: <B announces b",
        "20: wakes B#2, B objects b",
        "25: <A announces b",
        "30: wakes B#2",
        "46: <B objects b, wakes B#2, B#2 inserts b",
        "47: [added b]",
        "56: wakes A#1 B#2, A ids ack 1 count 1 blocks, B ids ack 1 count 1 blocks",
        "90: [1 added, 2 connected, 0 wait]",
    ]


def test_a_blocking_request_waits_for_an_object_that_another_peer_has_brought() -> None:
    scene = told(
        (15, hears("A", announced("a"))),
        (16, hears("B", announced("a"))),
        (36, hears("B", bodies("a"))),
        (70, Told.look),
        (75, hears("A", bodies("a"))),
        (120, Told.look),
        config=replace(CONFIG, redundancy=2, outstanding=1),
        peers="AB",
    )
    assert scene.story == [
        "0: [A begins], [B begins]",
        "10: wakes A#1 B#2, A ids ack 0 count 1 blocks, B ids ack 0 count 1 blocks",
        "15: <A announces a",
        "16: <B announces a",
        "20: wakes A#1 B#2, A objects a, B objects a",
        "30: wakes A#1 B#2",
        "36: <B objects a",
        "40: wakes A#1 B#2, B#2 inserts a",
        "41: [added a]",
        "50: wakes A#1 B#2, B ids ack 1 count 1 blocks",
        "70: [1 added, 2 connected, 0 wait]",
        "75: <A objects a, A#1 inserts a, A ids ack 1 count 1 blocks",
        "76: [known a]",
        "120: [1 added, 2 connected, 1 known, 0 wait]",
    ]


def test_objects_take_turns() -> None:
    """With one at a time, each round begins with a later one."""
    scene = told(
        (15, hears("A", announced("bd"))),
        (16, hears("B", announced("ac"))),
        (37, hears("B", bodies("a"))),
        (55, hears("A", announced(""))),
        (56, hears("B", announced(""))),
        (65, hears("A", bodies("b"))),
        (95, hears("B", announced(""))),
        (96, hears("B", announced(""))),
        (125, hears("B", bodies("c"))),
        (135, hears("A", announced(""))),
        (136, hears("A", announced(""))),
        (165, hears("A", bodies("d"))),
        (200, Told.look),
        config=ONE_AT_A_TIME,
        peers="AB",
    )
    assert scene.story == [
        "0: [A begins], [B begins]",
        "10: wakes A#1 B#2, A ids ack 0 count 4 blocks, B ids ack 0 count 4 blocks",
        "15: <A announces b d",
        "16: <B announces a c",
        "20: wakes A#1 B#2, A ids ack 0 count 4, B objects a, B ids ack 0 count 4",
        "30: wakes A#1 B#2",
        "37: <B objects a",
        "40: wakes A#1 B#2, B#2 inserts a",
        "41: [added a]",
        "50: wakes A#1 B#2, A objects b, B ids ack 1 count 1",
        "55: <A announces nothing",
        "56: <B announces nothing",
        "60: wakes A#1 B#2",
        "65: <A objects b",
        "70: wakes A#1 B#2, A#1 inserts b, A ids ack 0 count 4, B ids ack 0 count 4",
        "71: [added b]",
        "80: wakes A#1 B#2, A ids ack 1 count 1, B objects c",
        "90: wakes A#1 B#2",
        "95: <B announces nothing",
        "96: <B announces nothing",
        "100: wakes A#1 B#2",
        "110: wakes A#1 B#2, B ids ack 0 count 4",
        "120: wakes A#1 B#2, B ids ack 0 count 1",
        "125: <B objects c",
        "130: wakes A#1 B#2, B#2 inserts c",
        "131: [added c]",
        "135: <A announces nothing",
        "136: <A announces nothing",
        "140: wakes A#1 B#2, A objects d",
        "150: wakes A#1 B#2, A ids ack 0 count 4",
        "160: wakes A#1 B#2, A ids ack 0 count 1",
        "165: <A objects d",
        "170: wakes A#1 B#2, A#1 inserts d",
        "171: [added d]",
        "180: wakes A#1 B#2",
        "200: [4 added, 2 connected, 0 wait]",
    ]


def test_what_another_peer_has_brought_is_acked() -> None:
    """It is not requested again, and a copy is known."""
    scene = told(
        (15, hears("A", announced("ab"))),
        (35, hears("A", bodies("ab"))),
        (45, hears("B", announced("abc"))),
        (66, hears("B", bodies("c"))),
        (67, hears("A", announced(""))),
        (70, hears("B", announced(""))),
        (120, Told.look),
        peers="AB",
    )
    assert scene.story == [
        "0: [A begins], [B begins]",
        "10: wakes A#1 B#2, A ids ack 0 count 4 blocks, B ids ack 0 count 4 blocks",
        "15: <A announces a b",
        "20: wakes A#1, A objects a b, A ids ack 0 count 4",
        "30: wakes A#1",
        "35: <A objects a b",
        "40: wakes A#1, A#1 inserts a",
        "41: [added a], A#1 inserts b",
        "42: [added b]",
        "45: <B announces a b c",
        "50: wakes A#1 B#2, B objects c, B ids ack 2 count 4",
        "60: wakes A#1 B#2, B ids ack 0 count 1",
        "66: <B objects c",
        "67: <A announces nothing",
        "70: wakes A#1 B#2, <B announces nothing, B#2 inserts c",
        "71: [added c]",
        "80: wakes A#1 B#2, A ids ack 2 count 4 blocks",
        "90: wakes B#2",
        "120: [3 added, 2 connected, 0 wait]",
    ]


def test_who_waits_for_a_reply_is_frozen() -> None:
    """What it has still to request counts."""
    scene = told(
        (15, hears("A", announced("a"))),
        (25, hears("A", bodies("a"))),
        (36, hears("B", announced("bc"))),
        (50, hears("A", announced("bc"))),
        (75, hears("B", bodies("bc"))),
        (80, hears("B", announced(""))),
        (120, Told.look),
        peers="AB",
    )
    assert scene.story == [
        "0: [A begins], [B begins]",
        "10: wakes A#1 B#2, A ids ack 0 count 4 blocks, B ids ack 0 count 4 blocks",
        "15: <A announces a",
        "20: wakes A#1, A objects a, A ids ack 0 count 4",
        "25: <A objects a",
        "30: wakes A#1, A#1 inserts a, A ids ack 0 count 1",
        "31: [added a]",
        "36: <B announces b c",
        "40: wakes A#1 B#2, B objects b c, B ids ack 0 count 4",
        "50: <A announces b c, wakes A#1 B#2",
        "60: wakes A#1 B#2",
        "70: wakes A#1 B#2, A ids ack 1 count 3",
        "75: <B objects b c",
        "80: wakes A#1 B#2, <B announces nothing, B#2 inserts b",
        "81: [added b], B#2 inserts c",
        "82: [added c]",
        "90: wakes A#1 B#2",
        "100: wakes A#1 B#2, B ids ack 2 count 4 blocks",
        "110: wakes A#1",
        "120: [3 added, 2 connected, 0 wait]",
    ]


def test_what_is_on_its_way_to_the_pool_is_asked_of_no_other() -> None:
    scene = told(
        (15, hears("A", announced("a"))),
        (25, hears("A", bodies("a"))),
        (45, hears("B", announced("a"))),
        (90, Told.look),
        peers="AB",
        prepare=slow(100),
    )
    assert scene.story == [
        "0: [A begins], [B begins]",
        "10: wakes A#1 B#2, A ids ack 0 count 4 blocks, B ids ack 0 count 4 blocks",
        "15: <A announces a",
        "20: wakes A#1, A objects a, A ids ack 0 count 4",
        "25: <A objects a",
        "30: wakes A#1, A#1 inserts a, A ids ack 0 count 1",
        "40: wakes A#1",
        "45: <B announces a",
        "50: wakes A#1 B#2, B ids ack 0 count 4",
        "60: wakes A#1 B#2, B ids ack 0 count 1",
        "70: wakes A#1 B#2",
        "90: [2 connected, 0 wait]",
    ]


def test_one_copy_is_requested_though_there_is_room_for_two() -> None:
    scene = told(
        (15, hears("A", announced("ab"))),
        (16, hears("B", announced("ab"))),
        (40, Told.look),
        config=replace(CONFIG, inflight_total=9),
        peers="AB",
    )
    assert scene.story == [
        "0: [A begins], [B begins]",
        "10: wakes A#1 B#2, A ids ack 0 count 4 blocks, B ids ack 0 count 4 blocks",
        "15: <A announces a b",
        "16: <B announces a b",
        "20: wakes A#1 B#2, A objects a b, B ids ack 0 count 4, A ids ack 0 count 4",
        "30: wakes A#1 B#2",
        "40: [2 connected, 0 wait]",
    ]


def test_one_object_at_a_time_is_inserted() -> None:
    scene = told(
        (15, hears("A", announced("ab"))),
        (16, hears("B", announced("cd"))),
        (35, hears("B", bodies("c"))),
        (36, hears("A", bodies("ab"))),
        (90, hangs_up("B")),
        (400, Told.look),
        peers="AB",
        prepare=slow(50),
    )
    assert scene.story == [
        "0: [A begins], [B begins]",
        "10: wakes A#1 B#2, A ids ack 0 count 4 blocks, B ids ack 0 count 4 blocks",
        "15: <A announces a b",
        "16: <B announces c d",
        "20: wakes A#1 B#2, A objects a b, B objects c, A ids ack 0 count 4, B ids ack 0 count 4",
        "30: wakes A#1 B#2",
        "35: <B objects c",
        "36: <A objects a b",
        "40: wakes A#1 B#2, A#1 inserts a",
        "50: wakes A#1 B#2, B ids ack 1 count 1",
        "60: wakes A#1 B#2",
        "90: [added a], A#1 inserts b, wakes A#1 B#2, [B ends]",
        "100: wakes A#1",
        "140: [added b], wakes A#1",
        "400: [2 added, 2 connected, 1 disconnected, 0 wait]",
    ]
