"""The socket of an endpoint: it sends batches, and judges the datagrams that come."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import cast

from ...services import LOOPBACK
from .relay import Address
from .settings import Config
from .wire import Batch, Forged, WireError, decode, encode, pack


class Socket(asyncio.DatagramProtocol):
    """`counts`: `datagrams_sent` and `datagrams_received`; of these the ones that were dropped,
    `malformed`, `forged` and `misdirected`; and `send_errors`: UDP may lose, so they are counted
    and nothing else."""

    def __init__(
        self, name: str, config: Config, key: bytes, on_batch: Callable[[Batch], None]
    ) -> None:
        """`on_batch`: called with each batch for the endpoint `name`."""
        self.counts: Counter[str] = Counter()
        self._name = name
        self._config = config
        self._key = key
        self._on_batch = on_batch
        self._transport: asyncio.DatagramTransport | None = None

    async def open(self, port: int) -> None:
        """Bind it to this port of 127.0.0.1, or to a free one for 0. Errors: OSError, which names
        both."""
        loop = asyncio.get_running_loop()
        try:
            await loop.create_datagram_endpoint(lambda: self, local_addr=(LOOPBACK, port))
        except OSError as error:
            what = f"{LOOPBACK} port {port}: {error.strerror or error}"
            raise OSError(error.errno, what) from error

    @property
    def address(self) -> Address:
        """Where datagrams for it are to be sent."""
        assert self._transport is not None
        return cast("Address", self._transport.get_extra_info("sockname"))

    def send(self, batch: Batch, address: Address) -> None:
        """Send the batch, in as many datagrams as its messages need."""
        limits = self._config.largest_datagram, self._config.most_messages
        for datagram in pack(batch, *limits, self._key):
            self._send_one(datagram, address)

    def say(self, batch: Batch, address: Address) -> None:
        """Send a batch without messages."""
        self._send_one(encode(batch, self._key), address)

    def _send_one(self, datagram: bytes, address: Address) -> None:
        assert self._transport is not None
        self.counts["datagrams_sent"] += 1
        self._transport.sendto(datagram, address)

    def close(self) -> None:
        """Close it after what was sent; more than once is no harm."""
        if self._transport is not None:
            self._transport.close()

    # What the event loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.DatagramTransport", transport)

    def datagram_received(self, data: bytes, addr: Address) -> None:
        assert self._transport is not None
        if self._transport.is_closing():
            return
        self.counts["datagrams_received"] += 1
        try:
            batch = decode(data, self._key)
        except Forged:
            self.counts["forged"] += 1
        except WireError:
            self.counts["malformed"] += 1
        else:
            if batch.target == self._name:
                self._on_batch(batch)
            else:
                self.counts["misdirected"] += 1

    def error_received(self, exc: Exception) -> None:
        self.counts["send_errors"] += 1
