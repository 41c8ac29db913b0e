"""An outbound peer: a TCP server on 127.0.0.1 that announces and sends objects, well or badly.

    peer = OutboundPeer("A", Behaviour(late=0.1), seed=1)
    peer.offer(b"an object")
    port = await peer.open()            # until peer.close()

The machine `Outbound` judges the requests: a node that makes an error loses its connection. How the
peer answers a request is drawn from its seed.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

from ...services.framing import Frames, WireError
from ...services.peers import GARBAGE, OVERSIZED, Connection, Peer, check_fates, drawn
from ..connection import Complaint, Outbound, ReplyIds
from ..messages import ObjectId, Request, RequestIds, RequestObjects
from .wire import Frame, Hello, Objects, decode, encode, name_of

# What may become of a request.
FATES = {
    "late": "an answer after the lateness",
    "never": "no answer, and then nothing more",
    "unheld": "an object is announced that is not there; another body comes for it later",
    "duplicate": "an ID twice",
    "too_many": "more IDs than requested",
    "other": "other objects than requested",
    "invalid": "bodies that do not belong to the IDs",
    "wrong_kind": "the reply to another kind of request",
    "flood": "100 replies to nothing",
    "garbage": "a frame of no kind",
    "oversized": "a length beyond all limits",
    "hang_up": "the connection is closed",
}
LONGEST_REQUEST = 16_003  # Bytes: 1,000 IDs.
MOST_REQUESTS = 1_000  # Of one node, without a reply.


@dataclass(frozen=True)
class Behaviour:
    """How a peer answers; probabilities in [0, 1], which add up to 1 at most, times in seconds.

    Of each request it draws one of the `FATES`, or answers it after `delay`. Errors: ValueError.
    """

    outstanding: int = 100
    delay: float = 0.0
    lateness: float = 1.0
    late: float = 0.0
    never: float = 0.0
    unheld: float = 0.0
    duplicate: float = 0.0
    too_many: float = 0.0
    other: float = 0.0
    invalid: float = 0.0
    wrong_kind: float = 0.0
    flood: float = 0.0
    garbage: float = 0.0
    oversized: float = 0.0
    hang_up: float = 0.0

    def __post_init__(self) -> None:
        check_fates(self, FATES)
        if min(self.delay, self.lateness) < 0 or self.outstanding < 1:
            raise ValueError("times are >= 0, and `outstanding` is at least 1")


class OutboundPeer(Peer["_Talk"]):
    """A peer. `counts` has what came (`requests`, `malformed`, `complaints` of the machine), and
    each fate; `heard` the requests for objects, if somebody listens."""

    def __init__(self, name: str, behaviour: Behaviour | None = None, seed: int = 0) -> None:
        """Errors: ValueError for a name that no Hello has room for."""
        encode(Hello(name))
        super().__init__(name, seed)
        self.behaviour = behaviour or Behaviour()
        self.objects: dict[ObjectId, bytes] = {}
        self.heard: Callable[[Request], None] | None = None

    def connect(self) -> _Talk:
        return _Talk(self)

    def offer(self, body: bytes) -> ObjectId:
        """Announce one more object to all nodes; its ID."""
        x = name_of(body)
        self.objects[x] = body
        for talk in tuple(self.connections):
            talk.serve()
        return x

    def fate(self) -> str:
        """What happens to the next request."""
        return drawn(self.random, self.behaviour, FATES)


class _Talk(Connection):
    """One connection of a node to this peer: requests are answered one after the other."""

    def __init__(self, peer: OutboundPeer) -> None:
        super().__init__(peer)
        self._owner = peer
        self._machine = Outbound(max_num_objects_outstanding=peer.behaviour.outstanding)
        self._frames = Frames(LONGEST_REQUEST)
        self._requests: deque[Request] = deque()
        self._told = 0  # Objects that were announced.
        self._busy = False  # Answers a request later, or never.
        self._loop = asyncio.get_running_loop()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._say(Hello(self._owner.name))

    def connection_lost(self, exc: Exception | None) -> None:
        self._requests.clear()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        try:
            for content in self._frames.feed(data):
                request = decode(content)
                if not isinstance(request, RequestIds | RequestObjects):
                    raise WireError("byte 0: expected a request")
                if len(self._requests) == MOST_REQUESTS:
                    raise WireError(f"more than {MOST_REQUESTS} requests wait")
                self._requests.append(request)
        except WireError:
            self._owner.counts["malformed"] += 1
            self.hang_up()
        self.serve()

    def serve(self) -> None:
        """Begin with the next request, if there is something to answer."""
        while self._requests and not self._busy and self.alive:
            request = self._requests[0]
            if isinstance(request, RequestIds):
                complaint = self._machine.about(request)
                if complaint == Complaint.NONE and request.blocking and not self._news(1):
                    return
            self._requests.popleft()
            self._owner.counts["requests"] += 1
            if self._owner.heard is not None:
                self._owner.heard(request)
            self._react(request)

    def _news(self, most: int) -> tuple[ObjectId, ...]:
        return tuple(islice(self._owner.objects, self._told, self._told + most))

    def _react(self, request: Request) -> None:
        fate, behaviour = self._owner.fate(), self._owner.behaviour
        self._owner.counts[fate] += 1
        if fate == "hang_up":
            self.hang_up()
            return
        wait = behaviour.lateness if fate == "late" else behaviour.delay
        self._busy = fate == "never" or wait > 0
        if fate != "never":
            if wait > 0:
                self._loop.call_later(wait, self._later, request, fate)
            else:
                self._answer(request, fate)

    def _later(self, request: Request, fate: str) -> None:
        self._busy = False
        if self.alive:
            self._answer(request, fate)
            self.serve()

    def _answer(self, request: Request, fate: str) -> None:
        if isinstance(request, RequestIds):
            reply: Frame = self._ids(request, fate)
        else:
            reply = self._objects(request, fate)
        if self._machine.complaint != Complaint.NONE:
            self._owner.counts["complaints"] += 1
            self.hang_up()
            return
        if fate == "garbage":
            self.write(GARBAGE)
        elif fate == "oversized":
            self.write(OVERSIZED)
        elif fate == "wrong_kind":
            self._say(Objects(()) if isinstance(reply, ReplyIds) else ReplyIds(()))
        else:
            self._say(reply)
            for _ in range(100 * (fate == "flood")):
                self._say(ReplyIds(()))

    def _ids(self, request: RequestIds, fate: str) -> ReplyIds:
        if self._machine.about(request) != Complaint.NONE:
            return self._machine.announce(request, ())
        if fate == "unheld":
            return self._machine.announce(request, (self._invented(),))
        ids = self._news(request.count)
        self._told += len(ids)
        reply = self._machine.announce(request, ids)
        if fate == "duplicate":
            return ReplyIds((*ids, *(ids[-1:] or (self._invented(),) * 2)))
        if fate == "too_many":
            return ReplyIds(tuple(self._invented() for _ in range(request.count + 1)))
        return reply

    def _objects(self, request: RequestObjects, fate: str) -> Objects:
        self._machine.send(request)
        held = self._owner.objects
        ids = sorted(request.ids)
        bodies = [(x, held.get(x, b"not what was announced")) for x in ids]
        if fate == "invalid":
            bodies = [(x, body + b"!") for x, body in bodies]
        if fate == "other":
            bodies[0] = (self._invented(), b"another object")
        return Objects(tuple(sorted(bodies)))

    def _invented(self) -> ObjectId:
        return name_of(self._owner.random.randbytes(16))

    def _say(self, frame: Frame) -> None:
        self.write(encode(frame))
