"""What an endpoint says of what it sends, and when: in a world in which nothing goes wrong
but what a test makes happen. A round begins every 10 ms; what is due happens in the next one."""

from __future__ import annotations

from dataclasses import replace

from lawful.machines.unicast.messages import Ack, SendFirst, XmitReq
from tests.machines.unicast.told import CONFIG, Told, says, sends, told

NO_REAPING = replace(CONFIG, conn_expiry_timeout=0.0)


def test_acknowledged_messages_are_forgotten_and_the_idle_connection_ends() -> None:
    """Acks that are late, of another connection, or of what was never sent change nothing."""
    scene = told(
        (0, Told.watch),
        (0, sends(b"1", b"2", b"3")),
        (5, says(Ack(1, 1))),
        (6, Told.look),
        (7, says(Ack(1, 1), Ack(4, 1), Ack(2, 2), Ack(0, 1))),
        (8, Told.look),
        (45, says(Ack(3, 1))),
        (46, Told.look),
        (320, Told.look),
    )
    assert scene.story == [
        "0: [CLOSED, CLOSED], [sent 1 as 1], [sent 2 as 2], [sent 3 as 3],"
        " data 1 of 1 first, data 2 of 1, data 3 of 1",
        "5: <ack 1 of 1, [OPEN, CLOSED]",
        "6: [OPEN 1/3, CLOSED 1+0]",
        "7: <ack 1 of 1, <ack 4 of 1, <ack 2 of 2, <ack 0 of 1",
        "8: [OPEN 1/3, CLOSED 1+0]",
        "20: data 3 of 1",
        "30: data 3 of 1",
        "40: data 3 of 1",
        "45: <ack 3 of 1",
        "46: [OPEN 3/3, CLOSED 1+0]",
        "230: [CLOSING, CLOSED]",
        "300: [CLOSED, CLOSED], close 1",
        "320: [CLOSED 0/0, CLOSED 1+0]",
    ]


def test_only_the_last_message_is_sent_again() -> None:
    """In each round but the first in which something has changed."""
    scene = told((3, sends(b"1")), (25, sends(b"2")), (52, says(Ack(1, 1))), (90, Told.look))
    assert scene.story == [
        "3: [sent 1 as 1], data 1 of 1 first",
        "20: data 1 of 1 first",
        "25: [sent 2 as 2], data 2 of 1",
        "40: data 2 of 1",
        "50: data 2 of 1",
        "52: <ack 1 of 1",
        "70: data 2 of 1",
        "80: data 2 of 1",
        "90: [OPEN 1/2, CLOSED 1+0], data 2 of 1",
        "90.5: [P has 1, in doubt: 2]",
    ]


def test_what_is_requested_is_sent_again() -> None:
    """Not what is acknowledged; then the first message that is not says where to go on."""
    scene = told(
        (0, sends(b"1", b"2", b"3", b"4")),
        (1, says(Ack(1, 1))),
        (2, says(XmitReq(1, frozenset({2, 4, 5})))),
        (3, says(XmitReq(1, frozenset({0, 1, 4})))),
        (4, says(XmitReq(2, frozenset({1, 2})))),
        (5, says(XmitReq(1, frozenset({0, 3})))),
        (6, says(Ack(4, 1))),
        (7, says(XmitReq(1, frozenset({1, 4})))),
        (8, Told.look),
    )
    assert scene.story == [
        "0: [sent 1 as 1], [sent 2 as 2], [sent 3 as 3], [sent 4 as 4],"
        " data 1 of 1 first, data 2 of 1, data 3 of 1, data 4 of 1",
        "1: <ack 1 of 1",
        "2: <request 2 4 5 of 1, data 2 of 1, data 4 of 1",
        "3: <request 0 1 4 of 1, data 2 of 1 first, data 4 of 1",
        "4: <request 1 2 of 2",
        "5: <request 0 3 of 1, data 3 of 1",
        "6: <ack 4 of 1",
        "7: <request 1 4 of 1",
        "8: [OPEN 4/4, CLOSED 1+0]",
    ]


