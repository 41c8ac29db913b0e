"""Endpoints that take payloads of different sizes, in a simulated network: who sends more than the
other takes is told, before or after; and nothing is lost in silence."""

from __future__ import annotations

import asyncio
import hmac
import zlib
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from lawful.machines.unicast.declaration import Conn
from lawful.machines.unicast.messages import Ack, Data, Dropped
from lawful.machines.unicast.service import Unicast
from lawful.machines.unicast.service.settings import Config, Options
from lawful.machines.unicast.service.wire import ASKS, Batch, encode, encode_message
from lawful.runtime.simulation.datagrams import LOOPBACK, Datagrams
from lawful.runtime.simulation.event_loop import SimulatedLoop
from lawful.runtime.simulation.network import Network
from lawful.runtime.simulation.turns import World
from tests.machines.simulated_runs import play
from tests.machines.unicast.told import Act, Told, data, says, sends, told

KEY = b"the key of all endpoints"
PORTS = {"A": 7_001, "B": 7_002}
LARGE = Config(
    xmit_interval=0.010,
    ack_interval=0.020,
    conn_expiry_timeout=1.0,
    conn_close_timeout=0.5,
    window=8,
    largest_part=10,
    largest_payload=200,
)
SMALL = replace(LARGE, largest_payload=40)  # Four parts.


class Ends:
    """A and B, one life after another, and what their applications saw. A datagram takes 1 ms."""

    def __init__(self) -> None:
        self.world = World(seed=1, limit=60.0)
        self.datagrams = Datagrams(self.world)
        self.datagrams.faults.latency = (0.001, 0.001)
        self.loop = SimulatedLoop(self.world, Network(self.world), self.datagrams)
        self.got: dict[str, list[bytes]] = {"A": [], "B": []}
        self.reports: list[Dropped] = []
        self.lives: list[Unicast] = []
        self._jobs: set[asyncio.Task[None]] = set()

    async def open(self, name: str, config: Config, key: bytes = b"") -> Unicast:
        """A life of the endpoint of this name, which knows the other one."""
        options = Options(epoch=1_000 * (len(self.lives) + 1), on_dropped=self._hear, key=key)
        end = await Unicast.open(name, config, options, PORTS[name])
        self.lives.append(end)
        for other, port in PORTS.items():
            if other != name:
                end.connect(other, (LOOPBACK, port))
        job = self.loop.create_task(self._listen(end))
        self._jobs.add(job)
        job.add_done_callback(self._jobs.discard)
        return end

    async def kill(self, end: Unicast) -> None:
        """It ends, and says nothing of it."""
        self.datagrams.cut(PORTS[end.name])
        await end.aclose()
        self.datagrams.mend(PORTS[end.name])

    @property
    def lost(self) -> list[tuple[int, bytes]]:
        """What was reported, in order: the numbers and payloads."""
        return [(d.seqno, d.payload) for report in self.reports for d in sorted_of(report)]

    def _hear(self, _: str, report: Dropped) -> None:
        self.reports.append(report)

    async def _listen(self, end: Unicast) -> None:
        async for _, payload in end.receive():
            self.got[end.name].append(payload)


def sorted_of(report: Dropped) -> list[Data]:
    return sorted(report.in_doubt, key=lambda data: data.seqno)


def simulated(test: Callable[[Ends], Awaitable[None]]) -> Callable[[], None]:
    """The test in a world of its own."""

    def run() -> None:
        ends = Ends()

        async def story() -> None:
            await asyncio.wait_for(test(ends), 30.0)
            for end in ends.lives:
                await end.aclose()

        play(ends.world, ends.loop, story())

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return run


@simulated
async def test_who_sends_more_than_the_other_takes_is_told(ends: Ends) -> None:
    """A has not heard yet how much B takes."""
    a, b = await ends.open("A", replace(LARGE, window=20)), await ends.open("B", SMALL)
    assert await a.send("B", b"before") == 1
    assert await a.send("B", bytes(100)) == 11
    assert await a.send("B", bytes(50)) == 16
    assert await a.send("B", b"after") == 17
    await a.flushed("B")
    assert ends.got["B"] == [b"before", b"after"]
    assert b.stats().broken == 5
    assert ends.lost == [(11, bytes(100)), (16, bytes(50))]
    assert [len(report.in_doubt) for report in ends.reports] == [2]  # In one datagram.
    assert (a.stats().in_doubt, a.stats().too_large, a.stats().accepted) == (2, 2, 4)


