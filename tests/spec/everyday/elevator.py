"""An elevator with a door."""

from enum import StrEnum, auto
from typing import Annotated

from annotated_types import Interval

from lawful import Fairness, Machine, Scope, Weak, invariant, leads_to, refuse, require, transition

FLOORS = 4
Floor = Annotated[int, Interval(ge=0, le=FLOORS - 1)]


class Direction(StrEnum):
    UP = auto()
    DOWN = auto()
    IDLE = auto()


class Door(StrEnum):
    OPEN = auto()
    CLOSED = auto()


class Elevator(Machine):
    floor: Floor = 0
    direction: Direction = Direction.IDLE
    door: Door = Door.CLOSED
    requests: set[Floor] = set()

    @transition
    def call(self, floor: Floor) -> None:
        if floor == self.floor and self.door is Door.OPEN:
            return
        self.requests.add(floor)

    @transition
    def open_door(self) -> None:
        require(self.door == Door.CLOSED, "already open")
        require(self.floor in self.requests, "nobody wants this floor")
        self.door = Door.OPEN
        self.requests.discard(self.floor)

    @transition
    def close_door(self) -> None:
        if self.door != Door.OPEN:
            refuse("not open")
        self.door = Door.CLOSED

    @transition
    def move(self) -> Direction:
        require(self.door == Door.CLOSED and bool(self.requests), "nothing to do")
        require(self.floor not in self.requests)
        above = [f for f in range(FLOORS) if f > self.floor and f in self.requests]
        below = any(f < self.floor for f in self.requests)
        match self.direction:
            case Direction.UP if above:
                self.floor += 1
            case Direction.DOWN if below:
                self.floor -= 1
            case _:
                if above:
                    self.direction, self.floor = Direction.UP, self.floor + 1
                else:
                    self.direction, self.floor = Direction.DOWN, self.floor - 1
        return self.direction

    @transition
    def rest(self) -> None:
        require(not self.requests, "there are requests")
        require(self.direction != Direction.IDLE)
        self.direction = Direction.IDLE

    @invariant
    def floor_exists(self) -> bool:
        return 0 <= self.floor < FLOORS

    @leads_to
    def every_call_is_served(self, floor: Floor) -> tuple[bool, bool]:
        return floor in self.requests, floor not in self.requests

    fairness = Fairness(Weak("open_door"), Weak("close_door"), Weak("move"))
    scope = Scope()
