"""What a node asks of a peer that does not read, and of others; as `test_one_peer_timeline.py`."""

from __future__ import annotations

from dataclasses import replace

from tests.machines.object_diffusion.told import (
    CONFIG,
    Told,
    announced,
    bodies,
    hears,
    sleeps,
    slow,
    told,
    wakes,
)


def test_what_a_peer_that_does_not_read_will_be_asked_for_counts() -> None:
    """Its decision is frozen after the first request, and before the next one."""
    scene = told(
        (15, hears("A", announced("ab"))),
        (17, sleeps("A")),
        (25, hears("B", announced("abcd"))),
        (45, hears("B", bodies("c"))),
        (60, wakes("A")),
        (65, hears("A", bodies("ab"))),
        (120, Told.look),
        peers="AB",
    )
    assert scene.story == [
        "0: [A begins], [B begins]",
        "10: wakes A#1 B#2, A ids ack 0 count 4 blocks, B ids ack 0 count 4 blocks",
        "15: <A announces a b",
        "20: wakes A#1",
        "25: <B announces a b c d",
        "30: wakes B#2, B objects c, B ids ack 0 count 2",
        "40: wakes B#2",
        "45: <B objects c",
        "50: wakes B#2, B#2 inserts c",
        "51: [added c]",
        "60: A objects a b, wakes B#2, B objects d, A ids ack 0 count 4",
        "65: <A objects a b",
        "70: wakes A#1 B#2, A#1 inserts a",
        "71: [added a], A#1 inserts b",
        "72: [added b]",
        "80: wakes A#1 B#2, B ids ack 3 count 3",
        "90: wakes A#1 B#2",
        "120: [3 added, 2 connected, 0 wait]",
    ]


def test_what_a_peer_was_not_asked_for_yet_counts() -> None:
    """It has not read the request before."""
    scene = told(
        (15, hears("A", announced("abd"))),
        (17, sleeps("A")),
        (35, hears("A", bodies("ab"))),
        (75, hears("B", announced("dce"))),
        (90, Told.look),
        (100, wakes("A")),
        (120, hears("A", bodies("d"))),
        (150, Told.look),
        config=replace(CONFIG, outstanding=3, inflight_total=2),
        peers="AB",
    )
    assert scene.story == [
        "0: [A begins], [B begins]",
        "10: wakes A#1 B#2, A ids ack 0 count 3 blocks, B ids ack 0 count 3 blocks",
        "15: <A announces a b d",
        "20: wakes A#1",
        "30: wakes A#1",
        "35: <A objects a b",
        "40: wakes A#1, A#1 inserts a",
        "41: [added a], A#1 inserts b",
        "42: [added b]",
        "50: wakes A#1",
        "75: <B announces d c e, wakes B#2, B objects e",
        "85: wakes B#2",
        "90: [2 added, 2 connected, 0 wait]",
        "100: A objects a b, wakes B#2, A objects d, A ids ack 2 count 2",
        "110: wakes A#1 B#2",
        "120: <A objects d, wakes A#1 B#2, A#1 inserts d",
        "121: [added d]",
        "130: wakes A#1 B#2, B objects c, B ids ack 1 count 1",
        "140: wakes A#1 B#2",
        "150: [3 added, 2 connected, 0 wait]",
    ]


def test_what_a_peer_was_not_asked_for_yet_is_asked_of_no_other() -> None:
    scene = told(
        (15, hears("A", announced("abd"))),
        (17, sleeps("A")),
        (35, hears("A", bodies("ab"))),
        (75, hears("B", announced("dc"))),
        (90, Told.look),
        config=replace(CONFIG, outstanding=3, inflight_total=4),
        peers="AB",
    )
    assert scene.story == [
        "0: [A begins], [B begins]",
        "10: wakes A#1 B#2, A ids ack 0 count 3 blocks, B ids ack 0 count 3 blocks",
        "15: <A announces a b d",
        "20: wakes A#1",
        "30: wakes A#1",
        "35: <A objects a b",
        "40: wakes A#1, A#1 inserts a",
        "41: [added a], A#1 inserts b",
        "42: [added b]",
        "50: wakes A#1",
        "75: <B announces d c, wakes B#2, B objects c, B ids ack 0 count 1",
        "85: wakes B#2",
        "90: [2 added, 2 connected, 0 wait]",
    ]


