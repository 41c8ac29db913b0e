"""Mistakes about parts, events, properties and what the door leads to."""

from lawful import (
    Expect,
    Fairness,
    Machine,
    Nat,
    OrderedSort,
    Record,
    Scope,
    Sort,
    State,
    Timer,
    Weak,
    can,
    event,
    ignore,
    invariant,
    leads_to,
    needed,
    refuse,
    require,
    step_property,
    successor,
    total,
    transition,
)


class Node(Sort):
    """Who takes part."""


class Place(OrderedSort):
    """Where."""


class Phase(State):
    IDLE = "idle"


class Data(Record):
    n: Nat


class Gone(Record):
    """Nothing more."""


class Peer(Machine):
    heard: Nat = 0
    idle: Timer = Timer()

    @transition()
    def hear(self, n: Nat) -> Nat:
        self.idle.armed = True  # error
        return self.heard


class Hub(Machine):
    peer: Peer = Peer()
    pc: dict[Node, Phase] = total(0)  # error
    last: Data | Gone | None = None
    at: Place | None = None
    peers: dict[Node, Peer] = {}

    @transition(target=Phase.IDEL)  # error
    def tell(self, p: Node) -> Nat:
        require(can(self.peer.hear, "x"))  # error
        require(can(self.peer.hear))  # error
        self.peer.hear(p)  # error
        return self.last.n  # error

    @transition(fair="wek")  # error
    def move(self) -> Place:
        return successor(self.at)  # error

    @transition()
    def leave(self, p: Node) -> Node:
        self.at = p  # error
        self.peers["a"] = Peer()  # error
        refuse()  # error

    @transition(dest=Place)  # error
    def end(self) -> None: ...

    @event
    def both(self, n: Nat) -> None:
        raise NotImplementedError

    @invariant  # error
    def positive(self) -> Nat:
        return self.peer.heard

    @step_property
    def grows(self, after: "Hub") -> bool:
        return after.heard >= 0  # error

    @leads_to  # error
    def served(self) -> bool:
        return self.last is None

    late = ignore("tell", when=lambda self: 3, because="late")  # error
    expects = Expect(positive=3)  # error
    fairness = Fairness("tell")  # error
    weak = Fairness(Weak("tell", each="p"))  # error
    scope = Scope(expects="violated")  # error


def embed(hub: Hub) -> None:
    hub.both("x")  # error
    needed(hub.at, "nowhere").upper().missing()  # error
    hub.lawful.at()  # error
    hub.lawful.enabled().append("x")  # error
    Hub.lawful.restore(3)  # error
    Hub.lawful.snapshot()  # error
    hub.peers[Node("a")].hear(n="x")  # error
    for n in Node:
        hub.leave(Place(n))  # error
    for reason in hub.lawful.explain("tell"):
        reason.missing  # error
