"""The machine of the language page, and a caller that uses its outputs."""

from collections import Counter
from collections.abc import Mapping
from typing import Annotated, assert_type

from annotated_types import Interval, MaxLen

from lawful import (
    Expect,
    Fairness,
    Ghost,
    Machine,
    Nat,
    Opaque,
    Param,
    Record,
    Refused,
    Scope,
    Sort,
    State,
    Strong,
    Timer,
    Weak,
    assume,
    can,
    constraint,
    event,
    eventually,
    ignore,
    implies,
    initial,
    invariant,
    leads_to,
    needed,
    reachable,
    recoverable,
    refuse,
    require,
    step_property,
    terminal,
    total,
    transition,
)

Payload = Annotated[bytes, Opaque("Payload")]
Slot = Annotated[int, Interval(ge=0, le=7)]


class Node(Sort):
    """Who takes part."""


class Conn(State):
    OPEN = "open"
    CLOSING = "closing"
    CLOSED = "closed"


class Ack(Record):
    seqno: Nat


class Data(Record):
    seqno: Nat
    body: Payload
    to: Node | None = None


class Peer(Machine):
    heard: Nat = 0

    @transition()
    def hear(self, n: Nat) -> Nat:
        self.heard = max(self.heard, n)
        return self.heard


class Sender(Machine):
    state: Conn = Conn.OPEN
    sent: Nat = 0
    slot: Slot = 0
    owner: Node | None = None
    idle: Timer = Timer()
    timers: dict[Node, Timer] = total(Timer())
    seconds: Param[float] = 60.0
    weights: Param[Mapping[bool, Nat]] = {True: 1, False: 0}
    queue: Annotated[list[Data], MaxLen(4)] = []
    net: set[Data | Ack] = set()
    bag: Counter[Nat] = Counter()
    votes: dict[Node, bool] = total(False)
    ranks: dict[Slot, Nat] = total(lambda k: k + 1)
    told: Ghost[Nat] = 0
    peer: Peer = Peer()

    @initial
    def begin(self, owner: Node) -> None:
        self.owner = owner

    @transition(source=(Conn.OPEN, Conn.CLOSING), target=Conn.OPEN, fair="weak")
    def send(self, body: Payload) -> Nat:
        owner = needed(self.owner, "nobody owns it")
        message = Data(self.sent, body, owner)
        self.queue.append(message.replace(seqno=self.sent + 1))
        self.net.add(message)
        self.bag[self.sent] += 1
        self.idle.start(self.seconds)
        self.timers[owner].stop()
        self.sent += 1
        return self.sent

    @transition(source=Conn.OPEN)
    def take(self, m: Data | Ack) -> Node | None:
        require(m in self.net, f"{m} is not there")
        match m:
            case Data(seqno, _, to):
                require(seqno < self.sent, "late")
                return to
            case Ack():
                return None

    @transition()
    def claim(self) -> Node:
        if self.owner is None:
            refuse("nobody owns it")
        return self.owner

    @transition(source=Conn.OPEN, target=(Conn.CLOSING, Conn.CLOSED), timer="idle")
    def expire(self) -> None:
        require(can(self.peer.hear, 3))
        if self.peer.hear(3) > 2:
            self.state = Conn.CLOSED
        else:
            self.state = Conn.CLOSING

    @event
    def ack(self, m: Ack) -> None: ...

    @transition(event="ack", source=Conn.OPEN)
    def ack_open(self, m: Ack) -> None:
        self.vote(Node("a"))

    def vote(self, n: Node) -> None:
        self.votes[n] = all(self.votes[k] for k in Node) or len(Node) > 3

    late = ignore("ack", source=Conn.CLOSED, because="gone")
    low = ignore("ack", when=lambda self, m: m.seqno < self.sent, because="old")
    rest = ignore("ack", otherwise=True, because="unknown")

    @invariant
    def few(self) -> bool:
        return implies(self.sent > 3, len(self.queue) <= 4) and self.idle.armed

    @invariant
    def each(self, n: Node) -> bool:
        return self.votes[n] or not self.votes[n]

    @step_property
    def grows(self, after: "Sender") -> bool:
        return after.sent >= self.sent

    @reachable
    def some(self) -> bool:
        return self.sent == 1

    @recoverable
    def empty(self) -> bool:
        return len(self.queue) == 0

    @eventually
    def done(self) -> bool:
        return self.state == Conn.CLOSED

    @leads_to
    def served(self) -> tuple[bool, bool]:
        return self.sent > 0, self.sent == 0

    @terminal
    def gone(self) -> bool:
        return self.state == Conn.CLOSED

    @assume
    def positive(self) -> bool:
        return self.weights[True] >= 0

    @constraint
    def small(self) -> bool:
        return self.sent < 9

    deadlock_ok = True
    expects = Expect(few="violated", each=("violated", 2))
    fairness = Fairness(Weak("send", "take"), Strong("claim", each=()))
    scope = Scope({"Peer.heard": range(0, 3)}, Node=3, Payload=1, Nat=range(0, 5), queue=2, bag=2)
    broken = Scope(Node=2, expects=Expect(few="holds"))


def words(sender: Sender) -> None:
    """What words give, as type checkers see it."""
    assert_type(needed(sender.owner, "nobody"), Node)
    if sender.owner is None:
        refuse("nobody owns it")
    assert_type(sender.owner, Node)


def embed() -> None:
    """As a service embeds it."""
    nodes = {Node: ["a", "b"]}
    entry = Sender(seconds=30.0, universe=nodes)
    entry.begin(Node("a"))
    assert_type(entry.send(b"x"), int)
    assert_type(entry.take(Data(0, b"x", Node("a"))), Node | None)
    assert_type(entry.claim(), Node)
    assert_type(entry.owner, Node | None)
    assert_type(entry.state, Conn)
    assert_type(entry.lawful.at(Conn.OPEN), bool)
    assert_type(entry.lawful.enabled(), tuple[str, ...])
    assert_type(entry.lawful.next_deadline(), float | None)
    data = entry.lawful.snapshot()
    assert_type(Sender.lawful.restore(data, universe=nodes), Sender)
    assert_type(entry.lawful.may("claim"), bool)
    assert_type(Sender.lawful.fingerprint.shape, str)
    assert_type(Sender.lawful.ir.name, str)
    assert_type(Ack(1).replace(seqno=2), Ack)
    try:
        entry.lawful.take("ack", Ack(1))
    except Refused as refused:
        assert_type(refused.event, str)