def test_who_asks_for_the_first_message_gets_it() -> None:
    scene = told(
        (0, sends(b"1", b"2", b"3")),
        (1, says(SendFirst(1))),
        (2, says(Ack(1, 1))),
        (3, says(SendFirst(1))),
        (4, says(SendFirst(2))),
        (5, says(Ack(3, 1))),
        (6, says(SendFirst(1))),
        (9, Told.look),
    )
    assert scene.story == [
        "0: [sent 1 as 1], [sent 2 as 2], [sent 3 as 3], data 1 of 1 first, data 2 of 1,"
        " data 3 of 1",
        "1: <send first of 1, data 1 of 1 first",
        "2: <ack 1 of 1",
        "3: <send first of 1, data 2 of 1 first",
        "4: <send first of 2",
        "5: <ack 3 of 1",
        "6: <send first of 1",
        "9: [OPEN 3/3, CLOSED 1+0]",
    ]


def test_a_connection_that_closes_is_flushed() -> None:
    """Each ack gives the peer more time. Then another connection begins, and what the peer says
    of the first one is nothing to it."""
    scene = told(
        (0, Told.watch),
        (0, sends(b"1", b"2")),
        (3, Told.close),
        (30, Told.close),
        (42, says(Ack(1, 1))),
        (60, says(Ack(2, 1))),
        (110, Told.look),
        (140, sends(b"3")),
        (141, says(XmitReq(1, frozenset({1})), SendFirst(1), Ack(1, 1))),
        (145, Told.look),
        (146, says(Ack(1, 2))),
        (160, Told.look),
    )
    assert scene.story == [
        "0: [CLOSED, CLOSED], [sent 1 as 1], [sent 2 as 2], data 1 of 1 first, data 2 of 1",
        "5: [CLOSING, CLOSED]",
        "20: data 2 of 1",
        "30: data 2 of 1",
        "40: data 2 of 1",
        "42: <ack 1 of 1",
        "60: <ack 2 of 1, data 2 of 1",
        "110: [CLOSING 2/2, CLOSED 1+0]",
        "140: [CLOSED, CLOSED], [sent 3 as 1], close 1, data 1 of 2 first",
        "141: <request 1 of 1, <send first of 1, <ack 1 of 1",
        "145: [OPEN, CLOSED], [OPEN 0/1, CLOSED 1+0]",
        "146: <ack 1 of 2",
        "160: [OPEN 1/1, CLOSED 1+0]",
    ]


def test_who_does_not_answer_is_given_up() -> None:
    """The application is told what is in doubt."""
    scene = told(
        (0, Told.watch),
        (0, sends(b"1", b"2", b"3")),
        (1, says(Ack(1, 1))),
        (3, Told.close),
        (90, sends(b"4")),
        (92, says(Ack(1, 2))),
        (105, Told.look),
    )
    assert scene.story == [
        "0: [CLOSED, CLOSED], [sent 1 as 1], [sent 2 as 2], [sent 3 as 3],"
        " data 1 of 1 first, data 2 of 1, data 3 of 1",
        "1: <ack 1 of 1",
        "5: [CLOSING, CLOSED]",
        "20: data 3 of 1",
        "30: data 3 of 1",
        "40: data 3 of 1",
        "50: data 3 of 1",
        "60: data 3 of 1",
        "70: data 3 of 1",
        "80: [P has 1, in doubt: 2 3], [CLOSED, CLOSED], close 1",
        "90: [sent 4 as 1], data 1 of 2 first",
        "92: <ack 1 of 2",
        "95: [OPEN, CLOSED]",
        "105: [OPEN 1/1, CLOSED 1+0]",
    ]


def test_a_message_opens_the_connection_again() -> None:
    scene = told(
        (0, Told.watch),
        (0, sends(b"1")),
        (50, says(Ack(1, 1))),
        (235, sends(b"2")),
        (240, Told.look),
        (241, says(Ack(2, 1))),
        (520, Told.look),
    )
    assert scene.story == [
        "0: [CLOSED, CLOSED], [sent 1 as 1], data 1 of 1 first",
        "5: [OPEN, CLOSED]",
        "20: data 1 of 1 first",
        "30: data 1 of 1 first",
        "40: data 1 of 1 first",
        "50: <ack 1 of 1, data 1 of 1 first",
        "230: [CLOSING, CLOSED]",
        "235: [sent 2 as 2], data 2 of 1",
        "240: [OPEN, CLOSED], [OPEN 1/2, CLOSED 1+0]",
        "241: <ack 2 of 1",
        "430: [CLOSING, CLOSED]",
        "500: [CLOSED, CLOSED], close 1",
        "520: [CLOSED 0/0, CLOSED 1+0]",
    ]


