"""An endpoint for threads: what several threads send and receive, and what its end tells them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial

import pytest

from lawful.machines.services import LOOPBACK
from lawful.machines.unicast.messages import Dropped
from lawful.machines.unicast.service import EndpointClosed, ThreadedUnicast
from lawful.machines.unicast.service.settings import Config, Options
from tests.root import PATIENCE

QUICK = Config(xmit_interval=0.005, ack_interval=0.005)
NOBODY = (LOOPBACK, 9)  # The discard port.


def in_thread(act: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=act)
    thread.start()
    return thread


def test_threads_send_at_once_and_each_message_comes_once_in_the_order_of_its_thread() -> None:
    with ThreadedUnicast("A", QUICK) as a, ThreadedUnicast("B", QUICK) as b:
        a.connect("B", b.address)
        b.connect("A", a.address)

        def sends(thread: int) -> None:
            for place in range(25):
                a.send("B", b"%d/%d" % (thread, place))

        threads = [in_thread(partial(sends, number)) for number in range(4)]
        came = b.receive()
        got = [next(came) for _ in range(100)]
        for thread in threads:
            thread.join()
        a.flushed("B", PATIENCE)
        stats = a.stats().connections["B"]
        assert (stats.sent, stats.acked) == (100, 100)
    for number in range(4):
        mine = [payload for _, payload in got if payload.startswith(b"%d/" % number)]
        assert mine == [b"%d/%d" % (number, place) for place in range(25)]
    assert {peer for peer, _ in got} == {"A"}


def test_a_send_that_finds_no_room_in_time_takes_nothing() -> None:
    reports: list[tuple[str, Dropped]] = []
    options = Options(on_dropped=lambda peer, dropped: reports.append((peer, dropped)))
    with ThreadedUnicast("A", Config(window=1), options) as a:
        a.connect("B", NOBODY)
        assert a.send("B", b"1") == 1
        with pytest.raises(TimeoutError):
            a.send("B", b"2", timeout=0.01)
        with pytest.raises(TimeoutError):
            a.flushed("B", timeout=0.01)
        with pytest.raises(KeyError):
            a.send("C", b"3")
        assert a.stats().accepted == 1
    assert a.stats().accepted == 1
    doubts = [(peer, {data.payload for data in dropped.in_doubt}) for peer, dropped in reports]
    assert doubts == [("B", {b"1"})]


def test_the_end_tells_who_waits_and_gives_what_was_delivered() -> None:
    told: list[str] = []
    a, b = ThreadedUnicast("A", Config(window=1)), ThreadedUnicast("B", QUICK)
    a.connect("B", b.address)
    b.connect("A", a.address)
    a.connect("C", NOBODY)
    a.send("B", b"last")
    a.flushed("B", PATIENCE)  # It is in the inbox of B.

    def sends() -> None:
        a.send("C", b"1")
        with pytest.raises(EndpointClosed):
            a.send("C", b"2")
        told.append("send")

    def receives() -> None:
        assert list(a.receive()) == []
        told.append("receive")

    threads = [in_thread(sends), in_thread(receives)]
    while a.stats().accepted < 2:
        pass
    a.stop()
    b.stop()
    b.stop()
    for thread in threads:
        thread.join()
    assert sorted(told) == ["receive", "send"]
    assert list(b.receive()) == [("A", b"last")]
    with pytest.raises(EndpointClosed):
        a.connect("D", NOBODY)


def test_what_its_own_loop_asks_is_refused_in_place_of_waiting_for_itself() -> None:
    found: list[str] = []

    def asks(peer: str, dropped: Dropped) -> None:
        for act in (lambda: a.send(peer, b"again"), a.stop):
            with pytest.raises(RuntimeError, match="does not wait for itself"):
                act()
            found.append(peer)

    with ThreadedUnicast("A", QUICK, Options(on_dropped=asks)) as a:
        a.connect("B", NOBODY)
        a.send("B", b"1")
    assert (found, a.stats().raised) == (["B", "B"], 0)


def test_a_port_that_is_taken_leaves_no_thread() -> None:
    with ThreadedUnicast("A") as a:
        before = threading.active_count()
        with pytest.raises(OSError, match="in use"):
            ThreadedUnicast("B", port=a.address[1])
        assert threading.active_count() == before
