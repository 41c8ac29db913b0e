"""What an endpoint is about to send: one batch for each peer and turn of the event loop.

An endpoint hears in each datagram how many parts a payload may have there. It asks for that, too,
where it has refused a payload: the peer may have another life that takes more, and nothing to say.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable

from ..messages import Message
from .peer import Peer, to_wire
from .settings import Config
from .socket import Socket
from .wire import ASKS, Batch


class Outgoing:
    """Messages that wait for the end of the turn. `kinds`: how many were sent, by their kind."""

    def __init__(
        self,
        name: str,
        config: Config,
        socket: Socket,
        guarded: Callable[[Callable[[], None]], None],
    ) -> None:
        """`guarded`: runs an action, and does what is to be done if that fails."""
        self.kinds: Counter[str] = Counter()
        self._name = name
        self._config = config
        self._socket = socket
        self._guarded = guarded
        self._loop = asyncio.get_running_loop()
        self._unsent: dict[str, Peer] = {}
        self._asked: dict[str, Peer] = {}
        self._asking: dict[str, Peer] = {}
        self._flushing: asyncio.Handle | None = None
        self._over = False

    def add(self, peer: Peer, message: Message) -> None:
        """Send it in this turn of the event loop, after what was added before."""
        peer.outbox.append(message)
        self._unsent[peer.name] = peer
        self._flush_soon()

    def ask(self, peer: Peer) -> None:
        """Ask the peer how many parts a payload may have there, once in this turn."""
        self._asking[peer.name] = peer
        self._flush_soon()

    def answer(self, peer: Peer) -> None:
        """Tell the peer, which has asked, how many parts a payload may have here."""
        self._asked[peer.name] = peer
        self._flush_soon()

    def _flush_soon(self) -> None:
        if self._flushing is None:
            self._flushing = self._loop.call_soon(self._guarded, self.flush)

    def flush(self) -> None:
        """Send what was added, as one batch for each peer."""
        self._flushing = None
        unsent, self._unsent = self._unsent, {}
        asked, self._asked = self._asked, {}
        asking, self._asking = self._asking, {}
        if self._over:
            return
        for peer in asked.values():
            answer = Batch(self._name, peer.name, (), self._config.most_parts)
            self._socket.say(answer, peer.address)
        for peer in asking.values():
            self._socket.say(Batch(self._name, peer.name, (), ASKS), peer.address)
        for peer in unsent.values():
            self.kinds.update(type(message).__name__ for message in peer.outbox)
            messages = tuple(to_wire(message, peer.epoch) for message in peer.outbox)
            peer.outbox.clear()
            batch = Batch(self._name, peer.name, messages, self._config.most_parts)
            self._socket.send(batch, peer.address)

    def end(self) -> None:
        """Nothing more is sent."""
        self._over = True
