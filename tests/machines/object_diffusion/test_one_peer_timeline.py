"""What a node says to one peer, and when, to the millisecond: in a world in which nothing goes
wrong but what a test makes happen. A round comes at least 10 ms after the last one."""

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


def test_an_object_is_announced_requested_and_stored() -> None:
    scene = told(
        (15, hears("A", announced("a"))),
        (36, hears("A", bodies("a"))),
        (50, hears("A", announced(""))),
        (90, hears("A", announced("b"))),
        (130, Told.look),
    )
    assert scene.story == [
        "0: [A begins]",
        "10: wakes A#1, A ids ack 0 count 4 blocks",
        "15: <A announces a",
        "20: wakes A#1, A objects a, A ids ack 0 count 4",
        "30: wakes A#1, A ids ack 0 count 1",
        "36: <A objects a",
        "40: wakes A#1, A#1 inserts a",
        "41: [added a]",
        "50: <A announces nothing, wakes A#1",
        "60: wakes A#1",
        "70: wakes A#1",
        "90: <A announces b, wakes A#1",
        "100: wakes A#1, A objects b, A ids ack 1 count 4",
        "110: wakes A#1, A ids ack 0 count 1",
        "120: wakes A#1",
        "130: [1 added, 1 connected, 0 wait]",
    ]


def test_limits_of_ids_and_objects_are_kept() -> None:
    """Six IDs, four in a request, and two objects."""
    scene = told(
        (15, hears("A", announced("cadb"))),
        (35, hears("A", bodies("ab"))),
        (55, hears("A", announced("e"))),
        (70, hears("A", bodies("cd"))),
        (95, hears("A", announced("f"))),
        (100, hears("A", bodies("e"))),
        (115, hears("A", announced("jgih"))),
        (125, hears("A", bodies("f"))),
        (135, hears("A", announced("l"))),
        (145, hears("A", bodies("g"))),
        (200, Told.look),
    )
    assert scene.story == [
        "0: [A begins]",
        "10: wakes A#1, A ids ack 0 count 4 blocks",
        "15: <A announces c a d b",
        "20: wakes A#1, A objects a b, A ids ack 0 count 2",
        "30: wakes A#1",
        "35: <A objects a b",
        "40: wakes A#1, A#1 inserts a",
        "41: [added a], A#1 inserts b",
        "42: [added b]",
        "50: wakes A#1, A objects c d",
        "55: <A announces e",
        "60: wakes A#1",
        "70: <A objects c d, wakes A#1, A ids ack 0 count 1",
        "80: wakes A#1, A#1 inserts c",
        "81: [added c], A#1 inserts d",
        "82: [added d]",
        "90: wakes A#1, A objects e, A ids ack 4 count 4",
        "95: <A announces f",
        "100: wakes A#1, <A objects e",
        "110: wakes A#1, A#1 inserts e, A objects f",
        "111: [added e]",
        "115: <A announces j g i h",
        "120: wakes A#1, A ids ack 1 count 1",
        "125: <A objects f",
        "130: wakes A#1, A#1 inserts f, A objects g",
        "131: [added f]",
        "135: <A announces l",
        "140: wakes A#1, A objects h, A ids ack 1 count 1",
        "145: <A objects g",
        "150: wakes A#1, A#1 inserts g",
        "151: [added g]",
        "160: wakes A#1, A objects i",
        "170: wakes A#1",
        "200: [7 added, 1 connected, 0 wait]",
    ]


def test_a_reply_is_due_in_time() -> None:
    """It is counted from the moment at which it is the next one."""
    scene = told(
        (15, hears("A", announced("a"))),
        (900, hears("A", bodies("a"))),
        (1800, hears("A", announced("b"))),
        (2900, Told.look),
    )
    assert scene.story == [
        "0: [A begins]",
        "10: wakes A#1, A ids ack 0 count 4 blocks",
        "15: <A announces a",
        "20: wakes A#1, A objects a, A ids ack 0 count 4",
        "30: wakes A#1, A ids ack 0 count 1",
        "40: wakes A#1",
        "900: <A objects a, wakes A#1, A#1 inserts a",
        "901: [added a]",
        "910: wakes A#1",
        "1800: <A announces b, wakes A#1",
        "1810: wakes A#1, A objects b, A ids ack 1 count 4",
        "1820: wakes A#1",
        "2800: [A ends]",
        "2900: [1 added, 1 connected, 1 disconnected, 1 silent, 0 wait]",
    ]


