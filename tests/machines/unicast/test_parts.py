"""Payloads in parts: large ones, and those that overtake others."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful.machines.unicast.declaration import Conn, ReceiverEntryFixed
from lawful.machines.unicast.messages import Ack, Close, Data, Dropped
from lawful.machines.unicast.service.large import Large
from lawful.machines.unicast.service.parts import Arrivals, cut, joined, overtakes
from lawful.machines.unicast.service.peer import Peer
from lawful.machines.unicast.service.run import gone
from lawful.machines.unicast.service.settings import Config, Options
from lawful.testing import SimulatedClock
from tests.machines.unicast import ends
from tests.machines.unicast.ends import QUICK, heard, probed, timed

SMALL = replace(QUICK, largest_part=10, largest_payload=1_000)


def data(seqno: int, payload: bytes, conn: int = 1) -> Data:
    return Data(seqno=seqno, conn=conn, first=seqno == 1, payload=payload)


@given(st.binary(max_size=50), st.integers(1, 20), st.booleans())
def test_parts_are_joined_to_what_was_cut(payload: bytes, size: int, ordered: bool) -> None:
    parts = cut(payload, size, ordered)
    assert joined(parts) == payload
    assert len(parts) == max(-(-len(payload) // size), 1)
    assert all(len(part) <= size + 1 for part in parts)
    assert any(map(overtakes, parts)) == (len(parts) == 1 and not ordered)
    if len(parts) > 1:
        assert joined(parts[1:]) is joined(parts[:-1]) is None


PAYLOADS = st.lists(st.tuples(st.binary(max_size=30), st.booleans()), max_size=6)


@given(PAYLOADS, st.randoms(use_true_random=False), st.integers(1, 3))
def test_in_any_order_each_payload_comes_once(
    payloads: list[tuple[bytes, bool]], draw: object, copies: int
) -> None:
    """Those in order come in order; the others as soon as they are there."""
    parts = [part for payload, ordered in payloads for part in cut(payload, 10, ordered)]
    come = [(number, part) for number, part in enumerate(parts, 1)] * copies
    draw.shuffle(come)  # type: ignore[attr-defined]  # of `random.Random`
    receiver = ReceiverEntryFixed()
    arrivals = Arrivals(receiver, most=3)
    got: list[bytes] = []
    for number, part in [(1, parts[0]), *come] if parts else ():
        is_new = arrivals.is_new(1, number)
        receiver.data(data(number, part))
        if is_new and overtakes(part):
            arrivals.overtake(number)
            got.append(part[1:])
            assert not arrivals.is_new(1, number)
        while count := arrivals.ready():
            payload = joined(arrivals.take(count))
            got += [] if payload is None else [payload]
    assert receiver.next == len(parts) + 1
    in_order = [p for p, ordered in payloads if ordered or len(p) > 10]
    early = [p for p, ordered in payloads if not ordered and len(p) <= 10]
    assert sorted(got) == sorted(in_order + early)
    for each in early:
        got.remove(each)
    if not set(early) & set(in_order):
        assert got == in_order
    assert arrivals.early == set()


@pytest.mark.parametrize(
    ("parts", "whole"),
    [
        ([b"\x00a", b"\x02b", b"\x03c"], [None, b"c"]),  # Nobody began it.
        ([b"\x01a", b"\x03b"], [None, b"b"]),  # It has no end.
        ([b"\x01a", b"\x00b", b"\x00c", b"\x00d", b"\x02e", b"\x03f"], [None, None, b"f"]),
    ],
)
def test_what_no_endpoint_sends_is_no_payload_and_blocks_none(
    parts: list[bytes], whole: list[bytes | None]
) -> None:
    """In the last case it has more parts than a payload may have."""
    receiver = ReceiverEntryFixed()
    arrivals = Arrivals(receiver, most=3)
    got: list[bytes | None] = []
    for number, part in enumerate(parts, 1):
        receiver.data(data(number, part))
        while count := arrivals.ready():
            got.append(joined(arrivals.take(count)))
    assert got == whole


def test_parts_may_be_forgotten_with_their_entry() -> None:
    """A removed entry keeps its connection and its next number, and nothing of what it held."""
    receiver = ReceiverEntryFixed()
    arrivals = Arrivals(receiver, most=3)
    receiver.data(data(1, b"\x01a"))
    assert arrivals.ready() == 0
    receiver.close_received(Close(conn=1))
    receiver.data(data(2, b"\x02b"))
    assert (receiver.next, arrivals.ready()) == (1, 0)
    receiver.data(data(1, b"\x01a"))
    assert joined(arrivals.take(2)) == b"ab"


def test_what_overtook_does_so_once_though_its_entry_was_removed() -> None:
    receiver = ReceiverEntryFixed()
    arrivals = Arrivals(receiver, most=3)
    receiver.data(data(1, b"\x03a"))
    assert joined(arrivals.take(1)) == b"a"
    receiver.data(data(3, b"\x07c"))
    arrivals.overtake(3)
    receiver.close_received(Close(conn=1))
    assert not arrivals.is_new(1, 3)
    for number, part in ((3, b"\x07c"), (2, b"\x03b")):
        receiver.data(data(number, part))
    assert [arrivals.take(1), arrivals.take(1)] == [[b"\x03b"], []]


def test_another_connection_forgets_what_overtook() -> None:
    receiver = ReceiverEntryFixed()
    arrivals = Arrivals(receiver, most=3)
    receiver.data(data(1, b"\x01a"))
    receiver.data(data(3, b"\x07c"))
    arrivals.overtake(3)
    assert not arrivals.is_new(1, 3)
    receiver.data(data(1, b"\x01a", conn=2))
    assert arrivals.is_new(2, 3)


@timed
async def test_a_payload_above_one_datagram_comes_whole() -> None:
    async with ends.joined(replace(QUICK, xmit_interval=0.02, ack_interval=0.02)) as (a, b, _):
        large = bytes(range(256)) * 2_000
        assert await a.send("B", large) == 9
        assert await a.send("B", b"small") == 10
        assert await heard(b, 2) == [large, b"small"]
        await a.flushed("B")
        assert (a.stats().accepted, b.stats().delivered) == (2, 2)


@timed
async def test_nothing_of_a_payload_is_acknowledged_before_it_is_there() -> None:
    async with probed(config=SMALL) as (a, probe):
        probe.say(data(1, b"\x01a"), data(2, b"\x00b"))
        await a.until(lambda: a.stats().messages_received.get("Data", 0) == 2)
        assert (a.entries("P")[1].next, a.stats().delivered) == (1, 0)
        probe.say(data(3, b"\x02c"))
        assert await heard(a, 1) == [b"abc"]
        assert a.entries("P")[1].next == 4


@timed
async def test_a_payload_that_is_too_large_here_is_counted() -> None:
    async with probed(config=SMALL) as (a, probe):
        assert a.stats().broken == 0
        probe.say(*(data(q, bytes((q == 1,)) + b"x") for q in range(1, 102)))
        probe.say(data(102, b"\x03next"))
        assert await heard(a, 1) == [b"next"]
        assert (a.stats().delivered, a.stats().broken) == (1, 2)


@timed
async def test_who_is_unordered_waits_for_nobody() -> None:
    async with probed(config=SMALL) as (a, probe):
        probe.say(data(1, b"\x031"), data(3, b"\x033"), data(4, b"\x074"), data(4, b"\x074"))
        assert await heard(a, 2) == [b"4", b"1"]
        probe.say(data(2, b"\x032"), data(4, b"\x074"))
        assert await heard(a, 2) == [b"2", b"3"]
        assert (a.entries("P")[1].next, a.stats().delivered) == (5, 4)


@timed
async def test_what_the_machine_does_not_take_overtakes_nobody() -> None:
    async with probed(config=SMALL) as (a, probe):
        probe.say(data(1, b"\x031", conn=5))
        assert await heard(a, 1) == [b"1"]
        probe.say(data(3, b"\x07of an older connection", conn=4))
        probe.say(data(2, b"\x032", conn=5))
        assert await heard(a, 1) == [b"2"]
        assert a.stats().delivered == 2


@timed
async def test_an_inbox_without_room_keeps_the_turn() -> None:
    async with probed(config=replace(SMALL, inbox=1)) as (a, probe):
        probe.say(data(1, b"\x031"))
        probe.say(data(3, b"\x073"))
        await a.until(lambda: a.stats().messages_received.get("Data", 0) == 2)
        probe.say(data(2, b"\x032"))
        assert await heard(a, 3) == [b"1", b"2", b"3"]


@timed
async def test_each_peer_that_an_inbox_has_no_room_for_has_its_turn() -> None:
    async with probed(config=replace(SMALL, inbox=1)) as (a, probe):
        for name in "QR":
            a.connect(name, ("127.0.0.1", 9))
        for name in "PQR":
            probe.say(data(1, b"\x03from " + name.encode()), source=name)
        await a.until(lambda: a.stats().messages_received.get("Data", 0) == 3)
        assert await heard(a, 3) == [b"from P", b"from Q", b"from R"]


@timed
async def test_who_is_cancelled_while_its_parts_leave_has_sent_them_all() -> None:
    """Otherwise B would hold back what comes after them."""
    async with ends.joined(SMALL) as (a, b, _):
        sending = asyncio.create_task(a.send("B", bytes(100)))
        while a.entries("B")[0].highest_sent < 2:
            await asyncio.sleep(0)
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
        assert a.entries("B")[0].highest_sent == 10
        assert await a.send("B", b"after") == 11
        assert await heard(b, 2) == [bytes(100), b"after"]
        await a.flushed("B")
        assert (a.stats().accepted, b.stats().broken) == (2, 0)


@timed
async def test_who_is_cancelled_as_the_connection_ends_sends_it_no_more() -> None:
    async with ends.joined(SMALL) as (a, b, _):
        sender = a.entries("B")[0]
        sending = asyncio.create_task(a.send("B", bytes(100)))
        while sender.highest_sent < 2:
            await asyncio.sleep(0)
        a.close("B")
        sender.lawful.fire_due(sender.lawful.next_deadline() or 0)
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
        assert (sender.state, a.stats().accepted) == (Conn.CLOSED, 0)
        await a.send("B", b"after")
        assert await heard(b, 1) == [b"after"]


@timed
async def test_who_is_cancelled_while_it_waits_for_room_has_sent_nothing() -> None:
    async with ends.joined(replace(SMALL, window=1)) as (a, b, _):
        await a.send("B", b"before")
        sending = asyncio.create_task(a.send("B", bytes(100)))
        await asyncio.sleep(0)
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
        assert await a.send("B", b"after") == 2
        assert await heard(b, 2) == [b"before", b"after"]
        assert a.stats().accepted == 2


@timed
async def test_a_connection_that_ends_within_a_payload_sends_it_again() -> None:
    async with ends.joined(SMALL) as (a, b, _):
        sender = a.entries("B")[0]
        ended: list[tuple[Dropped, Conn]] = []

        async def gives_up() -> None:
            """After the second part the connection is over."""
            while sender.highest_sent < 2:
                await asyncio.sleep(0)
            a.close("B")
            (fired,) = sender.lawful.fire_due(sender.lawful.next_deadline() or 0)
            ended.append((fired.output, sender.state))

        ending = asyncio.create_task(gives_up())
        assert await a.send("B", bytes(35)) == 4
        await ending
        ((dropped, state),) = ended
        assert ({each.seqno for each in dropped.in_doubt}, state) == ({1, 2}, Conn.CLOSED)
        assert sender.conn == 2
        assert await heard(b, 1) == [bytes(35)]


@timed
async def test_a_report_has_payloads_and_no_parts() -> None:
    reports: list[Dropped] = []
    options = Options(on_dropped=lambda _, dropped: reports.append(dropped))
    async with ends.joined(SMALL, options=options) as (a, _, relay):
        relay.cut("A>B", "B>A")
        assert [await a.send("B", each) for each in (b"1", bytes(25), b"2")] == [1, 4, 5]
        a.close("B")
        await gone(a, "B")
    (report,) = reports
    told = {each.seqno: each.payload for each in report.in_doubt}
    assert told == {1: b"1", 4: bytes(25), 5: b"2"}
    assert a.stats().in_doubt == 3


def test_a_payload_is_kept_until_it_is_acknowledged_or_reported() -> None:
    peer = Peer.at(("127.0.0.1", 1), "B", 0, SMALL, SimulatedClock())

    def sends(payload: bytes) -> None:
        numbers = [peer.sender.send(part).seqno for part in cut(payload, 10, ordered=True)]
        peer.large.remember(numbers[-1], len(numbers), payload)

    for length in (15, 5, 15):
        sends(bytes(length))
    two = {(1, 2): Large(1, 2, bytes(15), False), (1, 5): Large(4, 5, bytes(15), False)}
    assert peer.large.at == two
    peer.sender.ack(Ack(seqno=3, conn=1))
    assert peer.large.settled(most=2) is None
    sends(b"last")
    assert peer.large.at == {(1, 5): two[1, 5]}
    in_doubt = frozenset(data(q, peer.sender.window[q]) for q in (4, 5, 6))
    report = peer.large.whole(Dropped(conn=1, acked=3, in_doubt=in_doubt))
    assert report.in_doubt == {data(5, bytes(15)), data(6, b"last")}
    assert (report.conn, report.acked, peer.large.at) == (1, 3, {})


def test_the_payloads_of_a_connection_are_of_no_later_one() -> None:
    """Numbers begin again with each connection."""
    peer = Peer.at(("127.0.0.1", 1), "B", 0, SMALL, SimulatedClock())
    for part in cut(bytes(15), 10, ordered=True):
        peer.sender.send(part)
    peer.large.remember(2, 2, bytes(15))
    peer.sender.ack(Ack(seqno=2, conn=1))
    peer.sender.close()
    peer.sender.lawful.fire_due(peer.sender.lawful.next_deadline() or 0)
    for number, part in enumerate((b"\x03a", b"\x03b"), 1):
        peer.sender.send(part)
        in_doubt = frozenset({data(number, part, conn=2)})
        report = peer.large.whole(Dropped(conn=2, acked=number - 1, in_doubt=in_doubt))
        assert report.in_doubt == {data(number, part[1:], conn=2)}
    peer.large.remember(2, 1, b"b")
    peer.sender.send(b"\x03c")
    peer.large.at[1, 2] = Large(1, 2, b"of the first connection", False)
    peer.sender.ack(Ack(seqno=2, conn=2))
    assert peer.large.settled(most=1) is None
    peer.large.remember(3, 1, b"c")
    assert peer.large.at == {}


def test_the_window_has_room_for_the_parts_of_the_largest_payload() -> None:
    with pytest.raises(ValueError, match="at most 4096 together, not 97 and 4000"):
        Config(window=97, largest_part=1, largest_payload=4_000)
    assert Config(window=96, largest_part=1, largest_payload=4_000).most_parts == 4_000
