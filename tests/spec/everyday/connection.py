"""A connection with a heartbeat and a sequence number."""

from enum import Enum, auto
from typing import Annotated

from lawful import Machine, Nat, Record, Scope, Serial, State, Timer, invariant, require, transition

HEARTBEAT = 10
TIMEOUTS = [HEARTBEAT, 2 * HEARTBEAT, 4 * HEARTBEAT]


class Link(State):
    DOWN = auto()
    CONNECTING = auto()
    UP = auto()


class Frame(Record):
    seq: Annotated[int, Serial(bits=2)]
    kind: str = "data"


class Kind(Enum):
    OK = auto()
    LOST = auto()


class Connection(Machine):
    state: Link = Link.DOWN
    seq: Annotated[int, Serial(bits=2)] = 0
    missed: Nat = 0
    last: Kind | None = None
    beat: Timer = Timer()

    @transition(source=Link.DOWN, target=Link.CONNECTING)
    def connect(self) -> str:
        self.missed = 0
        return "SYN"

    @transition(source=Link.CONNECTING, target=Link.UP)
    def connected(self) -> None:
        self.last = Kind.OK
        self.beat.start(TIMEOUTS[0])

    @transition(source=Link.UP)
    def send(self) -> Frame:
        self.seq += 1
        return Frame(self.seq)

    @transition(source=Link.UP, timer="beat", target=[Link.UP, Link.DOWN])
    def beat_missed(self) -> None:
        self.missed += 1
        if self.missed == len(TIMEOUTS):
            self.state, self.last = Link.DOWN, Kind.LOST
        else:
            self.beat.start(TIMEOUTS[self.missed])

    @transition(source=Link.UP)
    def beat_seen(self) -> None:
        require(self.missed > 0 or self.last is Kind.OK, "not needed")
        self.missed = 0
        self.beat.start(TIMEOUTS[self.missed])

    @invariant
    def beating(self) -> bool:
        return self.beat.armed == (self.state == Link.UP)

    scope = Scope(missed=range(0, 4))
