"""The bus: gives each multicast of a member its place in one order, and hands it to all members.

It is the group of the machines' `brokers.py`. What one member says keeps its order, a member hears
itself, too, and a member that left has a place in the order as well: after it nothing comes from
it. A broker that comes gets a name that nobody had before, and a member that updates it. One broker
joins at a time. If its updater leaves meanwhile, it has to leave, too, and to join again.

A member that does not keep up with the order slows the others: while more than `Config.unsent`
bytes wait to be sent to it, nothing gets a place but joins and leavings. It stays a member, while
it takes something.

The bus hands on what it orders as it is, but nothing that others would not understand: a broker
that says such things loses its own membership, and nobody else does. What a member tells another
passes only from an updater to the node that it updates. What is well formed is believed. Who is no
member hears nothing and can say nothing: a broker that is cut off serves nobody, and no majority is
needed (Q-B16). The bus itself is one process; if it ends, the cluster ends.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter, deque
from itertools import count

from ...services import LOOPBACK
from ...services.framing import WireError
from ...services.round_robin import RoundRobin
from ..ledger import Joined
from ..messages import Create, Front, Node, Reject
from ..system import Left
from .connection import Connection
from .frames import (
    VERSION,
    Alive,
    FromBus,
    FromMember,
    Hand,
    Join,
    Member,
    Multicast,
    Place,
    Ready,
    Said,
    Say,
    Tell,
    Told,
)
from .settings import Config
from .wire import LONGEST_BROKER, Decoder, Raw, coder, decoder, encode

Link = Connection[FromMember]
NUMBERS = 10**12  # Of members, of which a bus draws its first.
PARSE_MULTICAST, PARSE_TOLD = decoder(Multicast), decoder(Told)


class Bus:
    """Orders what members say. `counts`: `placed`, `joined`, `left`, `founded`, `expelled` (a node
    whose updater left, or to which nothing was told for `Config.patience` seconds), `told`,
    `delayed` (what had to wait for a slow member), `turned_away` (beyond `connections`), and what
    goes wrong on connections; `unexpected` is a line that has no meaning where it came."""

    def __init__(self, config: Config | None = None, first: int | None = None) -> None:
        """`first`: the number of its first member; by default drawn at random, so that a bus that
        is started again gives no name, and no cluster a number, that another one gave."""
        self.counts: Counter[str] = Counter()
        self._config = config or Config()
        self._servers: list[asyncio.AbstractServer] = []
        self._turns = RoundRobin()
        self._links: dict[Link, None] = {}  # In the order in which they came.
        self._members: dict[Node, Link] = {}
        self._nodes: dict[Link, Node] = {}
        self._ready: deque[Node] = deque()
        self._waiting: deque[tuple[Link, str]] = deque()
        self._joining: tuple[Node, Node] | None = None
        self._updaters: dict[Node, Node] = {}  # Of each member that did not found the cluster.
        self._told_at = 0.0  # When something was told to the node that joins.
        self._impatience: asyncio.TimerHandle | None = None
        self._unplaced: deque[tuple[Node, Raw]] = deque()
        self._places = count()
        self._lives = count(secrets.randbelow(NUMBERS) if first is None else first)
        self._cluster = 0  # The number of its first member.

    async def open(self, port: int = 0) -> int:
        """Listen on 127.0.0.1, at a free port for 0; the port. Errors: OSError."""
        loop = asyncio.get_running_loop()
        server = await loop.create_server(self._accept, LOOPBACK, port)
        self._servers.append(server)
        found: int = server.sockets[0].getsockname()[1]
        return found

    def close(self) -> None:
        """Stop listening, and end all connections."""
        for server in self._servers:
            server.close()
        self._waiting.clear()  # Nobody joins in the place of who leaves now.
        self._joining = None
        self._end_wait()
        for link in tuple(self._links):
            link.abort()

    @property
    def members(self) -> tuple[Node, ...]:
        """Who is a member now."""
        return tuple(sorted(self._members))

    @property
    def unsent(self) -> int:
        """Bytes that wait to be sent to the member for which most do."""
        return max((link.waiting for link in self._members.values()), default=0)

    def _accept(self) -> Link:
        kinds, longest = (FromMember, FromBus), self._config.longest_stall
        link = Link(self._config, kinds, longest, self.counts, self._turns)
        link.on_frame = lambda frame: self._take(link, frame)
        link.on_end = lambda: self._end(link)
        link.on_made = lambda: self._greet(link)
        link.on_room = self._order
        self._links[link] = None
        return link

    def _greet(self, link: Link) -> None:
        if len(self._links) > self._config.connections:
            self.counts["turned_away"] += 1
            link.abort()
        else:
            link.keep_alive(Alive(), self._config.silence)

    def _take(self, link: Link, frame: FromMember) -> None:
        node = self._nodes.get(link)
        match frame:
            case Alive():
                pass
            case Join(version=version, name=name) if node is None:
                self._ask(link, version, name)
            case Say(said=said) if node is not None:
                if self._understood(link, PARSE_MULTICAST, said, "said"):
                    self._unplaced.append((node, said))
                    self._order()
                    self.counts["delayed"] += len(self._unplaced) > 0
            case Tell(to=to, told=told) if node is not None:
                if self._understood(link, PARSE_TOLD, told, "told"):
                    self._tell(link, node, to, told)
            case Ready() if node is not None and self._is_joining(node):
                self._joining = None
                self._ready.append(node)
                link.send(frame)
                self._admit()
            case _:
                self._unexpected(link, f"no {type(frame).__name__} was expected here")

    def _understood(self, link: Link, parse: Decoder, raw: Raw, where: str) -> bool:
        """Whether members understand this; each that does not would leave."""
        try:
            parsed = parse(raw, where)
        except WireError as error:
            self._unexpected(link, str(error))
            return False
        body = parsed.body if isinstance(parsed, Create | Reject | Front) else b""
        if len(body) > self._config.longest_body:
            self._unexpected(link, f"a message has at most {self._config.longest_body} bytes")
            return False
        return True

    def _tell(self, link: Link, node: Node, to: Node, told: Raw) -> None:
        if to not in self._members:
            return  # It has left meanwhile.
        if self._updaters.get(to) != node:
            self._unexpected(link, f"{node} does not update {to}")
            return
        self.counts["told"] += 1
        self._told_at = asyncio.get_running_loop().time()
        self._members[to].send(Hand(node, told))

    def _is_joining(self, node: Node) -> bool:
        return self._joining is not None and self._joining[0] == node

    def _ask(self, link: Link, version: int, name: str) -> None:
        if version != VERSION:
            self._unexpected(link, f"expected version {VERSION}, found {version}")
        elif len(name) > LONGEST_BROKER:
            self._unexpected(link, f"a broker's name has at most {LONGEST_BROKER} characters")
        elif any(link == waiting for waiting, _ in self._waiting):
            self._unexpected(link, "it has asked to join before")
        else:
            self._waiting.append((link, name))
            self._admit()

    def _unexpected(self, link: Link, why: str) -> None:
        link.fault("unexpected", WireError(why))

    def _admit(self) -> None:
        """Let the next broker join, unless one joins now."""
        while self._waiting and self._joining is None:
            link, name = self._waiting.popleft()
            founder = not self._members
            life = next(self._lives)
            node = Node(f"{name}.{life:04}")
            self._members[node] = link
            self._nodes[link] = node
            self.counts["joined"] += 1
            if founder:
                self.counts["founded"] += 1
                self._cluster = life
            link.send(Member(node, self._cluster, founder))
            if founder:
                self._ready.append(node)
            else:
                updater = self._ready[0]
                self._ready.rotate(-1)
                self._joining = node, updater
                self._updaters[node] = updater
                self._told_at = asyncio.get_running_loop().time()
                self._wait_for(node)
                self._place(node, Joined(updater))

    def _wait_for(self, node: Node) -> None:
        """Give the node that joins up after `patience` seconds in which nothing was told to it, and
        it had handled all; another updater may do better."""
        self._end_wait()
        if not self._is_joining(node):
            return
        loop = asyncio.get_running_loop()
        if self._members[node].waiting:
            self._told_at = loop.time()
        left = self._told_at + self._config.patience - loop.time()
        if left <= 0:
            self.counts["expelled"] += 1
            self._members[node].abort()
        else:
            self._impatience = loop.call_later(left, self._wait_for, node)

    def _end_wait(self) -> None:
        if self._impatience is not None:
            self._impatience.cancel()

    def _end(self, link: Link) -> None:
        self._links.pop(link, None)
        self._waiting = deque(each for each in self._waiting if each[0] is not link)
        node = self._nodes.pop(link, None)
        if node is None:
            return
        del self._members[node]
        self._updaters.pop(node, None)
        if node in self._ready:
            self._ready.remove(node)
        self.counts["left"] += 1
        self._unplaced = deque(each for each in self._unplaced if each[0] != node)
        self._place(node, Left())
        joining, self._joining = self._joining, None
        if joining is not None and node == joining[1]:
            self.counts["expelled"] += 1
            self._joining = joining  # Until it has left.
            self._members[joining[0]].abort()
        elif joining is not None and node != joining[0]:
            self._joining = joining
        self._admit()
        self._order()

    def _order(self) -> None:
        """Give what was said its place, while every member keeps up."""
        while self._unplaced and not any(link.full for link in self._members.values()):
            self._put(*self._unplaced.popleft())

    def _place(self, sender: Node, said: Said) -> None:
        self._put(sender, Raw(coder(Said)(said)))

    def _put(self, sender: Node, said: Raw) -> None:
        self.counts["placed"] += 1
        line = encode(Place(next(self._places), sender, said), FromBus)
        for member in self._members.values():
            member.send_line(line)
