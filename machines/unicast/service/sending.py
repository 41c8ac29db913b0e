"""How a payload is sent: all its parts on one connection, or nothing of it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence

from ..declaration import Conn
from ..messages import Data
from .peer import Peer


class Sending:
    """Sends payloads of one or more parts."""

    def __init__(
        self,
        check: Callable[[Peer], None],
        wait_for_room: Callable[[Peer, Sequence[bytes]], Awaitable[None]],
        put: Callable[[Peer, Data], None],
        counts: Counter[str],
    ) -> None:
        """`check`: raises an error if nothing can be sent to the peer. `wait_for_room`: waits until
        a payload of these parts may begin, or raises an error. `put`: takes what the machine
        returned. `counts`: of what is `accepted`."""
        self._check = check
        self._wait_for_room = wait_for_room
        self._put = put
        self._counts = counts

    async def send(self, to: Peer, payload: bytes, parts: Sequence[bytes]) -> int:
        """Send all parts on one connection: its receiver delivers them together. Returns the number
        of the last one. One caller for a peer at a time.

        The window has to have room for the first part alone, since none of them is acknowledged
        before the last. Who is cancelled after the first part has been sent is so after the last
        one: a receiver would hold some parts back, and all that comes after them.
        """
        cancelled: asyncio.CancelledError | None = None
        conn = at = 0
        while at < len(parts):
            if at and cancelled is None:
                cancelled = await _others_have_their_turns()
            self._check(to)
            if at and (to.sender.state == Conn.CLOSED or to.sender.conn != conn):
                if cancelled is not None:
                    raise cancelled
                at = 0  # The connection ended, and its receiver has not got all.
            if at == 0:
                await self._wait_for_room(to, parts)
            data = to.sender.send(parts[at])
            conn, at = data.conn, at + 1
            self._put(to, data)
        number = to.sender.highest_sent
        self._counts["accepted"] += 1
        to.large.remember(number, len(parts), payload)
        if cancelled is not None:
            raise cancelled
        return number


async def _others_have_their_turns() -> asyncio.CancelledError | None:
    """Let the first parts leave, and others do what they have to; the error if the caller is
    cancelled meanwhile."""
    try:
        await asyncio.sleep(0)
    except asyncio.CancelledError as error:
        return error
    return None
