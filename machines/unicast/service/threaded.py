"""An endpoint for threads: a `Unicast` in an event loop that has a thread of its own.

    with ThreadedUnicast("A", port=7001) as a:
        a.connect("B", ("127.0.0.1", 7002))
        a.send("B", b"hello")
        for peer, payload in a.receive(): ...

Any thread may call any method, except in `Options.on_dropped`, which runs in the event loop: there
each raises RuntimeError, as it would wait for itself.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator
from typing import TypeVar

from .endpoint import EndpointClosed, Unicast
from .relay import Address
from .settings import Config, EndpointStats, Options

T = TypeVar("T")


class ThreadedUnicast:
    """The methods of `Unicast`, each of which returns when it is done. Errors: theirs."""

    def __init__(
        self,
        name: str,
        config: Config | None = None,
        options: Options | None = None,
        port: int = 0,
    ) -> None:
        """Opens at once. Errors: as of `Unicast.open`."""
        self._loop = asyncio.new_event_loop()
        self._lock = threading.Lock()
        self._stopped = False
        self._left: deque[tuple[str, bytes]] = deque()  # Delivered, and not taken before the stop.
        self._fault: EndpointClosed | None = None
        self._thread = threading.Thread(target=self._loop.run_forever, name=f"unicast {name}")
        self._thread.daemon = True
        self._thread.start()
        try:
            self._endpoint = self._result(lambda: Unicast.open(name, config, options, port))
        except BaseException:
            self._end()
            raise

    def __enter__(self) -> ThreadedUnicast:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def address(self) -> Address:
        """Where datagrams for this endpoint are to be sent."""
        return self._asked(lambda: self._endpoint.address)

    def connect(self, peer: str, address: Address) -> None:
        """Make `peer` known, or tell its new address."""
        self._asked(lambda: self._endpoint.connect(peer, address))

    def send(
        self, peer: str, payload: bytes, timeout: float | None = None, *, ordered: bool = True
    ) -> int:
        """Take a payload for `peer`, as `Unicast.send` does. Waits while the window is full, at
        most so many seconds: then TimeoutError, and the payload was not taken."""

        async def sent() -> int:
            async with asyncio.timeout(timeout):
                return await self._endpoint.send(peer, payload, ordered=ordered)

        return self._result(sent)

    def receive(self) -> Iterator[tuple[str, bytes]]:
        """The payloads delivered, each with the peer that sent it, until `stop`: then what was
        delivered before it. Several threads share them: each payload goes to one."""
        came = self._endpoint.receive()
        while True:
            try:
                got = self._result(lambda: _next(came))
            except EndpointClosed:
                break
            if got is None:
                break
            yield got
        while self._left:
            yield self._left.popleft()
        if self._fault is not None:
            raise self._fault

    def flushed(self, peer: str, timeout: float | None = None) -> None:
        """Wait until `peer` acknowledged all that was sent to it, or it was reported in doubt; at
        most so many seconds, then TimeoutError."""

        async def flushed() -> None:
            async with asyncio.timeout(timeout):
                await self._endpoint.flushed(peer)

        self._result(flushed)

    def close(self, peer: str) -> None:
        """Begin to close the connection to `peer`."""
        self._asked(lambda: self._endpoint.close(peer))

    def disconnect(self, peer: str) -> None:
        """Close the connection to `peer`, wait until it is gone, and forget the peer."""
        self._result(lambda: self._endpoint.disconnect(peer))

    def view(self, members: Collection[str]) -> None:
        """Tell which peers are members now."""
        self._asked(lambda: self._endpoint.view(members))

    def stats(self) -> EndpointStats:
        """Counters and states as of now; also after `stop`."""
        with self._lock:
            if self._stopped:
                self._thread.join()
                return self._endpoint.stats()
        return self._asked(self._endpoint.stats)

    def stop(self) -> None:
        """Close the endpoint, as `Unicast.aclose`. Who waits gets EndpointClosed. Again is no
        harm."""
        self._check_thread()
        with self._lock:
            first, self._stopped = not self._stopped, True
        if first:
            asyncio.run_coroutine_threadsafe(self._closed(), self._loop).result()
            self._end()
        self._thread.join()

    async def _closed(self) -> None:
        """Close the endpoint, see everybody out, and keep what nobody has taken."""
        await self._endpoint.aclose()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        await asyncio.gather(*others, return_exceptions=True)
        try:
            async for got in self._endpoint.receive():
                self._left.append(got)
        except EndpointClosed as fault:
            self._fault = fault

    def _end(self) -> None:
        """End the event loop and its thread."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _check_thread(self) -> None:
        if threading.current_thread() is self._thread:
            raise RuntimeError("the event loop of the endpoint does not wait for itself")

    def _result(self, work: Callable[[], Awaitable[T]]) -> T:
        """The result of what is done in the event loop. Errors: EndpointClosed after `stop`."""

        async def done() -> T:
            return await work()

        self._check_thread()
        with self._lock:
            if self._stopped:
                raise EndpointClosed("the endpoint was stopped")
            future = asyncio.run_coroutine_threadsafe(done(), self._loop)
        return future.result()

    def _asked(self, act: Callable[[], T]) -> T:
        """The same of what does not wait."""

        async def asked() -> T:
            return act()

        return self._result(asked)


async def _next(came: AsyncIterator[tuple[str, bytes]]) -> tuple[str, bytes] | None:
    return await anext(came, None)
