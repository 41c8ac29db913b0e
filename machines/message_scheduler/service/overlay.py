"""The TCP connections between a scheduler and its peers, in one event loop.

An `Overlay` dials each peer, again and again when the connection is lost, tells the scheduler of
peers that come and go and of their responses, and fires the scheduler's timers.

    with connected(scheduler, {"A": 7001, "B": 7002}):      # a thread of its own
        scheduler.schedule(sender)

    await Overlay(scheduler, {"A": 7001, "B": 7002}).run()  # in an event loop

Peers are on 127.0.0.1: nothing here is authenticated. Whatever a peer says is counted, and costs
nobody but this peer its connection. What peers have said is handled by turns (`RoundRobin`): who
says much does not keep the others waiting.

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
from ...services.errors import on_error
from ...services.framing import Frames, WireError
from ...services.incoming import Come, Incoming
from ...services.round_robin import RoundRobin
from ..declaration import Peer
from .scheduler import MessageScheduler, Stopped
from .settings import Config
from .wire import LARGEST_HEAD, Alive, Hello, Response, decode

UNHANDLED = 250_000  # Bytes of one peer; nothing more is read while so many wait.


class Overlay:
    """Keeps a connection to each peer: names, and their ports on 127.0.0.1."""

    def __init__(
        self, scheduler: MessageScheduler, peers: Mapping[str, int], config: Config | None = None
    ) -> None:
        self._scheduler = scheduler
        self._peers = dict(peers)
        self._config = config or Config()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._turns = RoundRobin()
        self._closing = asyncio.Event()
        self._sooner = asyncio.Event()
        self.opened = threading.Event()
        self.failed: Exception | None = None  # What has ended `run` before `close`.

    async def run(self) -> None:
        """Dial, listen and keep time until `close`, or `fail`, or until the scheduler's journal
        fails. Then all connections are closed."""
        loop = self._loop = asyncio.get_running_loop()
        self._scheduler.driven(lambda: _tell(loop, self._sooner))
        jobs = [self._keep(name, port) for name, port in self._peers.items()]
        tasks = [asyncio.create_task(job) for job in (self._keep_time(), *jobs)]
        for task in tasks:
            task.add_done_callback(self._ended)
        self.opened.set()
        try:
            await self._closing.wait()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _ended(self, task: asyncio.Task[None]) -> None:
        """A job ends when it is cancelled, or fails."""
        error = None if task.cancelled() else task.exception()
        if isinstance(error, Exception):
            self.fail(error)

    def fail(self, error: Exception) -> None:
        """End `run` because of this."""
        self.failed = self.failed or error
        self._closing.set()

    def close(self) -> None:
        """End `run`, from any thread, after `opened` is set."""
        if self._loop is not None:
            _tell(self._loop, self._closing)

    async def _keep(self, name: str, port: int) -> None:
        """Keep a connection to this peer."""
        loop = asyncio.get_running_loop()
        while True:
            session = Session(self._scheduler, name, self._config, self._turns)
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
    """Run an overlay in a thread of its own; at the end stop the scheduler and hang up.

    Errors: at the end, the journal's, which has ended the overlay (`Overlay.failed`).
    """
    overlay = Overlay(scheduler, peers, config)

    async def run() -> None:
        on_error(asyncio.get_running_loop(), overlay.fail)
        await overlay.run()

    thread = threading.Thread(target=lambda: asyncio.run(run()), name="message scheduler")
    thread.daemon = True
    thread.start()
    overlay.opened.wait()
    try:
        yield overlay
    finally:
        try:
            scheduler.stop()
        finally:
            overlay.close()
            thread.join()
    if overlay.failed is not None:
        raise overlay.failed


def _same(session: Session) -> Session:
    return session


def _tell(loop: asyncio.AbstractEventLoop, event: asyncio.Event) -> None:
    with suppress(RuntimeError):  # The loop is closed: nobody waits any more.
        loop.call_soon_threadsafe(event.set)


class Session(asyncio.Protocol):
    """One connection to a peer, from its Hello to its end: the scheduler's `Link`."""

    def __init__(
        self, scheduler: MessageScheduler, name: str, config: Config, turns: RoundRobin
    ) -> None:
        self.lost = asyncio.Event()
        self._scheduler = scheduler
        self._name = name
        self._config = config
        frames = Frames(LARGEST_HEAD + config.longest_body)
        self.incoming = Incoming(frames, UNHANDLED, turns, self._handle)
        self._peer: Peer | None = None
        self._hung_up = False
        self._faults = 0
        self._owed = 0  # Responses that may still come: one for each message.
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
        self.incoming.begin(transport)
        self._watch = self._loop.call_later(self._config.silence, self._listen)

    def data_received(self, data: bytes) -> None:
        self.incoming.feed(data)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._watch is not None:
            self._watch.cancel()
        self._outgoing.clear()
        if self.incoming and not self._hung_up:
            self.incoming.put(None)
        else:
            self._end()

    def close(self) -> None:
        """Hang up; what was not yet sent, or handled, is lost."""
        self._hung_up = True
        if self._transport is not None:
            self._transport.abort()

    def _end(self) -> None:
        self.lost.set()
        if self._peer is not None:
            self._scheduler.disconnect(self._peer)
        elif not self._hung_up:
            self._scheduler.count("mute")

    # What has come.

    def _handle(self, come: Come) -> None:
        try:
            if come is None:
                self._end()
            elif self._hung_up:
                pass
            elif isinstance(come, bytes):
                self._take(come)
            else:
                self._give_up("oversized")
        except BaseException:
            self.close()
            raise

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
            case Response() if self._peer is not None:
                self._respond(self._peer, frame)
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

    def _respond(self, peer: Peer, response: Response) -> None:
        """Hand it on; more responses than messages are not as they should be."""
        if self._owed > 0:
            self._owed -= 1
        else:
            self._fault("unexpected")
        if not self._hung_up:
            self._scheduler.receive(peer, response.number, response.type, response.body)

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
        left = self.incoming.heard() + self._config.silence - self._loop.time()
        if left <= 0:
            self._give_up("silent")
        else:
            self._watch = self._loop.call_later(left, self._listen)

    def _flush(self) -> None:
        if self._transport is None or not self._outgoing:
            return
        self._owed += len(self._outgoing)
        data = b"".join(self._outgoing)
        self._outgoing.clear()
        if not self._transport.is_closing():
            self._transport.write(data)
            if self._transport.get_write_buffer_size() > self._config.backlog:
                self._give_up("overrun")
