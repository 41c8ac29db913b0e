"""One connection of a node to an outbound peer: it carries out the decisions of the machine.

The loop of the document [seed:51-55]: read the decision, collect the replies that have come,
request objects, request IDs, signal; a blocking request is done when its reply has come (O-B1).
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable
from functools import partial
from typing import Protocol

from ...services.framing import Frames, Oversized, WireError
from ..attribution import Peer
from ..callbacks import Status
from ..connection import ReplyIds
from ..messages import ObjectId, Request
from ..registry import Registry
from .reputation import Polling
from .settings import Config
from .wire import Hello, Objects, decode, encode, longest_reply


class Home(Protocol):
    """What a connection asks of its node."""

    config: Config
    counts: Counter[str]
    registry: Registry

    def register(self, connection: Connection, name: str) -> Peer: ...

    def unregister(self, p: Peer) -> None: ...

    def collect(self, p: Peer, reply: ReplyIds | Objects) -> bool: ...

    def changed(self) -> None: ...

    def fail(self, error: Exception) -> None: ...


class Connection(asyncio.Protocol):
    """From the Hello of an outbound peer to the end of the connection."""

    def __init__(self, node: Home, name: str) -> None:
        config = node.config
        self.lost = asyncio.Event()
        self.lied = False  # It was given up for what it said.
        self.asked: set[ObjectId] = set()  # Objects that have not got into the pool.
        self.brought = 0  # Objects.
        self._node = node
        self._name = name
        self._frames = Frames(
            longest_reply(config.ids_per_request, config.inflight_per_peer, config.longest_object)
        )
        self._peer: Peer | None = None
        self._replies: deque[ReplyIds | Objects] = deque()  # Have come, are not collected.
        self._transport: asyncio.Transport | None = None
        self._full = False
        self._hung_up = False
        self._watch: asyncio.TimerHandle | None = None
        self._polling = Polling(config)
        self._poll: asyncio.TimerHandle | None = None

    # What the event loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.set_write_buffer_limits(self._node.config.backlog)
        self._watch = asyncio.get_running_loop().call_later(
            self._node.config.greeting, self._greeted
        )

    def data_received(self, data: bytes) -> None:
        self._guarded(partial(self._read, data))

    def _guarded(self, action: Callable[[], None]) -> None:
        """Do it; an error, such as a journal's, ends the node. The event loop would end the
        connection alone, and not even tell of an OSError."""
        try:
            action()
        except Exception as error:
            self._node.fail(error)

    def _read(self, data: bytes) -> None:
        try:
            for content in self._frames.feed(data):
                if not self.alive:
                    return
                self._take(content)
        except Oversized:
            self.give_up("oversized")

    def pause_writing(self) -> None:
        """The peer does not read: what is left of its decision waits, and counts (O31, O35)."""
        self._full = True

    def resume_writing(self) -> None:
        self._full = False
        if self._peer is not None:
            self._guarded(partial(self._go_on, self._peer))

    def connection_lost(self, exc: Exception | None) -> None:
        for timer in (self._watch, self._poll):
            if timer is not None:
                timer.cancel()
        self._replies.clear()
        self.lost.set()
        if self._peer is None and not self._hung_up:
            self._node.counts["mute"] += 1
        if self._peer is not None:
            self._guarded(partial(self._node.unregister, self._peer))

    @property
    def alive(self) -> bool:
        """Whether frames still go out, and come in."""
        return self._transport is not None and not self._transport.is_closing()

    def close(self) -> None:
        """Hang up."""
        self._hung_up = True
        if self._transport is not None:
            self._transport.abort()

    def give_up(self, why: str) -> None:
        """Count the reason, and hang up."""
        if self.alive:
            self.lied |= why != "silent"
            self._node.counts[why] += 1
            self.close()

    def _greeted(self) -> None:
        if self._peer is None:
            self.give_up("mute")

    # Frames.

    def _take(self, content: bytes) -> None:
        try:
            frame = decode(content)
        except WireError:
            self.give_up("malformed")
            return
        match frame:
            case Hello(name=name) if self._peer is None:
                if name != self._name:
                    self.give_up("unknown")
                else:
                    self._peer = self._node.register(self, name)
            case ReplyIds() | Objects() if self._peer is not None:
                self._reply(self._peer, frame)
            case _:
                self.give_up("unexpected")

    def _reply(self, p: Peer, reply: ReplyIds | Objects) -> None:
        """Collect the reply that the loop waits for; keep another one until the loop reads."""
        entry = self._node.registry.peers.get(p)
        if entry is None:
            return
        if isinstance(reply, Objects) and reply.longest > self._node.config.longest_object:
            self.give_up("oversized")
            return
        if isinstance(reply, ReplyIds):
            self._polling.replied(len(reply.ids), asyncio.get_running_loop().time())
        if entry.state == Status.ACTING and entry.collects():
            if self._collected(p, reply):
                self._go_on(p)
        elif len(self._replies) >= len(entry.pending):
            self.give_up("flood")
        else:
            self._replies.append(reply)
            self._node.changed()

    def _collected(self, p: Peer, reply: ReplyIds | Objects) -> bool:
        if self._node.collect(p, reply):
            return True
        self.give_up("refused")
        return False

    # The loop.

    def decided(self) -> None:
        """A decision is there: act upon it soon, or let a round make a new one when it is time."""
        loop = asyncio.get_running_loop()
        if self._poll is not None:
            self._poll.cancel()
            self._poll = None
        if left := self._left():
            self._poll = loop.call_later(left, self._node.changed)
        else:
            loop.call_soon(self.act)

    def _left(self) -> float:
        """Seconds until it acts upon its decision: none, unless all that it would do is to ask for
        IDs that the peer had not got a moment ago, and to collect that it had none."""
        entry = self._node.registry.peers.get(self._peer) if self._peer is not None else None
        decision = None if entry is None else entry.decision
        if decision is None or decision.objects_to_req or decision.ids_to_ack:
            return 0.0
        if not decision.can_pipeline_ids_req or any(each.ids for each in self._replies):
            return 0.0
        return self._polling.left(asyncio.get_running_loop().time())

    def act(self) -> None:
        """Carry out the decision, all of it (O17, O18)."""
        self._guarded(self._act)

    def _act(self) -> None:
        p, registry = self._peer, self._node.registry
        if p is None or not registry.lawful.may("read_decision", p):
            return
        registry.read_decision(p)
        while self._replies:
            if not self._collected(p, self._replies.popleft()):
                return
        self._go_on(p)

    def _go_on(self, p: Peer) -> None:
        """Do what is left of the decision, as far as the machine lets it, and the peer reads.

        A request that blocks waits for the replies under way: another peer may have brought an
        object that this one was asked for, so that its ID is acked before it comes.
        """
        registry = self._node.registry
        may = registry.lawful.may
        if not self._full and may("on_request_objects", p):
            request = registry.on_request_objects(p)
            self.asked |= request.ids
            self._say(request)
        if not self._full and may("on_request_ids", p):
            self._say(registry.on_request_ids(p))
        if may("on_decision_completed", p):
            registry.on_decision_completed(p)

    def _say(self, request: Request) -> None:
        if self._transport is not None and self.alive:
            self._transport.write(encode(request))
            self._node.changed()
