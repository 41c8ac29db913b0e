"""The service over real sockets: exactly once, in order, whatever the network does.

Nothing here sleeps in the hope that something has happened meanwhile: every wait is for a
condition, all of them under one timeout.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from lawful.machines.services import LOOPBACK
from lawful.machines.unicast.declaration import Conn
from lawful.machines.unicast.messages import Ack, Close, Dropped, SendFirst, XmitReq
from lawful.machines.unicast.service import EndpointClosed, Unicast
from lawful.machines.unicast.service.relay import Faults
from lawful.machines.unicast.service.run import exchange, gone, join
from lawful.machines.unicast.service.settings import LARGEST_WINDOW, Config, Options
from lawful.machines.unicast.service.wire import LONGEST_PAYLOAD, Batch, encode
from tests.machines.unicast.ends import (
    QUICK,
    data,
    heard,
    joined,
    probed,
    sending,
    submitted,
    timed,
)
from tests.root import PATIENCE

# The main job.


@pytest.mark.one_in(2)
@pytest.mark.parametrize("seed", [1, 2])
def test_a_bad_network_is_not_noticed(seed: int, tmp_path: Path) -> None:
    faults = Faults(loss=0.1, duplicate=0.05, reorder=0.2)
    steps: list[tuple[int, int]] = []
    path = tmp_path / "journal.jsonl"
    running = exchange(300, faults, seed, path, lambda done, all_: steps.append((done, all_)))
    report = asyncio.run(asyncio.wait_for(running, PATIENCE))
    assert report.exactly_once_in_order, report.directions
    assert [d.delivered for d in report.directions.values()] == [300, 300]
    assert min(report.relay.dropped, report.relay.duplicated, report.relay.reordered) >= 5
    assert steps[-1] == (600, 600)
    for stats in report.endpoints.values():
        assert (stats.accepted, stats.delivered, stats.in_doubt) == (300, 300, 0)
        assert stats.malformed == stats.misdirected == stats.unknown == stats.beyond == 0
    assert report.journal_path == path
    assert report.journal_rows == len(path.read_text().splitlines()) > 4 * 300


@timed
async def test_messages_are_numbered_and_share_a_datagram() -> None:
    async with joined() as (a, b, _):
        assert [await a.send("B", b"%d" % n) for n in range(1, 6)] == [1, 2, 3, 4, 5]
        assert await heard(b, 5) == [b"1", b"2", b"3", b"4", b"5"]
        await a.flushed("B")
        sent = a.stats()
        # What is resent travels alone and leaves the difference as it is.
        assert sent.messages_sent["Data"] - sent.datagrams_sent == 5 - 1
        assert b.stats().messages_sent.keys() == {"Ack"}
        connection = a.stats().connections["B"]
        assert (connection.sending, connection.sent, connection.acked) == (Conn.OPEN, 5, 5)


@timed
async def test_a_full_window_makes_the_sender_wait_in_turn() -> None:
    async with joined(replace(QUICK, window=3)) as (a, b, relay):
        relay.cut("A>B")
        waiting = [asyncio.create_task(a.send("B", b"%d" % n)) for n in range(6)]
        await a.until(lambda: a.stats().messages_sent.get("Data", 0) >= 3 + 2)
        assert [task.done() for task in waiting] == [True] * 3 + [False] * 3
        assert a.stats().connections["B"].unacked == 3
        relay.mend("A>B")
        assert await asyncio.gather(*waiting) == [1, 2, 3, 4, 5, 6]
        assert await heard(b, 6) == [b"%d" % n for n in range(6)]


@timed
async def test_who_comes_late_does_not_overtake_who_waits() -> None:
    async with joined(replace(QUICK, window=1)) as (a, b, relay):
        relay.cut("A>B")
        await a.send("B", b"0")

        async def come_late() -> None:
            await a.flushed("B")
            await a.send("B", b"2")

        late = asyncio.create_task(come_late())
        waiting = asyncio.create_task(a.send("B", b"1"))
        await a.until(lambda: a.stats().messages_sent.get("Data", 0) >= 2)
        relay.mend("A>B")
        assert await heard(b, 3) == [b"0", b"1", b"2"]
        await asyncio.gather(late, waiting)


@timed
async def test_what_waited_for_the_application_is_delivered_without_a_further_datagram() -> None:
    async with probed(config=replace(QUICK, inbox=2)) as (a, probe):
        probe.say(data(1), data(2), data(3), data(4), data(5))
        await a.until(lambda: a.stats().delivered == 2)
        assert await heard(a, 5) == [b"1", b"2", b"3", b"4", b"5"]
        assert a.stats().datagrams_received == 1


@timed
async def test_an_application_that_does_not_listen_holds_its_peer_back() -> None:
    async with joined(replace(QUICK, window=4, inbox=2)) as (a, b, _):
        sending = asyncio.create_task(_send_all(a, 20))
        await b.until(lambda: b.stats().delivered == 2)
        await a.until(lambda: a.stats().accepted == 6)
        resent = a.stats().messages_sent["Data"] + 3
        await a.until(lambda: a.stats().messages_sent["Data"] >= resent)
        assert a.stats().accepted == 6
        assert a.stats().connections["B"].unacked == 4
        assert b.stats().delivered == 2
        assert await heard(b, 20) == [b"%d" % n for n in range(20)]
        await sending


async def _send_all(end: Unicast, count: int) -> None:
    for number in range(count):
        await end.send("B", b"%d" % number)


# Bad datagrams.


@timed
async def test_bad_datagrams_are_counted_and_survived() -> None:
    async with probed() as (a, probe):
        good = encode(Batch("P", "A", (data(1),), 1))
        for bad in (b"hello", good[:-1], good[:8] + bytes(len(good) - 8)):
            probe.raw(bad)
        probe.say(data(1), target="somebody else")
        probe.say(data(1), source="a stranger")
        probe.say(data(1), data(LARGEST_WINDOW + 10))
        assert await heard(a, 1) == [b"1"]
        stats = a.stats()
        assert (stats.malformed, stats.misdirected, stats.unknown, stats.beyond) == (3, 1, 1, 1)
        assert stats.datagrams_received == 6
        assert stats.connections["P"].buffered == 0


@timed
async def test_messages_without_a_connection_do_no_harm() -> None:
    async with probed() as (a, probe):
        requests = XmitReq(conn=5, missing=frozenset({1, 2}))
        probe.say(Ack(seqno=9, conn=5), SendFirst(conn=5), requests, Close(conn=5), data(1))
        assert await heard(a, 1) == [b"1"]
        assert a.stats().messages_sent.keys() <= {"Ack"}


# The protocol, seen from the other side of the wire.


@timed
async def test_in_a_batch_the_first_message_is_handled_first() -> None:
    async with probed() as (a, probe):
        probe.say(data(3), data(2), data(1))
        assert await heard(a, 3) == [b"1", b"2", b"3"]
        assert await probe.inbox.get() == Ack(seqno=3, conn=1)
        assert a.stats().messages_sent == {"Ack": 1}


@timed
async def test_gaps_are_requested_and_only_what_is_contiguous_is_acknowledged() -> None:
    async with probed() as (_, probe):
        probe.say(data(1), data(2), data(4), data(6))
        said = await probe.until_said(Ack(seqno=2, conn=1))
        said |= await probe.until_said(XmitReq(conn=1, missing=frozenset({3, 5})))
        assert len(said) == 2
        probe.say(data(3), data(5))
        await probe.until_said(Ack(seqno=6, conn=1))


@timed
async def test_a_receiver_without_a_connection_asks_for_the_first_message() -> None:
    async with probed() as (a, probe):
        probe.say(data(7, conn=4))
        assert await probe.inbox.get() == SendFirst(conn=4)
        probe.say(data(6, conn=4, first=True), data(7, conn=4))
        assert await heard(a, 2) == [b"6", b"7"]


@timed
async def test_only_the_highest_is_resent_and_the_rest_on_request() -> None:
    async with probed(Options(epoch=0)) as (a, probe):
        for number in (1, 2, 3):
            await a.send("P", b"%d" % number)
        assert [await probe.inbox.get() for _ in range(3)] == [data(1), data(2), data(3)]
        assert [await probe.inbox.get() for _ in range(2)] == [data(3), data(3)]
        probe.say(SendFirst(conn=1), XmitReq(conn=1, missing=frozenset({2, 9})))
        assert await probe.until_said(data(1)) <= {data(1), data(3)}
        assert await probe.until_said(data(2)) <= {data(2), data(3)}
        probe.say(Ack(seqno=3, conn=1))
        await a.flushed("P")


@timed
async def test_answers_to_a_former_life_are_not_taken_for_those_to_this_one() -> None:
    async with probed(Options(epoch=1_000)) as (a, probe):
        await a.send("P", b"1")
        assert await probe.inbox.get() == data(1, conn=1_001)
        probe.say(Ack(seqno=1, conn=1_000), XmitReq(conn=1, missing=frozenset({1})))
        await a.until(lambda: a.stats().former == 2)
        assert a.stats().connections["P"].unacked == 1
        probe.say(Ack(seqno=1, conn=1_001))
        await a.flushed("P")


# Opening, closing and opening again.


@timed
async def test_a_connection_closes_and_opens_again() -> None:
    async with joined(options=Options(epoch=100)) as (a, b, _):
        for conn in (101, 102):
            assert await a.send("B", b"hello") == 1
            assert await heard(b, 1) == [b"hello"]
            assert b.entries("A")[1].conn == conn
            assert a.entries("B")[0].conn == conn - 100
            await a.flushed("B")
            a.close("B")
            assert sending(a) == Conn.CLOSING
            await asyncio.gather(gone(a, "B"), gone(b, "A"))
        a.close("B")
        assert a.stats().messages_sent["Close"] == 2


@timed
async def test_closing_flushes_and_sending_reopens() -> None:
    async with joined(replace(QUICK, conn_close_timeout=PATIENCE)) as (a, b, relay):
        relay.cut("A>B")
        await a.send("B", b"pending")
        a.view(["C"])
        assert sending(a) == Conn.CLOSING
        relay.mend("A>B")
        assert await heard(b, 1) == [b"pending"]
        await a.flushed("B")
        assert sending(a) == Conn.CLOSING
        assert await a.send("B", b"once more") == 2
        assert sending(a) == Conn.OPEN
        a.view(["B"])
        assert sending(a) == Conn.OPEN
        assert await heard(b, 1) == [b"once more"]


@timed
async def test_a_lost_close_is_made_up_for_by_reaping() -> None:
    async with joined(replace(QUICK, conn_expiry_timeout=0.1)) as (a, b, relay):
        await a.send("B", b"1")
        assert await heard(b, 1) == [b"1"]
        await a.flushed("B")
        relay.cut("A>B")
        await asyncio.gather(gone(a, "B"), gone(b, "A"))
        relay.mend("A>B")
        assert await a.send("B", b"2") == 1
        assert await heard(b, 1) == [b"2"]


@timed
async def test_what_may_not_be_delivered_is_reported() -> None:
    reports: list[tuple[str, Dropped]] = []
    options = Options(on_dropped=lambda peer, dropped: reports.append((peer, dropped)))
    async with joined(options=options) as (a, b, relay):
        relay.cut("A>B", "B>A")
        await a.send("B", b"1")
        await a.send("B", b"2")
        a.close("B")
        await gone(a, "B")
        sent = frozenset(map(submitted, (1, 2)))
        assert reports == [("B", Dropped(conn=1, acked=0, in_doubt=sent))]
        assert a.stats().in_doubt == 2
        relay.mend("A>B", "B>A")
        assert await a.send("B", b"3") == 1
        assert await heard(b, 1) == [b"3"]


@timed
async def test_what_was_delivered_and_not_acknowledged_is_in_doubt() -> None:
    reports: list[tuple[str, Dropped]] = []
    options = Options(on_dropped=lambda peer, dropped: reports.append((peer, dropped)))
    async with joined(options=options) as (a, b, relay):
        await a.send("B", b"1")
        assert await heard(b, 1) == [b"1"]
        await a.flushed("B")
        relay.cut("B>A")
        await a.send("B", b"2")
        assert await heard(b, 1) == [b"2"]
        relay.cut("A>B")
        await a.send("B", b"3")
        a.close("B")
        await gone(a, "B")
        in_doubt = frozenset(map(submitted, (2, 3)))
        assert reports == [("B", Dropped(conn=1, acked=1, in_doubt=in_doubt))]
        assert a.stats().in_doubt == 2


@timed
async def test_giving_up_closes_the_connection_at_the_peer_too() -> None:
    async with probed(Options(epoch=40)) as (a, probe):
        await a.send("P", b"1")
        a.close("P")
        assert await probe.until_said(Close(conn=41)) == {data(1, conn=41), Close(conn=41)}
        assert a.stats().in_doubt == 1


@timed
async def test_a_restarted_endpoint_is_heard() -> None:
    """Its new connection ids are larger than those of its former life (U-B5)."""
    async with joined() as (a, b, relay):
        await a.send("B", b"before")
        await a.send("B", b"the restart")
        assert await heard(b, 2) == [b"before", b"the restart"]
        await a.aclose()
        async with await Unicast.open("A", QUICK) as again:
            await join(relay, again, b)
            assert await again.send("B", b"after") == 1
            assert await heard(b, 1) == [b"after"]
            await b.send("A", b"hello again")
            assert await heard(again, 1) == [b"hello again"]


@timed
async def test_a_restarted_receiver_goes_on_after_a_late_copy() -> None:
    """What its former life acknowledged is not requested for ever (U-B11)."""
    async with joined(options=Options(epoch=7)) as (a, b, relay):
        for n in (b"1", b"2"):
            await a.send("B", n)
        assert await heard(b, 2) == [b"1", b"2"]
        await a.flushed("B")
        await b.aclose()
        async with await Unicast.open("B", QUICK) as again:
            await join(relay, a, again)
            again.entries("A")[1].data(data(1, conn=8))
            assert await a.send("B", b"3") == 3
            assert await heard(again, 2) == [b"1", b"3"]
            assert await a.send("B", b"4") == 4
            assert await heard(again, 1) == [b"4"]
            await a.flushed("B")
            assert a.stats().in_doubt == 0


@timed
async def test_who_is_far_behind_asks_where_to_go_on() -> None:
    far = LARGEST_WINDOW + 10
    async with probed() as (a, probe):
        probe.say(data(1), data(far))
        await probe.until_said(SendFirst(conn=1))
        probe.say(data(far, first=True))
        assert await heard(a, 2) == [b"1", b"%d" % far]
        await probe.until_said(Ack(seqno=far, conn=1))
        assert "XmitReq" not in a.stats().messages_sent


# Ends and faults.


@timed
async def test_a_closed_endpoint_says_so() -> None:
    async with joined(replace(QUICK, window=1)) as (a, b, relay):
        await b.send("A", b"delivered before the end")
        await a.until(lambda: a.stats().delivered == 1)
        relay.cut("A>B")
        await a.send("B", b"1")
        waiting = asyncio.create_task(a.send("B", b"2"))
        await a.until(lambda: a.stats().messages_sent.get("Data", 0) >= 2)
        await a.aclose()
        with pytest.raises(EndpointClosed):
            await waiting
        with pytest.raises(EndpointClosed):
            await a.send("B", b"3")
        assert [payload async for _, payload in a.receive()] == [b"delivered before the end"]
        assert (a.stats().connections["B"].unacked, a.stats().in_doubt) == (0, 1)
        await a.aclose()


@timed
async def test_a_fault_ends_the_endpoint_and_is_told() -> None:
    def fail(_done: object) -> None:
        raise RuntimeError("an observer failed")

    async with joined() as (a, b, _):
        a.entries("B")[1].lawful.observe(fail)
        await b.send("A", b"1")
        with pytest.raises(EndpointClosed, match="failed") as caught:
            await heard(a, 1)
        assert isinstance(caught.value.__cause__, RuntimeError)


@timed
async def test_peers_and_payloads_are_checked() -> None:
    async with joined() as (a, _, _):
        with pytest.raises(KeyError):
            await a.send("nobody", b"")
        with pytest.raises(ValueError, match="a payload has at most 16777216 bytes, not 16777217"):
            await a.send("B", bytes(2**24 + 1))
        with pytest.raises(ValueError, match="name"):
            a.connect("", a.address)
        assert a.address[0] == LOOPBACK


@pytest.mark.parametrize(
    "wrong",
    [
        {"xmit_interval": 0.0},
        {"ack_interval": -1.0},
        {"conn_close_timeout": float("inf")},
        {"conn_expiry_timeout": -1.0},
        {"window": 0},
        {"window": LARGEST_WINDOW + 1},
        {"inbox": 0},
        {"largest_datagram": 70_000},
        {"most_messages": 0},
        {"largest_part": LONGEST_PAYLOAD},
        {"largest_payload": 0},
    ],
)
def test_settings_out_of_range_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Config(**wrong)


@pytest.mark.parametrize(("busy", "pause"), [(0.0, 0.5), (0.1, 0.5), (0.2, 0.8), (9.0, 10.0)])
def test_a_busy_endpoint_asks_less_often(busy: float, pause: float) -> None:
    assert Config(xmit_interval=0.5).pause(busy) == pause
