"""The TCP connections between a scheduler and its peers, in one event loop.

An `Overlay` dials each peer, again and again when the connection is lost, tells the scheduler of
peers that come and go and of their responses, and fires the scheduler's timers.

    with connected(scheduler, {"A": 7001, "B": 7002}):      # a thread of its own
        scheduler.schedule(sender)

    await Overlay(scheduler, {"A": 7001, "B": 7002}).run()  # in an event loop

Peers are on 127.0.0.1: nothing here is authenticated. Whatever a peer says is counted, and costs
nobody but this peer its connection.

Source: `message-scheduler.md`, demands R4, R6 and R36.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from functools import partial

from ...services import LOOPBACK
from ...services.framing import Frames, Oversized, WireError
from ..declaration import Peer
from .scheduler import MessageScheduler, Stopped
from .settings import Config
from .wire import LARGEST_HEAD, Alive, Hello, Response, decode


class Overlay:
    """Keeps a connection to each peer: names, and their ports on 127.0.0.1."""

    def __init__(
        self, scheduler: MessageScheduler, peers: Mapping[str, int], config: Config | None = None
    ) -> None:
        self._scheduler = scheduler
        self._peers = dict(peers)
        self._config = config or Config()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closing = asyncio.Event()
        self._sooner = asyncio.Event()
        self.opened = threading.Event()

    async def run(self) -> None:
        """Dial, listen and keep time until `close`; then all connections are closed."""
        loop = self._loop = asyncio.get_running_loop()
        self._scheduler.driven(lambda: _tell(loop, self._sooner))
        jobs = [self._keep(name, port) for name, port in self._peers.items()]
        tasks = [asyncio.create_task(job) for job in (self._keep_time(), *jobs)]
        self.opened.set()
        try:
            await self._closing.wait()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def close(self) -> None:
        """End `run`, from any thread, after `opened` is set."""
        if self._loop is not None:
            _tell(self._loop, self._closing)

    async def _keep(self, name: str, port: int) -> None:
        """Keep a connection to this peer."""
        loop = asyncio.get_running_loop()
        while True:
            session = Session(self._scheduler, name, self._config)
            dial = loop.create_connection(partial(_same, session), LOOPBACK, port)
            try:
                # Before Python 3.12, wait_for loses a cancellation that comes with a failed dial.
                async with asyncio.timeout(self._config.silence):
                    await dial
                await session.lost.wait()
            except (OSError, TimeoutError):
                self._scheduler.count("dials_failed")
            finally:
                session.close()
            await asyncio.sleep(self._config.redial)

    async def _keep_time(self) -> None:
        """Fire the scheduler's timers."""
        while True:
            self._sooner.clear()
            self._scheduler.fire_due()
            with suppress(TimeoutError):
                async with asyncio.timeout(self._scheduler.wait()):
                    await self._sooner.wait()


@contextmanager
def connected(
    scheduler: MessageScheduler, peers: Mapping[str, int], config: Config | None = None
) -> Generator[Overlay, None, None]:
    """Run an overlay in a thread of its own; at the end stop the scheduler and hang up."""
    overlay = Overlay(scheduler, peers, config)
    thread = threading.Thread(
        target=lambda: asyncio.run(overlay.run()), name="message scheduler", daemon=True
    )
    thread.start()
    overlay.opened.wait()
    try:
        yield overlay
    finally:
        scheduler.stop()
        overlay.close()
        thread.join()


def _same(session: Session) -> Session:
    return session


def _tell(loop: asyncio.AbstractEventLoop, event: asyncio.Event) -> None:
    with suppress(RuntimeError):  # The loop is closed: nobody waits any more.
        loop.call_soon_threadsafe(event.set)


class Session(asyncio.Protocol):
    """One connection to a peer, from its Hello to its end: the scheduler's `Link`."""

    def __init__(self, scheduler: MessageScheduler, name: str, config: Config) -> None:
        self.lost = asyncio.Event()
        self._scheduler = scheduler
        self._name = name
        self._config = config
        self._frames = Frames(LARGEST_HEAD + config.longest_body)
        self._peer: Peer | None = None
        self._faults = 0
        self._heard = 0.0
        self._outgoing: deque[bytes] = deque()
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._watch: asyncio.TimerHandle | None = None

    # What the scheduler calls, in any thread.

    @property
    def alive(self) -> bool:
        """Whether frames still go out."""
        return self._transport is not None and not self._transport.is_closing()

    def send(self, frame: bytes) -> None:
        """Send the frame, if the connection still stands."""
        self._outgoing.append(frame)
        with suppress(RuntimeError):  # The loop is closed, and so is the connection.
            self._loop.call_soon_threadsafe(self._flush)

    # What the event loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._heard = self._loop.time()
        self._watch = self._loop.call_later(self._config.silence, self._listen)

    def data_received(self, data: bytes) -> None:
        self._heard = self._loop.time()
        try:
            for content in self._frames.feed(data):
                if not self.alive:
                    return
                self._take(content)
        except Oversized:
            self._give_up("oversized")

    def connection_lost(self, exc: Exception | None) -> None:
        if self._watch is not None:
            self._watch.cancel()
        self._outgoing.clear()
        self.lost.set()
        if self._peer is not None:
            self._scheduler.disconnect(self._peer)

    def close(self) -> None:
        """Hang up; what was not yet sent is lost."""
        if self._transport is not None:
            self._transport.abort()

    # Frames.

    def _take(self, content: bytes) -> None:
        try:
            frame = decode(content)
        except WireError:
            self._fault("malformed")
            return
        match frame:
            case Hello() if self._peer is None:
                self._greet(frame)
            case Response(number=number, type=type, body=body) if self._peer is not None:
                self._scheduler.receive(self._peer, number, type, body)
            case Alive():
                pass
            case _:
                self._fault("unexpected")

    def _greet(self, hello: Hello) -> None:
        if hello.name != self._name:
            self._give_up("unknown")
            return
        try:
            self._peer = self._scheduler.connect(self, hello.name, hello.channels)
        except ValueError:
            self._give_up("unexpected")
        except Stopped:
            self.close()

    def _fault(self, what: str) -> None:
        """Count a frame that was not understood; too many end the connection."""
        self._faults += 1
        if self._faults > self._config.tolerated:
            self._give_up(what)
        else:
            self._scheduler.count(what)

    def _give_up(self, what: str) -> None:
        self._scheduler.count(what)
        self.close()

    def _listen(self) -> None:
        """Give up a peer that has been silent (R36)."""
        left = self._heard + self._config.silence - self._loop.time()
        if left <= 0:
            self._give_up("silent")
        else:
            self._watch = self._loop.call_later(left, self._listen)

    def _flush(self) -> None:
        if self._transport is None or not self._outgoing:
            return
        data = b"".join(self._outgoing)
        self._outgoing.clear()
        if not self._transport.is_closing():
            self._transport.write(data)
            if self._transport.get_write_buffer_size() > self._config.backlog:
                self._give_up("overrun")
