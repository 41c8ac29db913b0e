"""One connection of the service: whatever a peer says is counted, and does nobody else harm."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawful.machines.message_scheduler.service import MessageScheduler
from lawful.machines.message_scheduler.service.overlay import Session
from lawful.machines.message_scheduler.service.settings import Config
from lawful.machines.message_scheduler.service.wire import (
    Alive,
    Frame,
    Hello,
    Notification,
    Request,
    Response,
    encode,
)
from lawful.machines.services.round_robin import RoundRobin
from tests.machines.message_scheduler.doubles import Client, asks_first

CONFIG = Config(least=7, greatest=99, tolerated=2, longest_body=50, backlog=1_000)
HELLO = encode(Hello("A", 1))
COUNTS = frozenset({"malformed", "unexpected", "oversized", "unknown", "strays", "connected"})


class Pipe(asyncio.Transport):
    """A transport that keeps what is written, as one to a peer that does not read."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self._closing = False

    reading = True

    def pause_reading(self) -> None:
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True

    def write(self, data: Any) -> None:
        self.written += data

    def get_write_buffer_size(self) -> int:
        return len(self.written)

    def is_closing(self) -> bool:
        return self._closing

    def abort(self) -> None:
        self._closing = True


def said(*chunks: bytes, waiting: int = 0) -> tuple[dict[str, int], bool]:
    """The counts after a peer, known as A, has said this, and whether its connection stands.

    So many clients wait, each with one request."""

    async def talk() -> tuple[dict[str, int], bool]:
        scheduler, pipe = MessageScheduler(CONFIG), Pipe()
        for _ in range(waiting):
            scheduler.schedule(Client(asks_first))
        session = Session(scheduler, "A", CONFIG, RoundRobin())
        session.connection_made(pipe)
        for chunk in chunks:
            session.data_received(chunk)
        await asyncio.sleep(0)
        while session.incoming.unhandled and session.alive:
            await asyncio.sleep(0)
        alive = session.alive
        session.connection_lost(None)
        await asyncio.sleep(0)
        assert scheduler.stats().open + scheduler.stats().closed == 0
        scheduler.stop()
        return {k: n for k, n in scheduler.stats().counts.items() if n and k in COUNTS}, alive

    return asyncio.run(talk())


@pytest.mark.parametrize(
    ("said", "counts"),
    [
        (b"", {"mute": 1}),
        (HELLO[:-1], {"mute": 1}),
        (HELLO, {"connected": 1, "disconnected": 1}),
        (encode(Hello("B", 1)), {"unknown": 1}),
    ],
)
def test_a_peer_that_hangs_up_before_it_says_its_name_is_counted(
    said: bytes, counts: dict[str, int]
) -> None:
    async def talk() -> None:
        scheduler = MessageScheduler(CONFIG)
        session = Session(scheduler, "A", CONFIG, RoundRobin())
        session.connection_made(Pipe())
        session.data_received(said)
        await asyncio.sleep(0)
        session.connection_lost(None)
        await asyncio.sleep(0)
        assert {name: n for name, n in scheduler.stats().counts.items() if n} == counts
        scheduler.stop()

    asyncio.run(talk())


@pytest.mark.parametrize(
    ("frames", "counts", "alive"),
    [
        ([Hello("A", 1), Alive()], {"connected": 1}, True),
        ([Hello("B", 1)], {"unknown": 1}, False),
        ([Hello("A", 0)], {"unexpected": 1}, False),
        ([Hello("A", 65)], {"unexpected": 1}, False),
        ([Response(7, "ledger", b"")], {"unexpected": 1}, True),
        ([Hello("A", 1), Hello("A", 1)], {"connected": 1, "unexpected": 1}, True),
        (
            [Hello("A", 1), Response(8, "t", b"")],
            {"connected": 1, "strays": 1, "unexpected": 1},
            True,
        ),
        (
            [Hello("A", 1), *[Response(8, "t", b"")] * 9],
            {"connected": 1, "strays": 2, "unexpected": 3},
            False,
        ),
        ([Hello("A", 1), *[Notification("t", b"")] * 9], {"connected": 1, "unexpected": 3}, False),
        ([Hello("A", 1), Request(1, "t", b"")], {"connected": 1, "unexpected": 1}, True),
    ],
)
def test_each_frame_has_its_count(frames: list[Frame], counts: dict[str, int], alive: bool) -> None:
    assert said(b"".join(map(encode, frames))) == (counts, alive)


def test_malformed_frames_are_tolerated_and_oversized_ones_are_not() -> None:
    bad = b"\x00\x00\x00\x01\xff"
    assert said(HELLO + bad * 2) == ({"connected": 1, "malformed": 2}, True)
    assert said(HELLO + bad * 9) == ({"connected": 1, "malformed": 3}, False)
    assert said(HELLO + b"\xff" * 9) == ({"connected": 1, "oversized": 1}, False)


@settings(deadline=None, max_examples=40)
@given(st.booleans(), st.lists(st.binary(min_size=1, max_size=40), max_size=6))
def test_no_bytes_do_harm(greets: bool, chunks: list[bytes]) -> None:
    counts, _ = said(*[HELLO] * greets, *chunks, waiting=1)
    assert counts.get("connected", 0) <= 1
    assert sum(counts.values()) <= 1 + len(chunks) * 40


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_no_frames_do_harm(data: st.DataObject) -> None:
    texts, numbers = st.sampled_from(["A", "ledger", "t"]), st.integers(0, 12)
    frame = st.one_of(
        st.builds(Hello, texts, numbers),
        st.builds(Response, numbers, texts, st.binary(max_size=9)),
        st.builds(Request, numbers, texts, st.binary(max_size=9)),
        st.just(Alive()),
    )
    frames = data.draw(st.lists(frame, max_size=6))
    counts, _ = said(HELLO, *map(encode, frames), waiting=2)
    assert counts["connected"] == 1


def test_a_peer_that_does_not_read_is_given_up() -> None:
    async def talk() -> tuple[int, bool]:
        scheduler, pipe = MessageScheduler(CONFIG), Pipe()
        session = Session(scheduler, "A", CONFIG, RoundRobin())
        session.connection_made(pipe)
        session.data_received(HELLO)
        session.send(bytes(2_000))
        await asyncio.sleep(0)
        return scheduler.stats().counts["overrun"], session.alive

    assert asyncio.run(talk()) == (1, False)


def test_a_peer_that_floods_is_not_read_and_the_others_have_their_turn() -> None:
    """A flood of heartbeats has come before the Hello of another peer, which does not wait for it.

    What a peer has said before it hung up is handled all the same.
    """

    async def talk() -> list[object]:
        scheduler, turns = MessageScheduler(CONFIG), RoundRobin()
        pipes = Pipe(), Pipe()
        floods, greets = (Session(scheduler, name, CONFIG, turns) for name in "BA")
        for session, pipe in zip((floods, greets), pipes, strict=True):
            session.connection_made(pipe)
        floods.data_received(encode(Alive()) * 260_000)
        greets.data_received(HELLO)
        found: list[object] = [pipes[0].reading]
        await asyncio.sleep(0)
        found += [scheduler.stats().counts["connected"], floods.incoming.unhandled > 259_000]
        greets.data_received(encode(Alive()))
        greets.data_received(HELLO)
        greets.connection_lost(None)
        while not greets.lost.is_set():
            await asyncio.sleep(0)
        found += [scheduler.stats().counts["unexpected"], scheduler.stats().open]
        floods.close()
        floods.connection_lost(None)
        return [*found, floods.lost.is_set()]

    assert asyncio.run(talk()) == [False, 1, True, 1, 0, True]
