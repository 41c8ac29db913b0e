"""Machines with parts, families of parts, variants, and a service that embeds them."""

from typing import assert_type

from lawful import (
    Machine,
    Nat,
    Record,
    Scope,
    Sort,
    State,
    Timer,
    can,
    drop,
    event,
    eventually_always,
    ignore,
    infinitely_often,
    invariant,
    refuse,
    require,
    total,
    transition,
)


class Node(Sort):
    """Who takes part."""


class Phase(State):
    IDLE = "idle"
    BUSY = "busy"


class Ask(Record):
    who: Node
    n: Nat = 0


class Peer(Machine):
    phase: Phase = Phase.IDLE
    heard: Nat = 0
    idle: Timer = Timer()

    @transition()
    def hear(self, n: Nat) -> Nat:
        require(n > self.heard, "old")
        self.heard = max(self.heard, n)
        self.idle.start(2)
        return self.heard

    @transition()
    def rest(self) -> None:
        self.phase = Phase.IDLE


class Hub(Machine):
    first: Peer = Peer()
    peers: dict[Node, Peer] = {}
    pc: dict[Node, Phase] = total(Phase.IDLE)
    asked: frozenset[Ask] = frozenset()

    @transition()
    def join(self, p: Node) -> None:
        require(p not in self.peers, "joined")
        self.peers[p] = Peer()

    @transition()
    def leave(self, p: Node) -> None:
        require(p in self.peers, "not joined")
        del self.peers[p]

    @transition(source=Phase.IDLE, target=Phase.BUSY, of="pc[p]")
    def tell(self, p: Node, n: Nat) -> Nat:
        if p not in self.peers:
            refuse("not joined")
        require(can(self.peers[p].hear, n))
        said = self.peers[p].hear(n)
        self.asked = self.asked | {Ask(p, said)}
        return said

    @transition(timer="peers[p].idle")
    def rest(self, p: Node) -> None:
        self.peers[p].rest()

    @event(choice=True)
    def choose(self, n: Nat) -> Nat:
        raise NotImplementedError

    @transition(event="choose")
    def choose_low(self, n: Nat) -> Nat:
        require(n == 0)
        return n

    @transition(event="choose")
    def choose_any(self, n: Nat) -> Nat:
        return self.first.hear(n)

    again = ignore("join", when=lambda self, p: p in self.peers, because="joined already")

    @invariant
    def heard_little(self) -> bool:
        return all(peer.heard <= 9 for peer in self.peers.values())

    @eventually_always
    def busy(self, p: Node) -> bool:
        return self.pc[p] == Phase.BUSY

    @infinitely_often
    def alone(self) -> bool:
        return len(self.peers) == 0

    deadlock_ok = True
    scope = Scope(Node=2, Nat=range(0, 2))


class Quiet(Hub):
    """A variant."""

    gone = drop("rest")

    @transition()
    def leave(self, p: Node) -> None:
        super().leave(p)
        self.asked = frozenset(ask for ask in self.asked if ask.who != p)


class Base(Machine, abstract=True):
    n: Nat = 0

    @transition()
    def count(self) -> Nat:
        self.n += 1
        return self.n


class Counting(Base):
    """What inherits from it."""


def embed() -> int:
    hub = Hub(universe={Node: ["a", "b"]})
    hub.join(Node("a"))
    assert_type(hub.tell(Node("a"), 3), int)
    assert_type(hub.lawful.may("choose", 4), bool)
    assert_type(hub.first, Peer)
    assert_type(hub.peers, dict[Node, Peer])
    assert_type(hub.peers[Node("a")].heard, int)
    assert_type(hub.pc[Node("a")], Phase)
    assert_type(Counting.lawful.state(n=3), Counting)
    return Counting().count() + len(Quiet(universe={Node: ["a"]}).asked)