@simulated
async def test_who_has_heard_how_much_the_other_takes_is_refused(ends: Ends) -> None:
    """A has heard it from what B sent: the connection the other way is enough."""
    a, b = await ends.open("A", LARGE), await ends.open("B", SMALL)
    await b.send("A", b"hello")
    await b.flushed("A")
    what = "^B takes payloads of at most 4 parts, here 40 bytes, not 5 parts, 41 bytes$"
    with pytest.raises(ValueError, match=what):
        await a.send("B", bytes(41))
    assert (a.stats().accepted, a.stats().connections["B"].sent) == (0, 0)
    assert await a.send("B", bytes(40)) == 4
    await a.flushed("B")
    assert ends.got == {"A": [b"hello"], "B": [bytes(40)]}
    assert (ends.lost, b.stats().broken, a.stats().too_large) == ([], 0, 0)


@simulated
async def test_who_takes_less_sends_what_it_may(ends: Ends) -> None:
    a, b = await ends.open("A", SMALL), await ends.open("B", LARGE)
    for size in (40, 5, 40):
        await a.send("B", bytes(size))
    with pytest.raises(ValueError, match="at most 40 bytes, not 41"):
        await a.send("B", bytes(41))
    await a.flushed("B")
    assert ends.got["B"] == [bytes(40), bytes(5), bytes(40)]
    assert (ends.lost, b.stats().broken) == ([], 0)


@simulated
async def test_a_payload_of_the_largest_size_comes(ends: Ends) -> None:
    a, b = await ends.open("A", LARGE), await ends.open("B", LARGE)
    for size in (200, 200):
        await a.send("B", bytes(size))
        await a.flushed("B")
    assert ends.got["B"] == [bytes(200)] * 2
    assert (ends.lost, b.stats().broken) == ([], 0)


@simulated
async def test_all_that_one_ack_covers_and_the_other_does_not_take_is_told(ends: Ends) -> None:
    """What came whole among them is not."""
    a, _ = await ends.open("A", replace(LARGE, window=50)), await ends.open("B", SMALL)
    for size in (50, 40, 60):
        await a.send("B", bytes(size))
    await a.flushed("B")
    assert ends.got["B"] == [bytes(40)]
    assert ends.lost == [(5, bytes(50)), (15, bytes(60))]
    assert [report.acked for report in ends.reports] == [0]


@simulated
async def test_a_life_that_takes_less_is_heard(ends: Ends) -> None:
    """What the life before it has acknowledged is not in doubt."""
    a, b = await ends.open("A", LARGE), await ends.open("B", LARGE)
    await a.send("B", bytes(100))
    await a.flushed("B")
    await ends.kill(b)
    b = await ends.open("B", SMALL)
    assert await a.send("B", bytes(99)) == 20  # As far as A knows, B takes it.
    await a.flushed("B")
    assert ends.lost == [(20, bytes(99))]
    with pytest.raises(ValueError, match="B takes payloads of at most 4 parts"):
        await a.send("B", bytes(98))
    assert ends.got["B"] == [bytes(100)]


@simulated
async def test_a_life_that_takes_more_is_heard(ends: Ends) -> None:
    a, b = await ends.open("A", LARGE), await ends.open("B", SMALL)
    await a.send("B", b"small")
    await a.flushed("B")
    await ends.kill(b)
    b = await ends.open("B", LARGE)
    with pytest.raises(ValueError, match="B takes payloads of at most 4 parts"):
        await a.send("B", bytes(100))  # As far as A knows, B does not take it.
    await b.send("A", b"I am another")
    await b.flushed("A")
    await a.send("B", bytes(100))
    await a.flushed("B")
    assert ends.got == {"A": [b"I am another"], "B": [b"small", bytes(100)]}
    assert ends.lost == []


