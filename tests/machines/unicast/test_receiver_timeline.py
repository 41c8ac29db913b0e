"""What an endpoint says of what it receives, and when: in a world in which nothing goes wrong
but what a test makes happen. A round begins every 10 ms; what is due happens in the next one."""

from __future__ import annotations

from dataclasses import replace

from lawful.machines.unicast.messages import Ack, Close
from lawful.machines.unicast.service.settings import LARGEST_WINDOW
from tests.machines.unicast.told import CONFIG, Told, data, says, sends, told

NO_REAPING = replace(CONFIG, conn_expiry_timeout=0.0)


def test_what_is_delivered_is_acknowledged_later() -> None:
    """All with one ack, and copies once more."""
    scene = told(
        (0, Told.watch),
        (0, says(*data(1, 2))),
        (10, says(*data(3))),
        (40, says(*data(2))),
        (50, says(*data(1))),
        (80, Told.look),
        (320, Told.look),
    )
    assert scene.story == [
        "0: [CLOSED, CLOSED], <data 1 of 1 first, <data 2 of 1, [got 1], [got 2]",
        "5: [CLOSED, OPEN]",
        "10: <data 3 of 1, [got 3]",
        "30: ack 3 of 1",
        "40: <data 2 of 1",
        "50: <data 1 of 1 first",
        "70: ack 3 of 1",
        "80: [CLOSED 0/0, OPEN 4+0]",
        "230: [CLOSED, CLOSING]",
        "300: [CLOSED, CLOSED]",
        "320: [CLOSED 0/0, CLOSED 4+0]",
    ]


def test_what_is_missing_is_requested() -> None:
    scene = told(
        (3, says(*data(1, 4))),
        (4, Told.look),
        (22, says(*data(2))),
        (26, says(*data(3))),
        (33, says(*data(6))),
        (34, says(*data(7))),
        (44, says(*data(5))),
        (70, Told.look),
    )
    assert scene.story == [
        "3: <data 1 of 1 first, <data 4 of 1, [got 1]",
        "4: [CLOSED 0/0, OPEN 2+1]",
        "10: request 2 3 of 1",
        "22: <data 2 of 1, [got 2]",
        "26: <data 3 of 1, [got 3], [got 4]",
        "30: ack 4 of 1",
        "33: <data 6 of 1",
        "34: <data 7 of 1",
        "40: request 5 of 1",
        "44: <data 5 of 1, [got 5], [got 6], [got 7]",
        "70: [CLOSED 0/0, OPEN 8+0], ack 7 of 1",
    ]


def test_what_no_window_has_makes_it_ask_where_to_go_on() -> None:
    """Once in a round; it is not kept, and nothing before it is requested."""
    scene = told(
        (3, says(*data(1))),
        (14, says(*data(LARGEST_WINDOW + 2))),
        (15, says(*data(LARGEST_WINDOW + 3))),
        (17, Told.look),
        (34, says(*data(LARGEST_WINDOW + 2, first=True))),
        (45, Told.look),
    )
    assert scene.story == [
        "3: <data 1 of 1 first, [got 1]",
        "14: <data 4098 of 1",
        "15: <data 4099 of 1",
        "17: [CLOSED 0/0, OPEN 2+0]",
        "20: send first of 1",
        "30: ack 1 of 1",
        "34: <data 4098 of 1 first, [got 4098]",
        "45: [CLOSED 0/0, OPEN 4099+0]",
    ]


def test_what_no_window_has_is_no_activity() -> None:
    scene = told(
        (0, Told.watch),
        (3, says(*data(1))),
        (150, says(*data(LARGEST_WINDOW + 2))),
        (350, Told.look),
    )
    assert scene.story == [
        "0: [CLOSED, CLOSED]",
        "3: <data 1 of 1 first, [got 1]",
        "5: [CLOSED, OPEN]",
        "30: ack 1 of 1",
        "150: <data 4098 of 1",
        "160: send first of 1",
        "190: [CLOSED, CLOSING]",
        "260: [CLOSED, CLOSED]",
        "350: [CLOSED 0/0, CLOSED 2+0]",
    ]


