"""A lift that serves requests in its direction first."""

from typing import Annotated

from annotated_types import Interval

from lawful import Machine, Scope, State, invariant, require, transition

TOP = 2
Floor = Annotated[int, Interval(ge=0, le=TOP)]


class Doors(State):
    OPEN = "open"
    CLOSED = "closed"


class Lift(Machine):
    doors: Doors = Doors.CLOSED
    floor: Floor = 0
    up: bool = True
    inside: set[Floor] = set()
    calls: dict[Floor, bool] = {}

    def wanted(self) -> set[int]:
        return self.inside | set(self.calls)

    def ahead(self) -> list[int]:
        floors = range(self.floor + 1, TOP + 1) if self.up else range(self.floor)
        return [f for f in floors if f in self.wanted()]

    @transition
    def press(self, floor: Floor) -> None:
        if floor != self.floor or self.doors is Doors.CLOSED:
            self.inside.add(floor)

    @transition
    def call(self, floor: Floor, up: bool) -> bool:
        require(0 <= floor <= TOP, "no such floor")
        return self.calls.setdefault(floor, up)

    @transition(source=Doors.CLOSED)
    def move(self) -> int:
        require(self.floor not in self.wanted(), "somebody waits here")
        require(self.wanted(), "nobody waits")
        if not self.ahead():
            self.up = not self.up
        require(self.ahead(), "nowhere to go")
        self.floor += 1 if self.up else -1
        return self.floor

    @transition(source=Doors.CLOSED, target=Doors.OPEN)
    def arrive(self) -> tuple[int, bool]:
        require(self.floor in self.wanted(), "nobody wants this floor")
        asked = self.calls.pop(self.floor, None)
        self.inside.discard(self.floor)
        if asked is not None and not self.ahead():
            self.up = asked
        return self.floor, self.up

    @transition(source=Doors.OPEN, target=Doors.CLOSED)
    def close(self) -> list[int]:
        return sorted(self.wanted())

    @transition
    def next_stop(self) -> int | None:
        ahead = self.ahead()
        if ahead:
            return ahead[0] if self.up else ahead[-1]
        return next((f for f in sorted(self.wanted()) if f != self.floor), None)

    @invariant
    def within(self) -> bool:
        return 0 <= self.floor <= TOP

    @invariant
    def open_is_served(self) -> bool:
        return self.doors is Doors.CLOSED or not ({self.floor} & self.inside)

    deadlock_ok = True
    scope = Scope()
