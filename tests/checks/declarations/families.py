"""Machines with families of machines: made, left, stepped, gone through; nested; with timers."""

from __future__ import annotations

from lawful import (
    Machine,
    Nat,
    Param,
    Scope,
    Sort,
    State,
    Timer,
    assume,
    can,
    ignore,
    invariant,
    reachable,
    require,
    step_property,
    total,
    transition,
)


class Node(Sort):
    pass


class Link(State):
    OPEN = "open"
    SHUT = "shut"


class Peer(Machine):
    state: Link = Link.OPEN
    sent: Nat = 0
    acked: set[Nat] = set()
    idle: Timer = Timer()
    limit: Param[Nat] = 2

    @assume
    def has_room(self) -> bool:
        return self.limit != 3

    @transition(source=Link.OPEN)
    def send(self) -> Nat:
        require(self.sent < self.limit, "no more")
        self.sent += 1
        self.idle.start(1.0)
        return self.sent

    @transition(source=Link.OPEN)
    def ack(self, n: Nat) -> None:
        require(n <= self.sent, "was never sent")
        self.acked.add(n)

    @transition(source=Link.OPEN, target=Link.SHUT)
    def shut(self) -> None: ...

    again = ignore("shut", source=Link.SHUT, because="it is")

    def room(self) -> int:
        return self.limit - self.sent

    @invariant
    def within_its_limit(self) -> bool:
        return self.sent <= self.limit

    @step_property
    def only_grows(self, after: Peer) -> bool:
        return after.sent >= self.sent and self.acked <= after.acked


class Hub(Machine):
    """Peers come and go; each sort's element also has a spare, which is always there."""

    peers: dict[Node, Peer] = {}
    spares: dict[Node, Peer] = total(lambda node: Peer(limit=1))
    rounds: Nat = 0

    @transition()
    def join(self, node: Node, limit: Nat) -> None:
        require(node not in self.peers, "is here")
        self.peers[node] = Peer(limit=limit)

    @transition()
    def leave(self, node: Node) -> int:
        require(node in self.peers, "is not here")
        peer = self.peers[node]
        require(peer.state == Link.SHUT, "is open")
        left = peer.room()
        del self.peers[node]
        return left

    @transition()
    def send(self, node: Node) -> Nat:
        peer = self.peers[node]
        count = peer.send()
        peer.ack(count)
        require(peer.sent < 2 or self.rounds > 0, "the first round comes first")
        return count

    @transition(of="peers[node].state", source=Link.OPEN, timer="peers[node].idle")
    def expire(self, node: Node) -> None:
        self.peers[node].shut()

    @transition()
    def everyone(self) -> None:
        self.rounds += 1
        for peer in self.peers.values():
            if can(peer.send):
                peer.send()
        for node, spare in self.spares.items():
            if node in self.peers:
                spare.shut()

    @transition()
    def over(self, node: Node) -> None:
        self.peers[node] = Peer(limit=self.rounds - 2)

    @transition()
    def swap(self) -> None:
        self.spares = {node: Peer(limit=2) for node in Node}
        for node in Node:
            if node in self.peers:
                self.spares[node].send()

    @invariant
    def together(self) -> bool:
        sent = sum(peer.sent for peer in self.peers.values())
        return sent <= 2 * len(self.peers)

    @invariant
    def named(self) -> bool:
        return all(
            peer.sent >= len(peer.acked) for node, peer in self.peers.items() if node in self.spares
        )

    @reachable
    def full(self) -> bool:
        return len(self.peers) == len(Node) and all(self.peers[n].sent == 2 for n in self.peers)

    scope = Scope({"join.limit": range(0, 3)}, Node=2, Nat=range(0, 3))


class Cell(Machine):
    held: Nat = 0

    @transition()
    def put(self, x: Nat) -> None:
        require(self.held + x <= 2, "is full")
        self.held += x

    @invariant
    def holds_few(self) -> bool:
        return self.held < 2


class Shelf(Machine):
    first: Cell = Cell()
    cells: dict[bool, Cell] = {}

    @transition()
    def add(self, side: bool) -> None:
        require(side not in self.cells)
        self.cells[side] = Cell()

    @transition()
    def put(self, side: bool, x: Nat) -> None:
        self.cells[side].put(x)


class Rack(Machine):
    """A family of machines that have families of machines."""

    shelves: dict[Node, Shelf] = total(Shelf())

    @transition()
    def add(self, node: Node, side: bool) -> None:
        self.shelves[node].add(side)

    @transition()
    def put(self, node: Node, side: bool, x: Nat) -> None:
        shelf = self.shelves[node]
        cell = shelf.cells[side]
        require(cell.held == 0 or node == self.last_used(node))
        shelf.put(side, x)

    def last_used(self, node: Node) -> Node:
        return node

    @invariant
    def first_is_empty(self) -> bool:
        return all(shelf.first.held == 0 for shelf in self.shelves.values())

    scope = Scope(Node=2, Nat=range(0, 3))
