"""A broker: a member of the cluster with clients.

It asks the bus to let it join, again and again, listens for clients, and does what they command. If
its connection to the bus is lost it is no member any more: it hangs up on its clients, forgets its
queues, and joins again under another name. What it had is on the others.

It says only so much at a time (`Config.under_way`), and stops hearing its clients while much has to
wait. So whoever publishes is as fast as the broker handles what comes back in the order.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Mapping
from functools import partial

from lawful import Refused

from ...services import LOOPBACK
from ...services.framing import WireError
from ...services.round_robin import RoundRobin
from ..ledger import Joined
from ..messages import Node, QueueName
from .connection import Connection
from .desk import Desk
from .frames import (
    VERSION,
    Alive,
    Command,
    FromBus,
    FromMember,
    Hand,
    Join,
    Member,
    Place,
    Ready,
    Said,
    Say,
    Stall,
    Tell,
    Told,
)
from .node import LocalNode, prepare
from .settings import Config, Options
from .sliding_window import SlidingWindow
from .wire import Raw, check_broker, coder, decoder, encode

PARSE_SAID, PARSE_TOLD = decoder(Said), decoder(Told)
CODE_SAID, CODE_TOLD = coder(Said), coder(Told)


class Broker:
    """`name`: without the number of its life. `counts`: of all lives; those of `LocalNode`, of
    connections, and `joined`, `left`, `dials_failed`, `turned_away` and what was refused to
    clients. `on_whole(node)`: this broker has all queues now, so that others may end.
    `on_left(node)`: it is no member any more, and has forgotten its queues."""

    def __init__(
        self, name: str, bus: int, config: Config | None = None, options: Options | None = None
    ) -> None:
        """`bus`: its port on 127.0.0.1. Errors: ValueError for a name that no broker has."""
        check_broker(name)
        self.name = name
        self.counts: Counter[str] = Counter()
        self.node: LocalNode | None = None
        self.cluster = 0
        self.on_whole: Callable[[Node], None] = lambda _: None
        self.on_left: Callable[[Node], None] = lambda _: None
        self._bus = bus
        self._config = config or Config()
        self._options = options or Options()
        self._link: Connection[FromBus] | None = None
        self._ordered, self._commands = RoundRobin(), RoundRobin()
        self._window = self._new_window()
        self._desks: dict[Desk, None] = {}  # In the order in which they came.
        self._server: asyncio.AbstractServer | None = None
        self._task: asyncio.Task[None] | None = None
        self._before: deque[Place] = deque()
        self._serving = asyncio.Event()
        self._over = False

    async def open(self, port: int = 0) -> int:
        """Listen for clients on 127.0.0.1, at a free port for 0, and begin to join; the port.
        Errors: OSError."""
        prepare()
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._accept, LOOPBACK, port)
        self._task = loop.create_task(self._keep())
        found: int = self._server.sockets[0].getsockname()[1]
        return found

    async def serving(self) -> None:
        """Wait until this broker is a member with all that it has to know."""
        await self._serving.wait()

    def close(self) -> None:
        """Leave at once, like a process that is killed."""
        self._over = True
        if self._server is not None:
            self._server.close()
        if self._task is not None:
            self._task.cancel()
        if self._link is not None:
            self._link.abort()
        self._leave()

    def stats(self) -> Mapping[str, int]:
        """What happened, how many `clients`, `queues` and `messages` there are now, and how many
        bytes of what has a place are `unhandled`."""
        now = Counter(self.counts)
        now["clients"] = len(self._desks)
        now["unhandled"] = 0 if self._link is None else self._link.unhandled
        if self.node is not None:
            now += self.node.counts
            now["queues"] = len(self.node.replica.queues)
            now["messages"] = sum(map(len, self.node.replica.queues.values()))
        return now

    # The bus.

    async def _keep(self) -> None:
        """Be a member, again and again."""
        loop = asyncio.get_running_loop()
        while True:
            link = self._connection()
            try:
                async with asyncio.timeout(self._config.silence):
                    await loop.create_connection(partial(_same, link), LOOPBACK, self._bus)
                await link.ended.wait()
            except (OSError, TimeoutError):
                self.counts["dials_failed"] += 1
            finally:
                link.abort()
            await asyncio.sleep(self._config.redial)

    def _connection(self) -> Connection[FromBus]:
        kinds, longest = (FromBus, FromMember), self._config.longest_stall
        link = Connection[FromBus](self._config, kinds, longest, self.counts, self._ordered)
        link.on_made = lambda: self._ask(link)
        link.on_frame = self._take
        link.on_end = self._leave
        self._link = link
        return link

    def _new_window(self) -> SlidingWindow:
        most = self._config.multicasts, self._config.under_way
        return SlidingWindow(*most, self._send_line, self._commands.hold)

    def _send_line(self, line: bytes) -> None:
        if self._link is not None:
            self._link.send_line(line)

    def _ask(self, link: Connection[FromBus]) -> None:
        link.send(Join(VERSION, self.name))
        link.keep_alive(Alive(), self._config.patience)

    def _leave(self) -> None:
        """This life is over."""
        self._serving.clear()
        self._before.clear()
        for desk in tuple(self._desks):
            desk.link.abort()
        node, self.node = self.node, None
        if node is not None:
            self.counts += node.counts
            self.counts["left"] += 1
            node.end()
        self._window = self._new_window()
        self._commands.hold(False)
        if node is not None and not self._over:
            self.on_left(node.me)

    def _take(self, frame: FromBus) -> None:
        node = self.node
        match frame:
            case Alive():
                pass
            case Member() if node is None:
                self._begin(frame)
            case Place() if node is not None:
                if self._waits(node):
                    self._before.append(frame)
                else:
                    self._handle(node, frame)
            case Hand(told=told) if node is not None:
                self._hear(node, told)
            case Ready() if node is not None and node.ready:
                self.on_whole(node.me)
            case _:
                self._unexpected(f"no {type(frame).__name__} was expected here")

    def _waits(self, node: LocalNode) -> bool:
        """It knows nothing yet: its updater has to come to the join (Q56)."""
        return not node.ready and not self._serving.is_set()

    def _begin(self, member: Member) -> None:
        self.counts["joined"] += 1
        self.cluster = member.cluster
        self.node = LocalNode(member.node, self, self._config, self._options)
        if member.founder:
            self._serving.set()
            self.on_whole(member.node)
        else:
            self.node.wait()

    def _hear(self, node: LocalNode, told: Raw) -> None:
        try:
            heard = PARSE_TOLD(told, "told")
            if isinstance(heard, Stall) != self._waits(node):
                raise WireError("told: a Stall comes first, and once")
        except WireError as error:
            self._unexpected(str(error))
            return
        try:
            node.told(heard)
        except Refused as error:
            self._unexpected(str(error))
            if self._waits(node) and self._link is not None:
                self._link.abort()  # Whoever has half of a Stall joins again, with another updater.
            return
        self._serving.set()
        while self._before:
            self._handle(node, self._before.popleft())

    def _handle(self, node: LocalNode, place: Place) -> None:
        try:
            said = PARSE_SAID(place.said, "said")
        except WireError as error:
            self._unexpected(str(error))
        else:
            node.placed(place.sender, said)
            if place.sender == node.me and not isinstance(said, Joined):
                self._window.came_back()

    def _unexpected(self, why: str) -> None:
        if self._link is not None:
            self._link.fault("unexpected", WireError(why))

    # What the node says: a `Group`.

    def say(self, said: Said) -> None:
        self._window.add(encode(Say(Raw(CODE_SAID(said))), FromMember))

    def tell(self, to: Node, told: Told) -> None:
        if self._link is not None:
            self._link.send(Tell(to, Raw(CODE_TOLD(told))))

    def complete(self) -> None:
        if self._link is not None:
            self._link.send(Ready())

    # Clients.

    def _accept(self) -> Connection[Command]:
        desk = Desk(self, self._config, self.counts, self._commands)
        self._desks[desk] = None
        return desk.link

    def is_full(self, q: QueueName) -> bool:
        """Whether no more is to be published to this queue."""
        ids = self.node.replica.queues.get(q) if self.node is not None else None
        return ids is not None and len(ids) >= self._config.messages

    @property
    def clients(self) -> int:
        """How many there are, the newest among them."""
        return len(self._desks)

    @property
    def serves(self) -> LocalNode | None:
        """The node that clients may use now."""
        return self.node if self._serving.is_set() else None

    def forget(self, desk: Desk) -> None:
        """The client has gone."""
        self._desks.pop(desk, None)


def _same(link: Connection[FromBus]) -> Connection[FromBus]:
    return link