def test_a_connection_expires_though_messages_are_not_acknowledged() -> None:
    scene = told((0, Told.watch), (0, sends(b"1")), (170, Told.look), (255, Told.look))
    assert scene.story == [
        "0: [CLOSED, CLOSED], [sent 1 as 1], data 1 of 1 first",
        "5: [OPEN, CLOSED]",
        "20: data 1 of 1 first",
        "30: data 1 of 1 first",
        "40: data 1 of 1 first",
        "50: data 1 of 1 first",
        "60: data 1 of 1 first",
        "70: data 1 of 1 first",
        "80: data 1 of 1 first",
        "90: data 1 of 1 first",
        "100: data 1 of 1 first",
        "110: data 1 of 1 first",
        "120: data 1 of 1 first",
        "130: data 1 of 1 first",
        "140: data 1 of 1 first",
        "150: data 1 of 1 first",
        "160: data 1 of 1 first",
        "170: [OPEN 0/1, CLOSED 1+0], data 1 of 1 first",
        "180: [CLOSING, CLOSED], data 1 of 1 first",
        "190: data 1 of 1 first",
        "200: data 1 of 1 first",
        "210: data 1 of 1 first",
        "220: data 1 of 1 first",
        "230: data 1 of 1 first",
        "240: data 1 of 1 first",
        "250: [P has 0, in doubt: 1], [CLOSED, CLOSED], close 1",
        "255: [CLOSED 0/0, CLOSED 1+0]",
    ]


def test_without_reaping_a_connection_ends_only_when_it_is_closed() -> None:
    scene = told(
        (0, Told.watch),
        (0, sends(b"1")),
        (1, says(Ack(1, 1))),
        (300, Told.close),
        (310, sends(b"2")),
        (311, says(Ack(2, 1))),
        (450, Told.close),
        (460, says(Ack(2, 1))),
        (530, Told.look),
        config=NO_REAPING,
    )
    assert scene.story == [
        "0: [CLOSED, CLOSED], [sent 1 as 1], data 1 of 1 first",
        "1: <ack 1 of 1",
        "5: [OPEN, CLOSED]",
        "300: [CLOSING, CLOSED]",
        "310: [sent 2 as 2], data 2 of 1",
        "311: <ack 2 of 1",
        "315: [OPEN, CLOSED]",
        "450: [CLOSING, CLOSED]",
        "460: <ack 2 of 1",
        "520: [CLOSED, CLOSED], close 1",
        "530: [CLOSED 0/0, CLOSED 1+0]",
    ]


def test_a_request_keeps_no_connection_alive() -> None:
    scene = told(
        (0, Told.watch),
        (0, sends(b"1")),
        (1, says(Ack(1, 1))),
        (2, sends(b"2")),
        (50, says(SendFirst(1))),
        (60, says(XmitReq(1, frozenset({1, 2})))),
        (195, Told.look),
    )
    assert scene.story == [
        "0: [CLOSED, CLOSED], [sent 1 as 1], data 1 of 1 first",
        "1: <ack 1 of 1",
        "2: [sent 2 as 2], data 2 of 1",
        "5: [OPEN, CLOSED]",
        "20: data 2 of 1",
        "30: data 2 of 1",
        "40: data 2 of 1",
        "50: <send first of 1, data 2 of 1, data 2 of 1 first",
        "60: <request 1 2 of 1, data 2 of 1, data 2 of 1, data 2 of 1 first",
        "70: data 2 of 1",
        "80: data 2 of 1",
        "90: data 2 of 1",
        "100: data 2 of 1",
        "110: data 2 of 1",
        "120: data 2 of 1",
        "130: data 2 of 1",
        "140: data 2 of 1",
        "150: data 2 of 1",
        "160: data 2 of 1",
        "170: data 2 of 1",
        "180: data 2 of 1",
        "190: [CLOSING, CLOSED], data 2 of 1",
        "195: [CLOSING 1/2, CLOSED 1+0]",
        "195.5: [P has 1, in doubt: 2]",
    ]