def test_what_no_window_has_of_another_connection_says_nothing_of_this_one() -> None:
    """Of an older one it is stale, and of a newer one it asks where that begins."""
    scene = told(
        (3, says(*data(1, conn=2))),
        (14, says(*data(LARGEST_WINDOW + 2, conn=1))),
        (33, says(*data(LARGEST_WINDOW + 2, conn=3))),
        (45, Told.look),
    )
    assert scene.story == [
        "3: <data 1 of 2 first, [got 1]",
        "14: <data 4098 of 1",
        "30: ack 1 of 2",
        "33: <data 4098 of 3",
        "40: send first of 3",
        "45: [CLOSED 0/0, OPEN 2+0]",
    ]


def test_where_to_begin_is_asked_once() -> None:
    scene = told(
        (3, Told.watch),
        (3, says(*data(2))),
        (4, says(*data(3))),
        (15, says(*data(2, first=True))),
        (16, says(*data(3))),
        (60, Told.look),
    )
    assert scene.story == [
        "3: [CLOSED, CLOSED], <data 2 of 1",
        "4: <data 3 of 1",
        "10: send first of 1",
        "15: <data 2 of 1 first, [got 2]",
        "16: <data 3 of 1, [got 3]",
        "18: [CLOSED, OPEN]",
        "40: ack 3 of 1",
        "60: [CLOSED 0/0, OPEN 4+0]",
    ]


def test_nothing_begins_with_numbers_that_nobody_uses() -> None:
    scene = told(
        (3, Told.watch),
        (3, says(*data(1, conn=0, first=False))),
        (4, says(*data(0, first=True))),
        (5, says(*data(0))),
        (15, Told.look),
        (16, says(*data(1))),
        (60, Told.look),
    )
    assert scene.story == [
        "3: [CLOSED, CLOSED], <data 1 of 0",
        "4: <data 0 of 1 first",
        "5: <data 0 of 1",
        "10: send first of 1",
        "15: [CLOSED 0/0, CLOSED 1+0]",
        "16: <data 1 of 1 first, [got 1]",
        "18: [CLOSED, OPEN]",
        "40: ack 1 of 1",
        "60: [CLOSED 0/0, OPEN 2+0]",
    ]


def test_who_finds_the_beginning_does_not_ask() -> None:
    scene = told((3, says(*data(2))), (4, says(*data(1))), (5, says(*data(2))), (60, Told.look))
    assert scene.story == [
        "3: <data 2 of 1",
        "4: <data 1 of 1 first, [got 1]",
        "5: <data 2 of 1, [got 2]",
        "30: ack 2 of 1",
        "60: [CLOSED 0/0, OPEN 3+0]",
    ]


def test_a_connection_that_was_closed_goes_on() -> None:
    """What was not delivered is forgotten. Nothing is acknowledged while it is closed."""
    scene = told(
        (3, Told.watch),
        (3, says(*data(1, 3))),
        (4, says(Close(2))),
        (5, says(Close(1))),
        (6, Told.look),
        (7, says(Close(1))),
        (15, says(*data(0, conn=0))),
        (50, says(*data(1))),
        (55, Told.look),
        (56, says(*data(2))),
    )
    assert scene.story == [
        "3: [CLOSED, CLOSED], <data 1 of 1 first, <data 3 of 1, [got 1]",
        "4: <close 2",
        "5: <close 1",
        "6: [CLOSED 0/0, CLOSED 2+0]",
        "7: <close 1",
        "15: <data 0 of 0",
        "50: <data 1 of 1 first",
        "53: [CLOSED, OPEN]",
        "55: [CLOSED 0/0, OPEN 2+0]",
        "56: <data 2 of 1, [got 2]",
    ]