def test_who_is_late_is_given_up_and_dialled_again() -> None:
    scene = told(
        (15, hears("A", announced("a"))), (1600, hears("A", announced("a"))), (1650, Told.look)
    )
    assert scene.story == [
        "0: [A begins]",
        "10: wakes A#1, A ids ack 0 count 4 blocks",
        "15: <A announces a",
        "20: wakes A#1, A objects a, A ids ack 0 count 4",
        "30: wakes A#1, A ids ack 0 count 1",
        "40: wakes A#1",
        "1020: [A ends]",
        "1520: [A begins], wakes A#2, A ids ack 0 count 4 blocks",
        "1600: <A announces a, wakes A#2, A objects a, A ids ack 0 count 4",
        "1610: wakes A#2, A ids ack 0 count 1",
        "1620: wakes A#2",
        "1650: [2 connected, 1 disconnected, 1 silent, 0 wait]",
    ]


def test_a_blocking_reply_may_take_its_time() -> None:
    scene = told(
        (3000, hears("A", announced("a"))),
        (3025, hears("A", bodies("a"))),
        (3030, hears("A", announced(""))),
        (3040, hears("A", announced(""))),
        (4900, Told.look),
    )
    assert scene.story == [
        "0: [A begins]",
        "10: wakes A#1, A ids ack 0 count 4 blocks",
        "3000: <A announces a, wakes A#1, A objects a, A ids ack 0 count 4",
        "3010: wakes A#1, A ids ack 0 count 1",
        "3020: wakes A#1",
        "3025: <A objects a",
        "3030: wakes A#1, <A announces nothing, A#1 inserts a",
        "3031: [added a]",
        "3040: wakes A#1, <A announces nothing",
        "3050: wakes A#1",
        "3060: wakes A#1, A ids ack 1 count 4 blocks",
        "4900: [1 added, 1 connected, 0 wait]",
    ]


def test_objects_that_wait_for_the_pool_count() -> None:
    """The ID of one that has come is acked at once."""
    scene = told(
        (15, hears("A", announced("abcd"))),
        (35, hears("A", bodies("ab"))),
        (36, hears("A", announced("ef"))),
        (50, Told.look),
        (60, hears("A", announced(""))),
        (160, hears("A", announced(""))),
        (165, hears("A", bodies("c"))),
        (300, Told.look),
        (302, hears("A", announced(""))),
        (303, hears("A", announced(""))),
        (305, hears("A", bodies("d"))),
        (430, Told.look),
        prepare=slow(100),
    )
    assert scene.story == [
        "0: [A begins]",
        "10: wakes A#1, A ids ack 0 count 4 blocks",
        "15: <A announces a b c d",
        "20: wakes A#1, A objects a b, A ids ack 0 count 2",
        "30: wakes A#1",
        "35: <A objects a b",
        "36: <A announces e f",
        "40: wakes A#1, A#1 inserts a",
        "50: [1 connected, 1 wait], wakes A#1, A ids ack 2 count 2",
        "60: <A announces nothing, wakes A#1",
        "70: wakes A#1",
        "80: wakes A#1, A ids ack 0 count 2",
        "90: wakes A#1",
        "140: [added a], A#1 inserts b, wakes A#1, A objects c",
        "150: wakes A#1",
        "160: <A announces nothing, wakes A#1",
        "165: <A objects c",
        "170: wakes A#1, A ids ack 0 count 2",
        "180: wakes A#1, A ids ack 1 count 1",
        "190: wakes A#1",
        "240: [added b], A#1 inserts c, wakes A#1, A objects d",
        "250: wakes A#1",
        "300: [2 added, 1 connected, 0 wait]",
        "302: <A announces nothing, wakes A#1",
        "303: <A announces nothing",
        "305: <A objects d",
        "312: wakes A#1, A ids ack 0 count 2",
        "322: wakes A#1, A ids ack 1 count 2",
        "332: wakes A#1",
        "340: [added c], A#1 inserts d",
        "342: wakes A#1, A objects e",
        "352: wakes A#1",
        "430: [3 added, 1 connected, 0 wait]",
    ]