@simulated
async def test_what_was_heard_is_over_with_the_connections(ends: Ends) -> None:
    """Otherwise who only has large payloads for B would never hear that it takes more now."""
    a, b = await ends.open("A", LARGE), await ends.open("B", SMALL)
    await a.send("B", b"small")
    await a.flushed("B")
    await b.aclose()
    b = await ends.open("B", LARGE)
    with pytest.raises(ValueError, match="B takes payloads of at most 4 parts"):
        await a.send("B", bytes(100))
    a.close("B")
    await a.until(lambda: a.stats().connections["B"].sending == Conn.CLOSED)
    await a.send("B", bytes(100))
    await a.flushed("B")
    assert ends.got["B"] == [b"small", bytes(100)]
    assert ends.lost == []


@simulated
async def test_who_is_connected_again_is_asked_anew(ends: Ends) -> None:
    """The application knows that the other one is a new life."""
    a, b = await ends.open("A", LARGE), await ends.open("B", SMALL)
    await a.send("B", b"small")
    await a.flushed("B")
    await ends.kill(b)
    b = await ends.open("B", LARGE)
    a.connect("B", b.address)
    await a.send("B", bytes(100))
    await a.flushed("B")
    assert ends.got["B"] == [b"small", bytes(100)]
    assert ends.lost == []


@simulated
async def test_who_waits_for_the_window_hears_meanwhile_how_much_the_other_takes(
    ends: Ends,
) -> None:
    a, _ = await ends.open("A", replace(LARGE, window=1)), await ends.open("B", SMALL)
    await a.send("B", b"small")
    with pytest.raises(ValueError, match="B takes payloads of at most 4 parts"):
        await a.send("B", bytes(100))
    assert a.stats().connections["B"].sent == 1


@simulated
async def test_who_is_refused_hears_that_another_life_takes_more(ends: Ends) -> None:
    """Its connections are not over, and B has nothing to say by itself."""
    a, b = await ends.open("A", LARGE), await ends.open("B", SMALL)
    await b.send("A", b"hello")
    await b.flushed("A")
    await ends.kill(b)
    with pytest.raises(ValueError, match="at most 4 parts"):
        await a.send("B", bytes(100))  # Nobody is there to answer.
    b = await ends.open("B", LARGE)
    for _ in range(2):
        with pytest.raises(ValueError, match="at most 4 parts"):
            await a.send("B", bytes(100))
    await asyncio.sleep(0.003)
    assert b.stats().datagrams_sent == 1  # Both asked in one turn.
    assert await a.send("B", bytes(100)) == 10
    await a.flushed("B")
    assert (ends.got["B"], ends.lost) == ([bytes(100)], [])


@simulated
async def test_a_question_is_answered_once_and_is_no_limit(ends: Ends) -> None:
    a, b = await ends.open("A", LARGE), await ends.open("B", LARGE)
    await a.send("B", b"hello")
    await asyncio.sleep(0.1)  # All is said.
    before = a.stats().datagrams_sent, b.stats().datagrams_sent
    ends.datagrams.send(ends.loop, encode(Batch("B", "A", (), ASKS)), PORTS["B"], PORTS["A"])
    await asyncio.sleep(0.05)
    assert (a.stats().datagrams_sent, b.stats().datagrams_sent) == (before[0] + 1, before[1])
    assert (a.stats().malformed, b.stats().malformed) == (0, 0)
    assert await a.send("B", bytes(100)) == 11


@pytest.mark.parametrize("key", [b"", KEY])
def test_an_older_version_of_the_format_is_counted_and_not_taken(key: bytes) -> None:
    """Nobody knows how much its sender takes."""
    hello = Data(seqno=1, conn=9, first=True, payload=b"\x03hello")
    content = b"\x01B\x01A\x00\x01" + encode_message(hello)
    seal = hmac.digest(key, content, "sha256")[:16] if key else _checksum(content)
    older = (b"LU3\x04" if key else b"LU3\x03") + seal + content

    @simulated
    async def refused(ends: Ends) -> None:
        a = await ends.open("A", LARGE, key)
        ends.datagrams.send(ends.loop, older, PORTS["B"], PORTS["A"])
        await a.until(lambda: a.stats().datagrams_received == 1)
        assert (a.stats().malformed, a.stats().forged, a.stats().delivered) == (1, 0, 0)
        newer = encode(Batch("B", "A", (hello,), 1), key)
        ends.datagrams.send(ends.loop, newer, PORTS["B"], PORTS["A"])
        await a.until(lambda: a.stats().delivered == 1)
        assert (a.stats().malformed, a.stats().forged) == (1, 0)

    refused()


