import enum
from typing import Annotated

from annotated_types import Interval

from lawful import (
    Machine,
    Scope,
    State,
    Timer,
    invariant,
    require,
    transition,
)

FLOORS = range(0, 4)
TOP = max(FLOORS)
Floor = Annotated[int, Interval(ge=0, le=3)]
DOOR_SECONDS = 3.0


class Direction(enum.Enum):
    UP = 1
    DOWN = -1

    def flip(self) -> "Direction":
        return Direction.DOWN if self is Direction.UP else Direction.UP


class Door(State):
    OPEN = "open"
    CLOSED = "closed"


class Elevator(Machine):
    door: Door = Door.CLOSED
    floor: Floor = 0
    direction: Direction = Direction.UP
    calls: set[Floor] = set()
    door_timer: Timer = Timer()

    @transition
    def call(self, floor: Floor) -> bool:
        if floor == self.floor and self.door is Door.OPEN:
            self.door_timer.start(DOOR_SECONDS)
            return False
        new = floor not in self.calls
        self.calls |= {floor}
        return new

    @transition(source=Door.CLOSED)
    def move(self) -> Floor:
        require(self.calls, "nobody called")
        require(self.floor not in self.calls, "should open")
        above = [f for f in self.calls if f > self.floor]
        below = [f for f in self.calls if f < self.floor]
        if (self.direction == Direction.UP and not above) or (
            self.direction == Direction.DOWN and not below
        ):
            self.direction = self.direction.flip()
        self.floor += self.direction.value
        return self.floor

    @transition(source=Door.CLOSED, target=Door.OPEN)
    def open(self) -> None:
        require(self.floor in self.calls)
        self.calls -= {self.floor}
        self.door_timer.start(DOOR_SECONDS)

    @transition(source=Door.OPEN, target=Door.CLOSED, timer="door_timer")
    def close(self) -> None: ...

    @transition(source=Door.OPEN)
    def hold(self, times: int = 1) -> float:
        require(0 < times < 3, "out of range")
        wait = DOOR_SECONDS * 2 if times == 2 else DOOR_SECONDS
        self.door_timer.start(wait)
        return wait

    def nearest(self) -> Floor | None:
        return min(self.calls, key=lambda f: (abs(f - self.floor), f), default=None)

    @transition
    def ask(self) -> Floor | None:
        return self.nearest()

    @transition
    def display(self) -> str:
        arrow = "^" if self.direction is Direction.UP else "v"
        stops = sorted(self.calls, reverse=self.direction is Direction.DOWN)
        return f"{arrow} {self.floor} -> {stops[0] if stops else '-'}"

    @transition
    def stops(self) -> list[Floor]:
        ahead = sorted(f for f in self.calls if f >= self.floor)
        behind = sorted((f for f in self.calls if f < self.floor), reverse=True)
        return ahead + behind if self.direction is Direction.UP else behind + ahead

    @invariant
    def in_shaft(self) -> bool:
        return 0 <= self.floor <= TOP and all(c in FLOORS for c in self.calls)

    @invariant
    def timer_while_open(self) -> bool:
        return self.door_timer.armed == (self.door == Door.OPEN)

    scope = Scope(int=range(0, 4))
