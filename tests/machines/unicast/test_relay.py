"""The bad network: what it does follows from its seed, and it counts what it did."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

import pytest

from lawful.machines.services import LOOPBACK
from lawful.machines.unicast.service.relay import (
    Address,
    Fates,
    Faults,
    Relay,
    RelayStats,
)
from tests.root import PATIENCE

T = TypeVar("T")
ALL = Faults(loss=0.1, duplicate=0.05, reorder=0.2, hold=0.01)


async def in_time(awaited: Awaitable[T]) -> T:
    return await asyncio.wait_for(awaited, PATIENCE)


class Ear(asyncio.DatagramProtocol):
    """A socket on loopback that keeps what it hears, in order."""

    def __init__(self) -> None:
        self.heard: asyncio.Queue[bytes] = asyncio.Queue()

    def datagram_received(self, data: bytes, addr: Address) -> None:
        self.heard.put_nowait(data)

    async def next(self, count: int) -> list[bytes]:
        return [await in_time(self.heard.get()) for _ in range(count)]


async def ear() -> tuple[asyncio.DatagramTransport, Ear, Address]:
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.create_datagram_endpoint(Ear, local_addr=(LOOPBACK, 0))
    return transport, protocol, transport.get_extra_info("sockname")


async def passed(faults: Faults, count: int, expected: int) -> tuple[list[bytes], RelayStats]:
    """What a target hears when `count` numbered datagrams are sent, after `expected` came."""
    transport, heard, address = await ear()
    with_relay = Relay(faults, seed=1)
    async with with_relay as relay:
        begin = await relay.path("A>B", address)
        for number in range(count):
            transport.sendto(b"%d" % number, begin)
        arrived = await heard.next(expected)
    transport.close()
    return arrived, with_relay.stats()


def fates(faults: Faults, seed: int = 1, label: str = "A>B", count: int = 2_000) -> list[int]:
    """How many copies leave, datagram by datagram."""
    sequence = Fates(faults, seed, label)
    return [len(sequence.next()) for _ in range(count)]


def test_the_same_seed_gives_the_same_fates() -> None:
    first, second = Fates(ALL, 7, "A>B"), Fates(ALL, 7, "A>B")
    assert [first.next() for _ in range(500)] == [second.next() for _ in range(500)]


def test_another_seed_or_path_gives_other_fates() -> None:
    assert fates(ALL, seed=1) != fates(ALL, seed=2)
    assert fates(ALL, label="A>B") != fates(ALL, label="B>A")


def test_fates_are_as_frequent_as_asked() -> None:
    copies = fates(ALL, count=20_000)
    assert abs(copies.count(0) / 20_000 - 0.1) < 0.01
    assert abs(copies.count(2) / 18_000 - 0.05) < 0.01
    sequence = Fates(ALL, 1, "A>B")
    delays = [delay for _ in range(20_000) for delay in sequence.next()]
    late = [delay for delay in delays if delay > 0]
    assert abs(len(late) / len(delays) - 0.2) < 0.01
    assert max(late) < ALL.hold


def test_more_loss_loses_what_less_loss_lost_and_changes_nothing_else() -> None:
    little, much = fates(Faults(loss=0.1, duplicate=0.3)), fates(Faults(loss=0.4, duplicate=0.3))
    assert all(b in (0, a) for a, b in zip(little, much, strict=True))


def test_without_faults_all_leave_once_and_at_once() -> None:
    sequence = Fates(Faults(), 1, "A>B")
    assert {sequence.next() for _ in range(1_000)} == {(0.0,)}


@pytest.mark.parametrize(
    "wrong",
    [{"loss": -0.1}, {"duplicate": 1.1}, {"reorder": 2.0}, {"hold": -1.0}, {"delay": float("inf")}],
)
def test_faults_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Faults(**wrong)


def test_a_good_network_passes_all_in_order() -> None:
    heard, stats = asyncio.run(passed(Faults(), 50, 50))
    assert heard == [b"%d" % n for n in range(50)]
    assert stats == RelayStats(received=50, forwarded=50)


def test_duplicates_are_counted() -> None:
    heard, stats = asyncio.run(passed(Faults(duplicate=1.0), 20, 40))
    assert heard == [b"%d" % (n // 2) for n in range(40)]
    assert stats == RelayStats(received=20, duplicated=20, forwarded=40)


def test_late_copies_are_overtaken() -> None:
    heard, stats = asyncio.run(passed(Faults(reorder=0.5, hold=0.05), 60, 60))
    assert sorted(heard, key=int) == [b"%d" % n for n in range(60)]
    overtaken = sum(int(x) < max(map(int, heard[: i + 1])) for i, x in enumerate(heard))
    assert stats.reordered == overtaken > 0
    assert (stats.received, stats.forwarded) == (60, 60)
    assert 0 < stats.delayed < 60


def test_what_comes_in_is_accounted_for() -> None:
    faults = Faults(loss=0.2, duplicate=0.2, reorder=0.3, hold=0.02)
    expected = sum(fates(faults, count=80))
    heard, stats = asyncio.run(passed(faults, 80, expected))
    assert stats.dropped > 0
    assert stats.duplicated > 0
    assert stats.received - stats.dropped + stats.duplicated == stats.forwarded == len(heard)
    assert (stats.waiting, stats.unsent) == (0, 0)


def test_a_cut_path_passes_nothing_until_mended() -> None:
    async def scenario() -> None:
        transport, heard, address = await ear()
        async with Relay(Faults(), seed=1) as relay:
            begin = await relay.path("A>B", address)
            relay.cut("A>B")
            transport.sendto(b"lost", begin)
            while relay.stats().received < 1:
                await asyncio.sleep(0)
            relay.mend("A>B")
            transport.sendto(b"heard", begin)
            assert await heard.next(1) == [b"heard"]
            assert relay.stats("A>B") == RelayStats(received=2, cut=1, forwarded=1)
        transport.close()

    asyncio.run(in_time(scenario()))


def test_a_path_can_be_given_another_target() -> None:
    async def scenario() -> None:
        one_transport, one, one_address = await ear()
        two_transport, two, two_address = await ear()
        async with Relay(Faults(), seed=1) as relay:
            begin = await relay.path("A>B", one_address)
            one_transport.sendto(b"1", begin)
            assert await one.next(1) == [b"1"]
            assert await relay.path("A>B", two_address) == begin
            one_transport.sendto(b"2", begin)
            assert await two.next(1) == [b"2"]
        one_transport.close()
        two_transport.close()

    asyncio.run(in_time(scenario()))


def test_closing_drops_and_counts_what_still_waits() -> None:
    async def scenario() -> RelayStats:
        transport, _, address = await ear()
        async with Relay(Faults(delay=3600.0), seed=1) as relay:
            begin = await relay.path("A>B", address)
            transport.sendto(b"late", begin)
            while relay.stats().waiting < 1:
                await asyncio.sleep(0)
        transport.close()
        relay.close()
        return relay.stats()

    stats = asyncio.run(in_time(scenario()))
    assert stats == RelayStats(received=1, delayed=1, unsent=1)


def test_paths_are_on_loopback_alone() -> None:
    async def scenario() -> Address:
        async with Relay(Faults(), seed=1) as relay:
            return await relay.path("A>B", (LOOPBACK, 9))

    assert asyncio.run(scenario())[0] == "127.0.0.1"
