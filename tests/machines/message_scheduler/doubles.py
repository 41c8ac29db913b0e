"""What tests of the service use in place of peers and clients."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager

from lawful.machines.message_scheduler.declaration import ChannelId, Reason
from lawful.machines.message_scheduler.service.offering import Message, Offering
from lawful.machines.message_scheduler.service.responder import Behaviour, Responder, answer
from lawful.machines.message_scheduler.service.wire import LARGEST_HEAD, LONGEST_BODY, Frame, decode
from lawful.machines.services.framing import Frames

MESSAGE = Message("ledger", b"1", 30.0)


class Link:
    """A connection that keeps the frames."""

    def __init__(self) -> None:
        self.alive = True
        self.frames: list[Frame] = []
        self._frames = Frames(LARGEST_HEAD + LONGEST_BODY)

    def send(self, frame: bytes) -> None:
        self.frames += map(decode, self._frames.feed(frame))


class Client:
    """A sender and receiver that does what it is given on an offer, and notes every callback."""

    def __init__(self, considers: Callable[[Client, Offering], None] | None = None) -> None:
        self.heard: list[object] = []
        self._considers = considers

    def on_offer(self, offering: Offering) -> None:
        self.heard.append(("offer", offering.size))
        if self._considers is not None:
            self._considers(self, offering)

    def on_discard(self) -> None:
        self.heard.append("discard")

    def on_success(self, number: int, body: bytes) -> None:
        self.heard.append((number, body))

    def on_failure(self, number: int, reason: Reason) -> None:
        self.heard.append((number, reason))


def asks_first(client: Client, offering: Offering) -> None:
    """Send one request on the first channel."""
    offering.send_request(first(offering), MESSAGE, client)


def first(offering: Offering) -> ChannelId:
    return next(iter(offering))


def is_right(wanted: bytes, body: bytes) -> bool:
    return body == answer(MESSAGE.type, MESSAGE.body + wanted)


@contextmanager
def responding(*behaviours: Behaviour) -> Generator[dict[str, int], None, None]:
    """Peers "A", "B" and so on, in an event loop in a thread of its own; their ports."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    responders = [Responder(chr(65 + n), b, seed=n) for n, b in enumerate(behaviours)]

    async def opened() -> dict[str, int]:
        return {r.name: await r.open() for r in responders}

    async def closed() -> None:
        for responder in responders:
            responder.close()

    yield asyncio.run_coroutine_threadsafe(opened(), loop).result()
    asyncio.run_coroutine_threadsafe(closed(), loop).result()
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()