def _checksum(content: bytes) -> bytes:
    return zlib.crc32(content).to_bytes(4, "big")


# What P says by hand, and under which limit.

FIFTEEN = b"2 parts of this"
TWENTY_FIVE = b"and of this one are three"


def reports(*says_when: Act) -> list[str]:
    """What the application is told after it sent three payloads, in parts 1 and 2, 3, 4 to 6, and P
    has said this: "8 [P has 0, ...]" at 8 ms."""
    scene = told((0, sends(FIFTEEN, b"x", TWENTY_FIVE)), *says_when)
    lines = (line.partition(": ") for line in scene.story)
    return [
        f"{at} {what[what.index('[P') :].partition(']')[0]}]"
        for at, _, what in lines
        if "[P" in what
    ]


def acks(number: int, most_parts: int) -> Callable[[Told], object]:
    return says(Ack(seqno=number, conn=1), most_parts=most_parts)


def test_an_ack_counts_under_the_limit_that_comes_with_it() -> None:
    """Whatever the limits before and after it."""
    assert reports((5, acks(6, 3))) == []
    assert reports((5, acks(6, 2))) == [f"5 [P has 3, in doubt: {TWENTY_FIVE.decode()}]"]
    assert reports((5, acks(3, 2)), (6, acks(6, 3)), (7, acks(6, 1))) == []
    both = f"[P has 0, in doubt: {FIFTEEN.decode()} {TWENTY_FIVE.decode()}]"
    assert reports((5, acks(6, 1))) == [f"5 {both}"]
    assert reports((4, says(*data(1), most_parts=1)), (5, acks(6, 3))) == []


def test_what_two_lives_have_taken_a_part_of_each_is_told_once() -> None:
    """The life that takes one part has acknowledged the first; the other one knows of the rest."""
    one = f"[P has 0, in doubt: {FIFTEEN.decode()}]"
    assert reports((5, acks(1, 1)), (7, acks(6, 3)), (8, acks(6, 1))) == [f"7 {one}"]
    assert reports((5, acks(1, 1)), (7, acks(3, 3)), (8, acks(6, 3))) == [f"7 {one}"]
    other = f"[P has 3, in doubt: {TWENTY_FIVE.decode()}]"
    assert reports((5, acks(5, 3)), (7, acks(6, 3))) == [f"7 {other}"]


def test_what_nobody_acknowledges_to_the_end_is_told_when_the_connection_is_over() -> None:
    given_up = f"[P has 5, in doubt: {TWENTY_FIVE.decode()}]"
    told_later = reports((5, acks(5, 3)), (6, Told.close), (100, Told.look))
    assert told_later == [f"80 {given_up}"]


def test_what_is_acknowledged_while_its_parts_are_sent_is_told_after_them() -> None:
    """P acknowledges the first part before the second one has left."""

    def sends_and_is_acknowledged(scene: Told) -> None:
        scene.send(FIFTEEN)
        scene.loop.call_soon(scene.unicast.entries("P")[0].ack, Ack(1, 1))

    scene = told((0, sends_and_is_acknowledged), (5, acks(2, 4)))
    assert scene.story == [
        f"0: [sent {FIFTEEN.decode()} as 2], data 1 of 1 first, data 2 of 1",
        f"5: <ack 2 of 1, [P has 0, in doubt: {FIFTEEN.decode()}]",
    ]


def test_a_payload_is_refused_under_the_last_limit() -> None:
    def refused(*limits: int) -> bool:
        at = enumerate(limits, 1)
        heard = [(n, says(*data(n), most_parts=limit)) for n, limit in at]
        scene = told(*heard, (9, sends(TWENTY_FIVE)))
        return any("[refused" in line for line in scene.story)

    assert [refused(), refused(3), refused(2), refused(2, 3), refused(3, 2)] == [
        False,
        False,
        True,
        False,
        True,
    ]