def test_a_newer_connection_takes_the_place_of_an_older_one() -> None:
    """What comes of the older one is late."""
    scene = told(
        (3, says(*data(1, 3))),
        (6, Told.look),
        (27, says(*data(1, conn=2))),
        (28, says(*data(3, conn=2))),
        (30, says(*data(1, 2))),
        (31, says(Close(1))),
        (32, says(*data(2, conn=2))),
        (90, Told.look),
    )
    assert scene.story == [
        "3: <data 1 of 1 first, <data 3 of 1, [got 1]",
        "6: [CLOSED 0/0, OPEN 2+1]",
        "10: request 2 of 1",
        "27: <data 1 of 2 first, [got 1]",
        "28: <data 3 of 2",
        "30: <data 1 of 1 first, <data 2 of 1",
        "31: <close 1",
        "32: <data 2 of 2, [got 2], [got 3]",
        "60: ack 3 of 2",
        "90: [CLOSED 0/0, OPEN 4+0]",
    ]


def test_the_ack_of_an_older_connection_is_not_sent() -> None:
    scene = told((3, says(*data(1))), (17, says(*data(1, conn=2))), (60, Told.look))
    assert scene.story == [
        "3: <data 1 of 1 first, [got 1]",
        "17: <data 1 of 2 first, [got 1]",
        "50: ack 1 of 2",
        "60: [CLOSED 0/0, OPEN 2+0]",
    ]


def test_a_newer_connection_that_is_not_known_yet_is_asked_for() -> None:
    scene = told(
        (3, says(*data(1))),
        (4, says(*data(2, conn=2))),
        (5, says(*data(2))),
        (15, says(*data(1, conn=2))),
        (60, Told.look),
    )
    assert scene.story == [
        "3: <data 1 of 1 first, [got 1]",
        "4: <data 2 of 2",
        "5: <data 2 of 1, [got 2]",
        "10: send first of 2",
        "15: <data 1 of 2 first, [got 1]",
        "40: ack 1 of 2",
        "60: [CLOSED 0/0, OPEN 2+0]",
    ]


def test_a_closed_connection_asks_for_nothing() -> None:
    scene = told(
        (3, says(*data(1))), (4, says(*data(2, conn=2))), (5, says(Close(1))), (60, Told.look)
    )
    assert scene.story == [
        "3: <data 1 of 1 first, [got 1]",
        "4: <data 2 of 2",
        "5: <close 1",
        "60: [CLOSED 0/0, CLOSED 2+0]",
    ]


def test_who_has_crashed_goes_on_where_the_sender_says() -> None:
    scene = told(
        (3, says(*data(1, 3, 6))),
        (4, says(*data(5, first=True))),
        (5, says(*data(2))),
        (60, Told.look),
    )
    assert scene.story == [
        "3: <data 1 of 1 first, <data 3 of 1, <data 6 of 1, [got 1]",
        "4: <data 5 of 1 first, [got 5], [got 6]",
        "5: <data 2 of 1",
        "30: ack 6 of 1",
        "60: [CLOSED 0/0, OPEN 7+0]",
    ]


def test_an_idle_connection_is_forgotten_and_resumed() -> None:
    scene = told(
        (0, Told.watch),
        (0, says(*data(1))),
        (200, says(*data(2))),
        (500, says(*data(3))),
        (510, says(*data(2))),
        (560, Told.look),
    )
    assert scene.story == [
        "0: [CLOSED, CLOSED], <data 1 of 1 first, [got 1]",
        "5: [CLOSED, OPEN]",
        "30: ack 1 of 1",
        "180: [CLOSED, CLOSING]",
        "200: <data 2 of 1, [got 2]",
        "205: [CLOSED, OPEN]",
        "230: ack 2 of 1",
        "380: [CLOSED, CLOSING]",
        "450: [CLOSED, CLOSED]",
        "500: <data 3 of 1, [got 3]",
        "505: [CLOSED, OPEN]",
        "510: <data 2 of 1",
        "530: ack 3 of 1",
        "560: [CLOSED 0/0, OPEN 4+0]",
    ]


