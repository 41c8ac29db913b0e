"""What clients and brokers say to each other, and brokers and the bus, each as one line.

A client's command has a number, and the answer names it: `Completed` once the whole cluster will do
it, `Failed` if nothing happened. Meanwhile messages come as `Delivered`.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..joining import Count, Declared, Route
from ..ledger import Joined, Of
from ..messages import (
    AboutMessages,
    AboutWiring,
    Bind,
    Done,
    Exchange,
    Front,
    Gone,
    Node,
    QueueName,
)
from ..system import Left
from .wire import Raw

VERSION = 1

# From a client to a broker.


@dataclass(frozen=True, slots=True)
class DeclareQueue:
    """Make this queue, unless there is one."""

    number: int
    queue: QueueName


@dataclass(frozen=True, slots=True)
class BindQueue:
    """From now on the exchange routes to this queue, too."""

    number: int
    exchange: Exchange
    queue: QueueName


@dataclass(frozen=True, slots=True)
class DestroyQueue:
    """End the queue, with its messages."""

    number: int
    queue: QueueName


@dataclass(frozen=True, slots=True)
class Publish:
    """To all queues to which the exchange routes."""

    number: int
    exchange: Exchange
    body: bytes


@dataclass(frozen=True, slots=True)
class Send:
    """To this queue."""

    number: int
    queue: QueueName
    body: bytes


@dataclass(frozen=True, slots=True)
class Subscribe:
    """Deliver messages of this queue, while fewer than `credit` of them are not settled."""

    number: int
    queue: QueueName
    credit: int


@dataclass(frozen=True, slots=True)
class Unsubscribe:
    """Stop delivering; the messages that were delivered are still to be settled."""

    number: int
    queue: QueueName


@dataclass(frozen=True, slots=True)
class Accept:
    """It is done: nobody gets it again."""

    number: int
    queue: QueueName
    message: str


@dataclass(frozen=True, slots=True)
class Release:
    """Deliver it to somebody again."""

    number: int
    queue: QueueName
    message: str


@dataclass(frozen=True, slots=True)
class Reject:
    """It goes to the queue's alternate exchange, and ends if that has no queue."""

    number: int
    queue: QueueName
    message: str


Settlement = Accept | Release | Reject
Command = (
    DeclareQueue | BindQueue | DestroyQueue | Publish | Send | Subscribe | Unsubscribe
    | Accept | Release | Reject
)  # fmt: skip

# From a broker to a client.


@dataclass(frozen=True, slots=True)
class Welcome:
    """The first line. `node`: the broker's name in this life. `cluster`: its number, another one
    for each cluster that has begun; messages of an earlier one are gone."""

    version: int
    node: str
    cluster: int


@dataclass(frozen=True, slots=True)
class Completed:
    """All members do what the command says, or will have done so before they do anything later."""

    number: int


@dataclass(frozen=True, slots=True)
class Failed:
    """Nothing happened. Number 0: the line had no number that could be read."""

    number: int
    why: str


@dataclass(frozen=True, slots=True)
class Delivered:
    """A message is yours until you settle it. `redelivered`: somebody may have had it before."""

    queue: QueueName
    message: str
    body: bytes
    redelivered: bool


@dataclass(frozen=True, slots=True)
class Ended:
    """The queue was destroyed: the subscription has ended, what was delivered is gone."""

    queue: QueueName


Answer = Welcome | Completed | Failed | Delivered | Ended

# Between brokers: in the total order, and from an updater to a node that joins.

Multicast = Of | AboutMessages | AboutWiring  # What a member says.
Said = Multicast | Joined | Left  # What has a place: the bus says who has joined or left.


@dataclass(frozen=True, slots=True)
class Interest:
    """The ownership of a queue at the place of a join."""

    queue: QueueName
    owner: Node | None
    consumers: frozenset[Node]


@dataclass(frozen=True, slots=True)
class Stall:
    """What a node that joins has to know before it goes on (Q48, Q56)."""

    queues: tuple[Declared, ...]
    declarations: int
    bindings: tuple[Bind, ...]
    counts: tuple[Count, ...]
    routes: tuple[Route, ...]
    interests: tuple[Interest, ...]


Told = Stall | Front | Gone | Done

# From a broker to the bus.


@dataclass(frozen=True, slots=True)
class Join:
    """The first line: a broker of this name wants to be a member."""

    version: int
    name: str


@dataclass(frozen=True, slots=True)
class Say:
    """Give this a place in the order."""

    said: Raw


@dataclass(frozen=True, slots=True)
class Tell:
    """Hand this to one member."""

    to: Node
    told: Raw


@dataclass(frozen=True, slots=True)
class Ready:
    """The sender has all queues: it can update others. The bus says so, too, when it knows: from
    then on the member stays if its updater leaves."""


@dataclass(frozen=True, slots=True)
class Alive:
    """Nothing else to say."""


FromMember = Join | Say | Tell | Ready | Alive

# From the bus to a broker.


@dataclass(frozen=True, slots=True)
class Member:
    """The broker is a member, under this name. `founder`: it is the first, and its queues are
    those of the cluster."""

    node: Node
    cluster: int
    founder: bool


@dataclass(frozen=True, slots=True)
class Place:
    """The next in the total order."""

    number: int
    sender: Node
    said: Raw


@dataclass(frozen=True, slots=True)
class Hand:
    """What one member tells another."""

    sender: Node
    told: Raw


FromBus = Member | Place | Hand | Ready | Alive
