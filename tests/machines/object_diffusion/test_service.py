"""The node's service in simulated worlds: whatever peers do, each object that an honest one offers
comes, once, and nothing else; and the refusals of its frames."""

from __future__ import annotations

import asyncio
import contextlib
import random
import signal
import sqlite3
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful.cli import main as lawful
from lawful.machines.object_diffusion.messages import ObjectId, Request, RequestObjects
from lawful.machines.object_diffusion.service import Node, OutboundPeer, SqlitePool, program
from lawful.machines.object_diffusion.service.demonstration import body_of
from lawful.machines.object_diffusion.service.demonstration import judged as judged_file
from lawful.machines.object_diffusion.service.outbound import FATES, Behaviour
from lawful.machines.object_diffusion.service.program import main
from lawful.machines.object_diffusion.service.settings import Config, Options
from lawful.machines.object_diffusion.service.wire import decode, encode, name_of
from lawful.machines.services.framing import WireError
from lawful.runtime.instance import Machine
from lawful.runtime.journal import Journal
from lawful.runtime.simulation.event_loop import SimulatedLoop
from lawful.runtime.simulation.network import Network
from lawful.runtime.simulation.turns import World
from tests.machines.drawn import same_journal
from tests.root import PATIENCE

CONFIG = Config(
    redundancy=2, outstanding=8, inflight_per_peer=3, inflight_total=5, ids_per_request=4,
    reply_timeout=2, redial=0.3, greeting=2.0,
)  # fmt: skip
WANTED = [b"object %d" % n for n in range(30)]


class Seen:
    """What one run did, as seen from outside of the node."""

    def __init__(self) -> None:
        self.added: list[ObjectId] = []
        self.most = 0
        self.fates: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        self.kept = 0


class Slow(SqlitePool):
    """A pool that takes its time, and notes what it adds."""

    def __init__(self, seen: Seen) -> None:
        super().__init__(":memory:")
        self.seen = seen

    async def add(self, x: ObjectId, body: bytes) -> str:
        await asyncio.sleep(0.02)
        outcome = await super().add(x, body)
        if outcome == "added":
            self.seen.added.append(x)
        return outcome


def simulated(seed: int) -> Seen:
    """An honest peer and two bad ones, which are good from second 10 on; half a minute."""
    world, seen, draw = World(seed, limit=200.0), Seen(), random.Random(seed)
    network = Network(world)
    loop = SimulatedLoop(world, network)
    share: dict[str, Any] = {fate: draw.choice((0.0, 0.05)) for fate in FATES}
    peers = [OutboundPeer("C"), *(OutboundPeer(n, Behaviour(**share), seed) for n in "AB")]

    def heard(request: Request) -> None:
        if isinstance(request, RequestObjects):
            seen.most = max(seen.most, len(request.ids))

    async def live() -> None:
        pool = Slow(seen)
        for port, peer in enumerate(peers, 1):
            peer.heard = heard
            await peer.open(port)
        node = Node(pool, {"C": 1, "A": 2, "B": 3}, CONFIG, Options(clock=world))
        running = asyncio.create_task(node.run())
        for body in WANTED:
            for peer in peers:
                peer.offer(body)
            await asyncio.sleep(draw.uniform(0.0, 0.6))
            if draw.random() < 0.2:
                network.cut(draw.randint(1, 3))
        for peer in peers:
            peer.behaviour = Behaviour()
        await asyncio.sleep(15.0)
        seen.counts, seen.kept = node.counts, node.waiting
        node.close()
        await running
        pool.close()
        for peer in peers:
            seen.fates += peer.counts
            peer.close()

    world.start(lambda: loop.run_until_complete(live()), "event loop")
    try:
        world.run()
    finally:
        loop.close()
    return seen


def judged(seed: int) -> Seen:
    """A run that keeps every promise."""
    seen = simulated(seed)
    assert sorted(seen.added) == sorted(map(name_of, WANTED)), f"seed {seed}"
    assert seen.most <= CONFIG.inflight_per_peer
    assert (seen.kept, seen.fates["complaints"], seen.fates["malformed"]) == (0, 0, 0)
    return seen


def test_each_offered_object_comes_once_whatever_peers_do() -> None:
    assert judged(0).counts["added"] == len(WANTED)