def test_without_anything_to_do_nobody_is_woken() -> None:
    """All IDs are there that may be, and all objects that may be wait for the pool."""
    scene = told(
        (15, hears("A", announced("ab"))),
        (35, hears("A", bodies("a"))),
        (56, hears("A", announced("c"))),
        (90, hears("B", announced("e"))),
        (115, hears("B", bodies("e"))),
        (250, Told.look),
        config=replace(CONFIG, outstanding=2, inflight_per_peer=1),
        peers="AB",
        prepare=slow(100),
    )
    assert scene.story == [
        "0: [A begins], [B begins]",
        "10: wakes A#1 B#2, A ids ack 0 count 2 blocks, B ids ack 0 count 2 blocks",
        "15: <A announces a b",
        "20: wakes A#1, A objects a",
        "30: wakes A#1",
        "35: <A objects a",
        "40: wakes A#1, A#1 inserts a",
        "50: wakes A#1, A ids ack 1 count 1",
        "56: <A announces c",
        "60: wakes A#1",
        "90: <B announces e, wakes B#2, B objects e, B ids ack 0 count 1",
        "100: wakes B#2",
        "115: <B objects e, wakes B#2",
        "125: wakes B#2",
        "140: [added a], B#2 inserts e, wakes A#1 B#2, A objects b",
        "150: wakes A#1 B#2",
        "240: [added e], wakes A#1 B#2",
        "250: [2 added, 2 connected, 0 wait]",
    ]


def test_nobody_is_late_of_whom_nothing_is_asked() -> None:
    scene = told(
        (15, hears("A", announced("ab"))),
        (35, hears("A", bodies("a"))),
        (56, hears("A", announced("c"))),
        (1500, Told.look),
        config=replace(CONFIG, outstanding=2, inflight_per_peer=1),
        prepare=slow(1_400),
    )
    assert scene.story == [
        "0: [A begins]",
        "10: wakes A#1, A ids ack 0 count 2 blocks",
        "15: <A announces a b",
        "20: wakes A#1, A objects a",
        "30: wakes A#1",
        "35: <A objects a",
        "40: wakes A#1, A#1 inserts a",
        "50: wakes A#1, A ids ack 1 count 1",
        "56: <A announces c",
        "60: wakes A#1",
        "1440: [added a], wakes A#1, A objects b",
        "1450: wakes A#1",
        "1500: [1 added, 1 connected, 0 wait]",
    ]


def test_what_the_pool_has_is_acked_and_not_requested() -> None:
    scene = told(
        (15, hears("A", announced("a"))),
        (25, hears("A", bodies("a"))),
        (45, hears("A", announced("b"))),
        (65, hears("A", announced(""))),
        (66, hears("A", bodies("b"))),
        (110, hears("A", announced("ca"))),
        (150, Told.look),
    )
    assert scene.story == [
        "0: [A begins]",
        "10: wakes A#1, A ids ack 0 count 4 blocks",
        "15: <A announces a",
        "20: wakes A#1, A objects a, A ids ack 0 count 4",
        "25: <A objects a",
        "30: wakes A#1, A#1 inserts a, A ids ack 0 count 1",
        "31: [added a]",
        "40: wakes A#1",
        "45: <A announces b",
        "50: wakes A#1",
        "60: wakes A#1, A objects b, A ids ack 1 count 4",
        "65: <A announces nothing",
        "66: <A objects b",
        "70: wakes A#1, A#1 inserts b",
        "71: [added b]",
        "80: wakes A#1",
        "110: <A announces c a, wakes A#1",
        "120: wakes A#1, A objects c, A ids ack 1 count 4",
        "130: wakes A#1",
        "150: [2 added, 1 connected, 0 wait]",
    ]


