"""A peer of a scheduler: a TCP server on 127.0.0.1 that answers requests, well or badly.

    responder = Responder("A", Behaviour(delay=0.01), seed=1)
    port = await responder.open()           # until responder.close()

How it answers is drawn for each request from its seed: at once, late, wrongly, twice, never, or it
hangs up. `answer` is what a truthful response to a request contains.
"""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass

from ...services.framing import Frames, WireError
from ...services.peers import GARBAGE, OVERSIZED, Connection, Peer, check_fates, drawn
from .wire import (
    LARGEST_HEAD,
    LONGEST_BODY,
    Alive,
    Frame,
    Hello,
    Notification,
    Request,
    Response,
    decode,
    encode,
)


def answer(type: str, body: bytes) -> bytes:
    """The truthful response: it depends on the type and the body of the request alone."""
    return hashlib.blake2b(type.encode() + b"/" + body, digest_size=16).digest() + body


@dataclass(frozen=True)
class Behaviour:
    """How a peer answers; probabilities in [0, 1], which add up to 1 at most, times in seconds.

    Of each request it draws one of the `FATES`, or answers it after `delay`. `heartbeat`: between
    two signs of life, 0 for none. Errors: ValueError.
    """

    channels: int = 2
    delay: float = 0.0
    late: float = 0.0
    lateness: float = 1.0
    never: float = 0.0
    wrong_id: float = 0.0
    wrong_type: float = 0.0
    twice: float = 0.0
    garbage: float = 0.0
    oversized: float = 0.0
    hang_up: float = 0.0
    heartbeat: float = 1.0

    def __post_init__(self) -> None:
        check_fates(self, FATES)
        if min(self.delay, self.lateness, self.heartbeat) < 0:
            raise ValueError("times are >= 0")


# What may become of a request.
FATES = {
    "late": "an answer after the lateness",
    "never": "no answer",
    "wrong_id": "an answer with another number",
    "wrong_type": "an answer of another type",
    "twice": "two answers",
    "garbage": "a frame of no kind",
    "oversized": "a length beyond all limits",
    "hang_up": "the connection is closed",
}


class Responder(Peer["_Talk"]):
    """A peer. `counts` has what came (`requests`, `notifications`, `malformed`) and each fate."""

    def __init__(self, name: str, behaviour: Behaviour, seed: int = 0) -> None:
        """Errors: ValueError for a name, or a number of channels, that no Hello has room for."""
        encode(Hello(name, behaviour.channels))
        super().__init__(name, seed)
        self.behaviour = behaviour

    def connect(self) -> _Talk:
        return _Talk(self)

    def fate(self) -> str:
        """What happens to the next request."""
        return drawn(self.random, self.behaviour, FATES)


class _Talk(Connection):
    """One connection of a scheduler to this peer."""

    def __init__(self, responder: Responder) -> None:
        super().__init__(responder)
        self._responder = responder
        self._frames = Frames(LARGEST_HEAD + LONGEST_BODY)
        self._loop = asyncio.get_running_loop()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._say(Hello(self._responder.name, self._responder.behaviour.channels))
        self._beat()

    def data_received(self, data: bytes) -> None:
        counts = self._responder.counts
        try:
            for content in self._frames.feed(data):
                match decode(content):
                    case Request() as request:
                        counts["requests"] += 1
                        self._react(request)
                    case Notification():
                        counts["notifications"] += 1
                    case _:
                        counts["malformed"] += 1
        except WireError:
            counts["malformed"] += 1
            self.hang_up()

    def _react(self, request: Request) -> None:
        fate = self._responder.fate()
        self._responder.counts[fate] += 1
        if fate == "hang_up":
            self.hang_up()
        elif fate == "late":
            self._loop.call_later(self._responder.behaviour.lateness, self._answer, request, fate)
        elif fate != "never":
            self._loop.call_later(self._responder.behaviour.delay, self._answer, request, fate)

    def _answer(self, request: Request, fate: str) -> None:
        number, type = request.number, request.type
        response = Response(number, type, answer(type, request.body))
        match fate:
            case "wrong_id":
                self._say(Response(number ^ 1, type, b"of another request"))
            case "wrong_type":
                self._say(Response(number, f"no {type}"[:64], b"of another type"))
            case "garbage":
                self.write(GARBAGE)
            case "oversized":
                self.write(OVERSIZED)
            case "twice":
                self._say(response)
                self._say(response)
            case _:
                self._say(response)

    def _beat(self) -> None:
        every = self._responder.behaviour.heartbeat
        if self.alive and every > 0:
            self._say(Alive())
            self._loop.call_later(every, self._beat)

    def _say(self, frame: Frame) -> None:
        self.write(encode(frame))