@pytest.mark.nightly
def test_every_fault_happens_and_does_no_harm() -> None:
    fates, counts = Counter[str](), Counter[str]()
    for seed in range(6):
        seen = judged(seed)
        fates += seen.fates
        counts += seen.counts
    assert set(FATES) <= set(fates)
    assert {"refused", "invalid", "malformed", "oversized", "silent"} <= set(counts)


def test_the_page_shows_the_journal_of_an_object(tmp_path: Path) -> None:
    world = World(1)
    loop = SimulatedLoop(world, Network(world, latency=(0.0, 0.001)))

    async def download(journal: Journal) -> None:
        peer, pool = OutboundPeer("A"), SqlitePool(":memory:")
        peer.offer(b"one")
        await peer.open(1)
        node = Node(pool, {"A": 1}, Config(ids_per_request=2), Options("node", world, journal))
        running = asyncio.create_task(node.run())
        await asyncio.sleep(1.0)
        node.close()
        await running
        assert len(pool) == 1
        pool.close()
        peer.close()

    with Journal(tmp_path / "j") as journal:
        world.start(lambda: loop.run_until_complete(download(journal)), "event loop")
        world.run()
    loop.close()
    same_journal(tmp_path / "j")


@pytest.mark.nightly
def test_the_demo_kills_the_node_and_a_peer_and_all_comes_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--objects", "300", "--faults", "0.2", "--kill", "--seed", "1", "--seconds", "300"]
    journal = tmp_path / "events.jsonl"
    assert main(["demo", *words, "--journal", str(journal)]) == 0
    said = capsys.readouterr().out
    assert "killed: peer B, and the node with " in said
    assert "\npool: 300 objects, 0 missing, 0 twice, 0 foreign, 0 under another ID\n" in said
    module = "lawful.machines.object_diffusion.registry"
    assert lawful(["replay", str(journal), module, "--engine", "local", "--quiet"]) == 0


def test_the_demo_judges_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async def fill() -> None:
        pool = SqlitePool(tmp_path / "pool")
        for each in (body_of(0), body_of(1), b"foreign"):
            await pool.add(name_of(each), each)
        pool.close()

    asyncio.run(fill())
    assert not judged_file(tmp_path / "pool", 3)
    said = "pool: 3 objects, 1 missing, 0 twice, 1 foreign, 0 under another ID\n"
    assert capsys.readouterr().out == said


def test_an_invalid_object_among_several_costs_the_peer_alone() -> None:
    async def download() -> Counter[str]:
        pool = SqlitePool(":memory:")
        bad = OutboundPeer("A", Behaviour(invalid=1.0))
        for body in WANTED[:5]:
            bad.offer(body)
        node = Node(pool, {"A": await bad.open()}, Config(redial=60.0))
        running = asyncio.create_task(node.run())
        async with asyncio.timeout(PATIENCE):
            while not node.counts["disconnected"] and not running.done():
                await asyncio.sleep(0.01)
        node.close()
        await running
        bad.close()
        pool.close()
        return node.counts

    assert asyncio.run(download()) == {"connected": 1, "invalid": 1, "disconnected": 1}


@given(st.binary(max_size=80))
def test_bytes_are_a_frame_that_encodes_to_them_or_an_error(content: bytes) -> None:
    with contextlib.suppress(WireError):
        frame = decode(content)
        assert encode(frame) == len(content).to_bytes(4, "big") + content


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "byte 0: expected a kind of 1 bytes, the frame ends"),
        (b"\x09", "byte 0: no frame is of kind 9"),
        (b"\x01\x02\x01A", "byte 1: expected version 1, found 2"),
        (b"\x02\x02\x00\x00\x00\x01", "byte 1: expected 0 or 1, found 2"),
        (b"\x04\xff\xff", "byte 1: expected at most 1000 IDs, found 65535"),
        (b"\x04\x00\x00\x00", "byte 3: 1 bytes after the end"),
    ],
)
def test_an_error_says_where_and_what_was_expected(content: bytes, message: str) -> None:
    with pytest.raises(WireError) as error:
        decode(content)
    assert str(error.value) == message


class Full:
    """A journal whose disk is full after so many rows."""

    def __init__(self, rows: int) -> None:
        self.left = rows

    def attach(self, entry: Machine, instance: str) -> Callable[[], None]:
        return entry.lawful.observe(self._row)

    def _row(self, _: object) -> None:
        self.left -= 1
        if self.left < 0:
            raise OSError("no space left")