def test_a_connection_is_closed_once() -> None:
    scene = told(
        (0, Told.watch),
        (1, Told.close),
        (10, sends(b"1")),
        (11, says(Ack(1, 1))),
        (12, Told.close),
        (52, Told.close),
        (95, Told.look),
        (96, Told.close),
        (110, Told.look),
    )
    assert scene.story == [
        "0: [CLOSED, CLOSED]",
        "10: [sent 1 as 1], data 1 of 1 first",
        "11: <ack 1 of 1",
        "15: [CLOSING, CLOSED]",
        "90: [CLOSED, CLOSED], close 1",
        "95: [CLOSED 0/0, CLOSED 1+0]",
        "110: [CLOSED 0/0, CLOSED 1+0]",
    ]


def test_another_connection_knows_nothing_of_the_one_before() -> None:
    """Its only message is sent again when two rounds have seen it."""
    scene = told(
        (0, sends(b"1")),
        (15, Told.close),
        (94, sends(b"2")),
        (125, says(Ack(1, 2))),
        (130, Told.look),
    )
    assert scene.story == [
        "0: [sent 1 as 1], data 1 of 1 first",
        "20: data 1 of 1 first",
        "30: data 1 of 1 first",
        "40: data 1 of 1 first",
        "50: data 1 of 1 first",
        "60: data 1 of 1 first",
        "70: data 1 of 1 first",
        "80: data 1 of 1 first",
        "90: [P has 0, in doubt: 1], close 1",
        "94: [sent 2 as 1], data 1 of 2 first",
        "110: data 1 of 2 first",
        "120: data 1 of 2 first",
        "125: <ack 1 of 2",
        "130: [OPEN 1/1, CLOSED 1+0]",
    ]


def test_what_was_given_up_is_not_sent_again() -> None:
    scene = told(
        (0, sends(b"1", b"2", b"3")),
        (2, Told.close),
        (94, sends(b"4")),
        (95, says(XmitReq(2, frozenset({1, 2, 3})))),
        (97, says(Ack(1, 2))),
        (99, Told.look),
    )
    assert scene.story == [
        "0: [sent 1 as 1], [sent 2 as 2], [sent 3 as 3], data 1 of 1 first, data 2 of 1,"
        " data 3 of 1",
        "20: data 3 of 1",
        "30: data 3 of 1",
        "40: data 3 of 1",
        "50: data 3 of 1",
        "60: data 3 of 1",
        "70: data 3 of 1",
        "80: [P has 0, in doubt: 1 2 3], close 1",
        "94: [sent 4 as 1], data 1 of 2 first",
        "95: <request 1 2 3 of 2, data 1 of 2 first",
        "97: <ack 1 of 2",
        "99: [OPEN 1/1, CLOSED 1+0]",
    ]


def test_a_full_window_makes_the_sender_wait() -> None:
    scene = told(
        (0, sends(b"1", b"2", b"3", b"4", b"5", b"6", b"7")),
        (1, Told.look),
        (2, says(Ack(1, 1))),
        (3, says(Ack(3, 1))),
        (4, Told.look),
    )
    assert scene.story == [
        "0: [sent 1 as 1], [sent 2 as 2], [sent 3 as 3], [sent 4 as 4], [sent 5 as 5],"
        " data 1 of 1 first, data 2 of 1, data 3 of 1, data 4 of 1, data 5 of 1",
        "1: [OPEN 0/5, CLOSED 1+0]",
        "2: <ack 1 of 1, [sent 6 as 6], data 6 of 1",
        "3: <ack 3 of 1, [sent 7 as 7], data 7 of 1",
        "4: [OPEN 3/7, CLOSED 1+0]",
        "4.5: [P has 3, in doubt: 4 5 6 7]",
    ]