def test_what_a_frozen_peer_could_bring_is_asked_of_another() -> None:
    scene = told(
        (15, hears("A", announced("abd"))),
        (17, sleeps("A")),
        (35, hears("A", bodies("ab"))),
        (95, hears("B", announced("d"))),
        (110, Told.look),
        config=replace(CONFIG, outstanding=3),
        peers="AB",
        prepare=slow(20),
    )
    assert scene.story == [
        "0: [A begins], [B begins]",
        "10: wakes A#1 B#2, A ids ack 0 count 3 blocks, B ids ack 0 count 3 blocks",
        "15: <A announces a b d",
        "20: wakes A#1",
        "30: wakes A#1",
        "35: <A objects a b",
        "40: wakes A#1, A#1 inserts a",
        "50: wakes A#1",
        "60: [added a], A#1 inserts b",
        "80: [added b]",
        "95: <B announces d, wakes B#2, B objects d, B ids ack 0 count 2",
        "105: wakes B#2",
        "110: [2 added, 2 connected, 0 wait]",
    ]


def test_a_decision_is_not_over_before_all_is_requested() -> None:
    scene = told(
        (15, hears("A", announced("dab"))),
        (17, sleeps("A")),
        (35, hears("A", bodies("a"))),
        (75, hears("B", announced("b"))),
        (110, Told.look),
        config=replace(CONFIG, outstanding=3, inflight_per_peer=1),
        peers="AB",
    )
    assert scene.story == [
        "0: [A begins], [B begins]",
        "10: wakes A#1 B#2, A ids ack 0 count 3 blocks, B ids ack 0 count 3 blocks",
        "15: <A announces d a b",
        "20: wakes A#1",
        "30: wakes A#1",
        "35: <A objects a",
        "40: wakes A#1, A#1 inserts a",
        "41: [added a]",
        "50: wakes A#1",
        "75: <B announces b, wakes B#2, B ids ack 0 count 2",
        "85: wakes B#2",
        "110: [1 added, 2 connected, 0 wait]",
    ]


def test_who_answers_what_was_not_asked_yet_is_given_up() -> None:
    scene = told(
        (15, hears("A", announced("abd"))),
        (17, sleeps("A")),
        (35, hears("A", bodies("ab"))),
        (75, hears("A", bodies("d"))),
        (90, Told.look),
        config=replace(CONFIG, outstanding=3),
    )
    assert scene.story == [
        "0: [A begins]",
        "10: wakes A#1, A ids ack 0 count 3 blocks",
        "15: <A announces a b d",
        "20: wakes A#1",
        "30: wakes A#1",
        "35: <A objects a b",
        "40: wakes A#1, A#1 inserts a",
        "41: [added a], A#1 inserts b",
        "42: [added b]",
        "50: wakes A#1",
        "75: <A objects d",
        "90: [2 added, 1 connected, 1 disconnected, 1 refused, 0 wait]",
    ]


def test_who_announces_what_was_not_asked_yet_is_given_up() -> None:
    scene = told(
        (15, hears("A", announced("abd"))),
        (17, sleeps("A")),
        (35, hears("A", bodies("ab"))),
        (75, hears("A", announced("c"))),
        (90, Told.look),
        config=replace(CONFIG, outstanding=3),
    )
    assert scene.story == [
        "0: [A begins]",
        "10: wakes A#1, A ids ack 0 count 3 blocks",
        "15: <A announces a b d",
        "20: wakes A#1",
        "30: wakes A#1",
        "35: <A objects a b",
        "40: wakes A#1, A#1 inserts a",
        "41: [added a], A#1 inserts b",
        "42: [added b]",
        "50: wakes A#1",
        "75: <A announces c",
        "90: [2 added, 1 connected, 1 disconnected, 1 refused, 0 wait]",
    ]


def test_who_does_not_read_may_answer_what_it_was_asked_before() -> None:
    scene = told(
        (15, hears("A", announced("a"))),
        (31, hears("A", bodies("a"), announced("bc"))),
        (33, sleeps("A")),
        (60, hears("A", announced(""))),
        (75, Told.look),
        (100, wakes("A")),
        (140, Told.look),
    )
    assert scene.story == [
        "0: [A begins]",
        "10: wakes A#1, A ids ack 0 count 4 blocks",
        "15: <A announces a",
        "20: wakes A#1, A objects a, A ids ack 0 count 4",
        "30: wakes A#1, A ids ack 0 count 1",
        "31: <A objects a, <A announces b c",
        "40: wakes A#1, A#1 inserts a",
        "41: [added a]",
        "50: wakes A#1",
        "60: <A announces nothing",
        "75: [1 added, 1 connected, 0 wait]",
        "100: A objects b c, wakes A#1, A ids ack 1 count 3",
        "110: wakes A#1, A ids ack 0 count 1",
        "120: wakes A#1",
        "140: [1 added, 1 connected, 0 wait]",
    ]