@pytest.mark.parametrize("rows", [0, 1, 2, 3, 5, 7, 9, 11])
def test_a_node_whose_journal_fails_ends_whatever_it_did(rows: int) -> None:
    """The event loop keeps quiet about an OSError of a connection; the node would wait for ever."""

    async def download() -> None:
        peer = OutboundPeer("A")
        peer.offer(b"one")
        config = Config(redial=60.0, reply_timeout=2**31)
        node = Node(
            SqlitePool(":memory:"), {"A": await peer.open()}, config, Options(journal=Full(rows))
        )
        async with asyncio.timeout(PATIENCE):
            with pytest.raises(OSError, match="no space left"):
                await node.run()
        peer.close()

    asyncio.run(download())


def test_an_object_above_the_longest_costs_its_peer_the_connection() -> None:
    async def download() -> tuple[Counter[str], list[bool]]:
        pool = SqlitePool(":memory:")
        peer = OutboundPeer("A")
        bodies = [bytes(100), bytes(101)]
        config = Config(redial=60.0, longest_object=100, ids_per_request=1)
        names = [peer.offer(body) for body in bodies]
        node = Node(pool, {"A": await peer.open()}, config)
        running = asyncio.create_task(node.run())
        async with asyncio.timeout(PATIENCE):
            while not node.counts["disconnected"] and len(pool) < 2:
                await asyncio.sleep(0.01)
        node.close()
        await running
        peer.close()
        return node.counts, [pool.has(name) for name in names]

    counts, held = asyncio.run(download())
    assert counts == {"connected": 1, "added": 1, "oversized": 1, "disconnected": 1}
    assert held == [True, False]


@pytest.mark.parametrize("name", ["", "x" * 256])
def test_a_peer_has_a_name_that_it_can_say(name: str) -> None:
    with pytest.raises(ValueError, match="a name has 1 to 255 bytes of UTF-8"):
        OutboundPeer(name)


def test_a_file_that_is_no_pool_is_named(tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / "pool")) as other:
        other.execute("CREATE TABLE objects (id)")
    with pytest.raises(sqlite3.OperationalError, match="pool: no such column: body"):
        SqlitePool(tmp_path / "pool")
    with pytest.raises(sqlite3.OperationalError, match="none/pool: unable to open database file"):
        SqlitePool(tmp_path / "none" / "pool")


def test_a_pool_keeps_its_objects_and_drops_the_oldest(tmp_path: Path) -> None:
    async def fill() -> list[str]:
        pool = SqlitePool(tmp_path / "pool", most=2)
        wrong = await pool.add(name_of(b"x"), b"y")
        made = [await pool.add(name_of(b), b) for b in (b"1", b"2", b"2", b"3")]
        pool.close()
        return [wrong, *made]

    assert asyncio.run(fill()) == ["invalid", "added", "added", "known", "added"]
    again = SqlitePool(tmp_path / "pool")
    assert [again.body(name_of(b)) for b in (b"1", b"2", b"3")] == [None, b"2", b"3"]
    again.close()


def test_two_nodes_add_to_one_pool(tmp_path: Path) -> None:
    async def fill() -> list[str]:
        one, two = SqlitePool(tmp_path / "pool"), SqlitePool(tmp_path / "pool")
        made = [await pool.add(name_of(b"x"), b"x") for pool in (one, two, two)]
        made.append(await two.add(name_of(b"y"), b"y"))
        one.close()
        two.close()
        return made

    assert asyncio.run(fill()) == ["added", "known", "known", "added"]
    both = SqlitePool(tmp_path / "pool")
    assert (len(both), both.body(name_of(b"x")), both.body(name_of(b"y"))) == (2, b"x", b"y")
    both.close()


def test_the_program_says_what_it_cannot_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["peer", "A", "--never", "0.6", "--late", "0.6"]) == 5
    assert capsys.readouterr().out.startswith(
        "lawful run object_diffusion: probabilities are >= 0 and add up to 1 at most"
    )


class Interrupted(Node):
    """A signal comes as soon as it runs."""

    async def run(self) -> None:
        signal.raise_signal(signal.SIGTERM)
        await super().run()


def test_a_node_that_is_interrupted_says_what_came(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(program, "Node", Interrupted)
    words = ["node", "A=1", "--objects=5", f"--pool={tmp_path / 'pool'}", f"--seconds={PATIENCE}"]
    assert main(words) == 1
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("objects: 0 of 5 in ")
    assert said[0].endswith(" s, 0 were here")