def test_an_idle_connection_forgets_what_it_could_not_deliver() -> None:
    """Requests do not keep it."""
    scene = told((0, Told.watch), (3, says(*data(1, 3))), (300, says(*data(2))), (340, Told.look))
    assert scene.story == [
        "0: [CLOSED, CLOSED]",
        "3: <data 1 of 1 first, <data 3 of 1, [got 1]",
        "5: [CLOSED, OPEN]",
        "10: request 2 of 1",
        "30: ack 1 of 1, request 2 of 1",
        "70: request 2 of 1",
        "110: request 2 of 1",
        "150: request 2 of 1",
        "190: [CLOSED, CLOSING], request 2 of 1",
        "230: request 2 of 1",
        "260: [CLOSED, CLOSED]",
        "300: <data 2 of 1, [got 2]",
        "305: [CLOSED, OPEN]",
        "330: ack 2 of 1",
        "340: [CLOSED 0/0, OPEN 3+0]",
    ]


def test_each_message_keeps_a_connection_alive() -> None:
    """Copies, too."""
    scene = told(
        (0, Told.watch),
        (0, says(*data(1))),
        (100, says(*data(1))),
        (200, says(*data(3))),
        (300, says(*data(2))),
        (550, Told.look),
    )
    assert scene.story == [
        "0: [CLOSED, CLOSED], <data 1 of 1 first, [got 1]",
        "5: [CLOSED, OPEN]",
        "30: ack 1 of 1",
        "100: <data 1 of 1 first",
        "130: ack 1 of 1",
        "200: <data 3 of 1",
        "210: request 2 of 1",
        "230: request 2 of 1",
        "270: request 2 of 1",
        "300: <data 2 of 1, [got 2], [got 3]",
        "330: ack 3 of 1",
        "480: [CLOSED, CLOSING]",
        "550: [CLOSED 0/0, CLOSING 4+0]",
    ]


def test_without_reaping_what_is_received_is_kept() -> None:
    scene = told(
        (0, Told.watch),
        (0, says(*data(1))),
        (400, says(*data(2))),
        (450, says(*data(2))),
        (600, says(Close(1))),
        (700, Told.look),
        config=NO_REAPING,
    )
    assert scene.story == [
        "0: [CLOSED, CLOSED], <data 1 of 1 first, [got 1]",
        "5: [CLOSED, OPEN]",
        "30: ack 1 of 1",
        "400: <data 2 of 1, [got 2]",
        "430: ack 2 of 1",
        "450: <data 2 of 1",
        "480: ack 2 of 1",
        "600: <close 1",
        "605: [CLOSED, CLOSED]",
        "700: [CLOSED 0/0, CLOSED 3+0]",
    ]


def test_what_the_application_does_not_take_is_not_acknowledged() -> None:
    scene = told(
        (0, Told.stop_reading),
        (0, says(*data(1, 2, 3, 4, 5, 6))),
        (20, says(*data(1))),
        (35, Told.look),
        (50, Told.read),
        (90, Told.look),
    )
    assert scene.story == [
        "0: <data 1 of 1 first, <data 2 of 1, <data 3 of 1, <data 4 of 1, <data 5 of 1,"
        " <data 6 of 1, [got 1]",
        "20: <data 1 of 1 first",
        "30: ack 4 of 1",
        "35: [CLOSED 0/0, OPEN 5+2]",
        "50: [got 2], [got 3], [got 4], [got 5], [got 6]",
        "80: ack 6 of 1",
        "90: [CLOSED 0/0, OPEN 7+0]",
    ]


def test_an_endpoint_that_ends_acknowledges_and_closes() -> None:
    scene = told(
        (0, sends(b"1", b"2")), (1, says(Ack(1, 1))), (2, says(*data(1, 2))), (3, Told.end)
    )
    assert scene.story == [
        "0: [sent 1 as 1], [sent 2 as 2], data 1 of 1 first, data 2 of 1",
        "1: <ack 1 of 1",
        "2: <data 1 of 1 first, <data 2 of 1, [got 1], [got 2]",
        "3: [P has 1, in doubt: 2], ack 2 of 1, close 1",
    ]
