"""What a node does that is called at the wrong moment; as `test_one_peer_timeline.py`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from lawful.machines.object_diffusion.attribution import Peer
from lawful.machines.object_diffusion.service.wire import name_of
from tests.machines.object_diffusion.told import (
    BODIES,
    CONFIG,
    Told,
    announced,
    bodies,
    hangs_up,
    hears,
    sleeps,
    told,
    wakes,
)


def woken(name: str) -> Callable[[Told], object]:
    """Its connection acts though nothing was decided."""
    return lambda scene: scene.node.every[name].act()


def test_who_is_woken_twice_asks_once() -> None:
    """Once while its request blocks, and once where it has nothing to do."""
    scene = told(
        (12, woken("A#1")),
        (15, hears("A", announced("a"))),
        (17, woken("A#1")),
        (40, Told.look),
    )
    assert scene.story == [
        "0: [A begins]",
        "10: wakes A#1, A ids ack 0 count 4 blocks",
        "15: <A announces a",
        "20: wakes A#1, A objects a, A ids ack 0 count 4",
        "30: wakes A#1, A ids ack 0 count 1",
        "40: [1 connected, 0 wait], wakes A#1",
    ]


def test_a_transport_that_resumes_too_late_does_no_harm() -> None:
    """The connection is no longer registered."""
    scene = told(
        (20, hangs_up("A")),
        (25, lambda scene: scene.node.every["A#1"].resume_writing()),
        (30, Told.look),
    )
    assert scene.story == [
        "0: [A begins]",
        "10: wakes A#1, A ids ack 0 count 4 blocks",
        "20: [A ends]",
        "30: [1 connected, 1 disconnected, 0 wait]",
    ]


def test_a_transport_that_resumes_before_a_decision_is_read_completes_nothing() -> None:
    """The round is over, and the connection has not acted yet."""

    def decide_and_resume(scene: Told) -> None:
        scene.node.decide()
        scene.node.every["A#1"].resume_writing()

    scene = told(
        (15, hears("A", announced("a"))),
        (17, decide_and_resume),
        (25, Told.look),
        config=replace(CONFIG, outstanding=1),
    )
    assert scene.story == [
        "0: [A begins]",
        "10: wakes A#1, A ids ack 0 count 1 blocks",
        "15: <A announces a",
        "17: wakes A#1, A objects a",
        "20: wakes A#1",
        "25: [1 connected, 0 wait]",
    ]


def test_a_decision_that_nobody_has_read_is_replaced() -> None:
    """B is asked for b, and the pool has a meanwhile: A is asked for nothing."""

    def decide_twice(scene: Told) -> None:
        scene.node.decide()
        scene.pool.held.add(name_of(BODIES["a"]))
        scene.node.decide()

    scene = told(
        (12, hears("B", announced("b"))),
        (25, hears("A", announced("ba"))),
        (27, decide_twice),
        (45, Told.look),
        config=replace(CONFIG, outstanding=2),
        peers="AB",
    )
    assert scene.story == [
        "0: [A begins], [B begins]",
        "10: wakes A#1 B#2, A ids ack 0 count 2 blocks, B ids ack 0 count 2 blocks",
        "12: <B announces b",
        "20: wakes B#2, B objects b, B ids ack 0 count 1",
        "25: <A announces b a",
        "27: wakes A#1 B#2, wakes A#1 B#2",
        "30: wakes B#2",
        "45: [2 connected, 0 wait]",
    ]


def test_a_reply_that_is_handed_over_before_the_loop_reads_is_refused() -> None:
    """The request for IDs waits until the peer reads."""

    def hand(scene: Told) -> None:
        taken = scene.node.collect(Peer("A#1"), bodies("ab"))
        scene.tell(f"[{'taken' if taken else 'refused'}]")

    scene = told(
        (15, hears("A", announced("ab"))),
        (17, sleeps("A")),
        (25, hand),
        (30, wakes("A")),
        (40, Told.look),
    )
    assert scene.story == [
        "0: [A begins]",
        "10: wakes A#1, A ids ack 0 count 4 blocks",
        "15: <A announces a b",
        "20: wakes A#1",
        "25: [refused]",
        "30: A objects a b, A ids ack 0 count 4",
        "40: [1 connected, 0 wait], wakes A#1",
    ]


def test_also_one_with_ids() -> None:
    """The request for b is written, and what comes after it waits."""

    def hand(scene: Told) -> None:
        taken = scene.node.collect(Peer("A#1"), announced("c"))
        scene.tell(f"[{'taken' if taken else 'refused'}]")

    scene = told(
        (15, hears("A", announced("ab"))),
        (22, hears("A", bodies("a"))),
        (35, sleeps("A")),
        (45, hand),
        (48, wakes("A")),
        (55, Told.look),
        config=replace(CONFIG, inflight_per_peer=1),
    )
    assert scene.story == [
        "0: [A begins]",
        "10: wakes A#1, A ids ack 0 count 4 blocks",
        "15: <A announces a b",
        "20: wakes A#1, A objects a, A ids ack 0 count 4",
        "22: <A objects a",
        "30: wakes A#1, A#1 inserts a",
        "31: [added a]",
        "40: wakes A#1",
        "45: [refused]",
        "48: A objects b, A ids ack 1 count 1",
        "50: wakes A#1",
        "55: [1 added, 1 connected, 0 wait]",
    ]


def test_a_second_round_asks_for_the_same() -> None:
    """What nobody has read does not count as asked for."""

    def decide_twice(scene: Told) -> None:
        scene.node.decide()
        scene.node.decide()

    scene = told(
        (15, hears("A", announced("a"))),
        (17, decide_twice),
        (25, Told.look),
    )
    assert scene.story == [
        "0: [A begins]",
        "10: wakes A#1, A ids ack 0 count 4 blocks",
        "15: <A announces a",
        "17: wakes A#1, wakes A#1, A objects a, A ids ack 0 count 4",
        "20: wakes A#1, A ids ack 0 count 1",
        "25: [1 connected, 0 wait]",
    ]
