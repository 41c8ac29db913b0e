"""An inbound node: it downloads the objects of its outbound peers into its pool.

The machine `Registry` decides: what is acked, how many IDs and which objects are requested of whom,
which reply answers which request, who inserts, who is late. The node carries frames, keeps the
bodies behind IDs, lets rounds and timers happen, and ends the connections that the machine gave up.

    node = Node(SqlitePool("pool.sqlite"), {"A": 7001, "B": 7002})
    await node.run()                    # until node.close(), in the same event loop

Peers are on 127.0.0.1: nothing here is authenticated. A peer whose reply is refused, or whose
object is invalid, loses its connection; it is dialled again after `Config.redial`.

Source: `object-diffusion.md`, demands O1 to O43.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from itertools import count

from lawful import Refused
from lawful.runtime.timers import SteadyClock

from ...services import LOOPBACK
from ..attribution import Peer
from ..connection import ReplyIds
from ..messages import ObjectId
from ..registry import Registry
from .inbound import Connection
from .pool import Pool
from .reputation import Reputation
from .settings import Config, Options
from .wire import Objects


class Node:
    """Keeps a connection to each peer: names, and their ports on 127.0.0.1.

    `counts`, since it was made. Of objects: `added`, `known` (a second copy), `invalid`. Of
    connections: `connected`, `disconnected`, `dials_failed`. Of peers that were given up: `silent`,
    `malformed`, `oversized` (a frame, or an object), `unexpected` (a frame that answers nothing),
    `refused` (a reply that the machine refuses), `flood` (more replies than requests), `unknown`
    (another name), `mute` (it did not say its name, or hung up before).
    """

    def __init__(
        self,
        pool: Pool,
        peers: Mapping[str, int],
        config: Config | None = None,
        options: Options | None = None,
    ) -> None:
        self.counts: Counter[str] = Counter()
        self.config: Config = config or Config()
        options = options or Options()
        self._pool = pool
        self._peers = dict(peers)
        self._reputations = {name: Reputation(self.config) for name in peers}
        self._clock = SteadyClock(options.clock)
        self.registry = self._registry()
        if options.journal is not None:
            options.journal.attach(self.registry, options.name)
        self._connections: dict[Peer, Connection] = {}
        self._received: deque[tuple[Peer, ObjectId, bytes]] = deque()
        self._numbers = count(1)
        self._changed = asyncio.Event()
        self._arrived = asyncio.Event()
        self._closing = asyncio.Event()
        self._error: Exception | None = None  # What has ended `run`.

    def _registry(self) -> Registry:
        config = self.config
        return Registry(
            target_object_redundancy=config.redundancy,
            max_num_objects_outstanding=config.outstanding,
            max_num_objects_inflight_per_peer=config.inflight_per_peer,
            max_num_objects_inflight_total=config.inflight_total,
            max_num_ids_req=config.ids_per_request,
            reply_timeout=config.reply_timeout,
            clock=self._clock,
        )

    @property
    def waiting(self) -> int:
        """The objects that were received and wait for the pool."""
        return len(self._received)

    async def run(self) -> None:
        """Dial, decide and insert until `close`; then all connections are closed.

        Errors: whatever the pool or the journal raises, for instance of a full disk.
        """
        jobs = [self._keep(name, port) for name, port in self._peers.items()]
        tasks = [
            asyncio.create_task(job)
            for job in (self._closing.wait(), self._decide(), self._insert(), *jobs)
        ]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        if self._error is not None:
            raise self._error

    def fail(self, error: Exception) -> None:
        """End `run` with this error, the first of several."""
        self._error = self._error or error
        self._closing.set()

    def close(self) -> None:
        """End `run`."""
        self._closing.set()

    async def _keep(self, name: str, port: int) -> None:
        """Keep a connection to this peer."""
        loop = asyncio.get_running_loop()
        reputation = self._reputations[name]
        while True:
            connection = Connection(self, name)
            dial = loop.create_connection(partial(_same, connection), LOOPBACK, port)
            try:
                async with asyncio.timeout(self.config.greeting):
                    await dial
                await connection.lost.wait()
            except (OSError, TimeoutError):
                self.counts["dials_failed"] += 1
            finally:
                connection.close()
            pause = reputation.pause
            owed = [x for x in sorted(connection.asked) if not self._pool.has(x)]
            reputation.ended(owed, connection.brought, connection.lied, loop.time())
            await asyncio.sleep(pause)

    # The decision task.

    async def _decide(self) -> None:
        """A round whenever something has changed, and timers when they are due (O3)."""
        while True:
            self._changed.clear()
            self.fire_due()
            self.decide()
            await asyncio.sleep(self.config.period)
            due = self.registry.lawful.next_deadline()
            left = None if due is None else max(self.config.period, due - self._clock.now())
            with suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await self._changed.wait()

    def fire_due(self) -> None:
        """Give up the peers whose replies are late (O-B7)."""
        self.registry.lawful.fire_due(self._clock.now())
        for p, connection in tuple(self._connections.items()):
            if p not in self.registry.peers:
                connection.give_up("silent")

    def decide(self) -> None:
        """One round; the peers that have a decision act upon it soon."""
        announced = {x for peer in self.registry.peers.values() for x in peer.outstanding_fifo}
        in_pool = frozenset(x for x in announced if self._pool.has(x))
        for p in sorted(self.registry.make_decisions(in_pool)):
            self._connections[p].decided()

    def changed(self) -> None:
        """Something may be different for the next round."""
        self._changed.set()

    # What connections call.

    def register(self, connection: Connection, name: str) -> Peer:
        """A peer has said its name; one that connects again is another Peer (O-B8)."""
        p = Peer(f"{name}#{next(self._numbers)}")
        self.registry.register(p)
        self._connections[p] = connection
        self.counts["connected"] += 1
        self.changed()
        return p

    def unregister(self, p: Peer) -> None:
        """A connection has ended; what it brought and the pool has not got is forgotten (O40)."""
        connection = self._connections.pop(p, None)
        if connection is None:
            return
        self.counts["disconnected"] += 1
        self._received = deque(each for each in self._received if each[0] != p)
        if self.registry.lawful.may("unregister", p):
            self.registry.unregister(p)
        self.changed()

    def collect(self, p: Peer, reply: ReplyIds | Objects) -> bool:
        """Hand a reply to the machine; False if it is refused."""
        try:
            if isinstance(reply, ReplyIds):
                self.registry.on_receive_ids(p, reply.ids)
            else:
                self.registry.on_receive_objects(p, reply.ids)
                self._received.extend((p, x, body) for x, body in reply.bodies)
                self._arrived.set()
        except Refused:
            return False
        self.changed()
        return True

    # The way to the pool.

    async def _insert(self) -> None:
        """Insert what was received, one object at a time (O15)."""
        while True:
            while not self._received:
                self._arrived.clear()
                await self._arrived.wait()
            p, x, body = self._received.popleft()
            if not self.registry.lawful.may("take_lock", p, x):
                continue  # The machine gave it up, and its connection is about to end.
            self.registry.take_lock(p, x)
            outcome = await self._pool.add(x, body)
            self.counts[outcome] += 1
            if outcome != "invalid":
                for reputation in self._reputations.values():
                    reputation.came(x)
            self._inserted(p, x, outcome)
            self.changed()

    def _inserted(self, p: Peer, x: ObjectId, outcome: str) -> None:
        """Tell the machine, if the peer is still there, and has the lock."""
        may = self.registry.lawful.may
        if outcome != "invalid" and may("on_added_to_pool", p, x):
            self.registry.on_added_to_pool(p, x)
            self._connections[p].asked.discard(x)
            self._connections[p].brought += 1
        if outcome == "invalid" and may("on_rejected", p, x):
            self.registry.on_rejected(p, x)
            self._connections[p].lied = True
            self._connections[p].close()


def _same(connection: Connection) -> Connection:
    return connection