def test_a_connection_that_ends_takes_the_lock_with_it() -> None:
    scene = told(
        (15, hears("A", announced("abc"))),
        (35, hears("A", bodies("ab"))),
        (50, hangs_up("A")),
        (60, Told.look),
        (570, hears("A", announced("bd"))),
        (600, hears("A", bodies("bd"))),
        (1000, Told.look),
        prepare=slow(100),
    )
    assert scene.story == [
        "0: [A begins]",
        "10: wakes A#1, A ids ack 0 count 4 blocks",
        "15: <A announces a b c",
        "20: wakes A#1, A objects a b, A ids ack 0 count 3",
        "30: wakes A#1",
        "35: <A objects a b",
        "40: wakes A#1, A#1 inserts a",
        "50: wakes A#1, [A ends]",
        "60: [1 connected, 1 disconnected, 0 wait]",
        "140: [added a]",
        "550: [A begins], wakes A#2, A ids ack 0 count 4 blocks",
        "570: <A announces b d, wakes A#2, A objects b d, A ids ack 0 count 4",
        "580: wakes A#2",
        "600: <A objects b d, wakes A#2, A#2 inserts b",
        "610: wakes A#2",
        "700: [added b], A#2 inserts d, wakes A#2",
        "800: [added d], wakes A#2",
        "1000: [3 added, 2 connected, 1 disconnected, 0 wait]",
    ]


def test_a_reply_of_nobody_is_refused() -> None:
    scene = told((15, Told.hear_nobody), (20, Told.look))
    assert scene.story == [
        "0: [A begins]",
        "10: wakes A#1, A ids ack 0 count 4 blocks",
        "15: [refused], [refused]",
        "20: [1 connected, 0 wait]",
    ]


def test_a_round_begins_after_the_object_with_which_the_last_one_began() -> None:
    """Also where that was the only one."""
    scene = told(
        (15, hears("A", announced("b"))),
        (25, hears("A", bodies("b"))),
        (45, hears("A", announced("ac"))),
        (90, Told.look),
        config=replace(CONFIG, inflight_total=1),
    )
    assert scene.story == [
        "0: [A begins]",
        "10: wakes A#1, A ids ack 0 count 4 blocks",
        "15: <A announces b",
        "20: wakes A#1, A objects b, A ids ack 0 count 4",
        "25: <A objects b",
        "30: wakes A#1, A#1 inserts b, A ids ack 0 count 1",
        "31: [added b]",
        "40: wakes A#1",
        "45: <A announces a c",
        "50: wakes A#1",
        "60: wakes A#1, A objects c, A ids ack 1 count 3",
        "70: wakes A#1",
        "90: [1 added, 1 connected, 0 wait]",
    ]


def test_a_blocking_request_waits_for_replies() -> None:
    """IDs are under way while all are acked."""
    scene = told(
        (15, hears("A", announced("a"))),
        (25, hears("A", bodies("a"))),
        (60, hears("A", announced("bc"))),
        (75, hears("A", announced(""))),
        (80, hears("A", bodies("bc"))),
        (105, hears("A", announced(""))),
        (140, hears("A", announced(""))),
        (200, Told.look),
    )
    assert scene.story == [
        "0: [A begins]",
        "10: wakes A#1, A ids ack 0 count 4 blocks",
        "15: <A announces a",
        "20: wakes A#1, A objects a, A ids ack 0 count 4",
        "25: <A objects a",
        "30: wakes A#1, A#1 inserts a, A ids ack 0 count 1",
        "31: [added a]",
        "40: wakes A#1",
        "60: <A announces b c, wakes A#1",
        "70: wakes A#1, A objects b c, A ids ack 1 count 3",
        "75: <A announces nothing",
        "80: wakes A#1, <A objects b c",
        "90: wakes A#1, A#1 inserts b, A ids ack 0 count 1",
        "91: [added b], A#1 inserts c",
        "92: [added c]",
        "100: wakes A#1",
        "105: <A announces nothing",
        "110: wakes A#1",
        "120: wakes A#1",
        "140: <A announces nothing, wakes A#1",
        "150: wakes A#1, A ids ack 2 count 4 blocks",
        "200: [3 added, 1 connected, 0 wait]",
    ]
