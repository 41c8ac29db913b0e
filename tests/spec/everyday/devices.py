"""Elevator, OAuth device flow."""

from datetime import timedelta
from enum import IntEnum, StrEnum
from typing import Annotated
from uuid import UUID

from annotated_types import Interval

from lawful import (
    Clock,
    Machine,
    Nat,
    Record,
    Scope,
    State,
    Timer,
    invariant,
    refuse,
    require,
    terminal,
    transition,
)

TOP = 3
Floor = Annotated[int, Interval(ge=0, le=TOP)]


class Direction(IntEnum):
    DOWN = -1
    IDLE = 0
    UP = 1

    def opposite(self) -> "Direction":
        return Direction(-self.value)


class Doors(State):
    OPEN = "open"
    CLOSED = "closed"


class Elevator(Machine):
    state: Doors = Doors.CLOSED
    floor: Floor = 0
    direction: Direction = Direction.IDLE
    calls: set[Floor] = set()

    @property
    def ahead(self) -> set[int]:
        if self.direction == Direction.UP:
            return {f for f in self.calls if f > self.floor}
        if self.direction == Direction.DOWN:
            return {f for f in self.calls if f < self.floor}
        return set()

    @transition
    def call(self, floor: Floor) -> None:
        require(floor != self.floor or self.state is Doors.CLOSED, "is here")
        self.calls.add(floor)

    @transition(source=Doors.CLOSED)
    def decide(self) -> Direction:
        require(bool(self.calls), "no calls")
        require(not self.ahead, "keeps going")
        nearest = min(self.calls, key=lambda f: (abs(f - self.floor), f))
        if nearest > self.floor:
            self.direction = Direction.UP
        elif nearest < self.floor:
            self.direction = Direction.DOWN
        else:
            self.direction = Direction.IDLE
        return self.direction

    @transition(source=Doors.CLOSED)
    def move(self) -> int:
        require(self.direction is not Direction.IDLE and self.ahead, "nowhere to go")
        require(self.floor not in self.calls, "stop here first")
        self.floor += self.direction
        return self.floor

    @transition(source=Doors.CLOSED, target=Doors.OPEN)
    def open_doors(self) -> list[int]:
        require(self.floor in self.calls, "nobody wants to get out")
        self.calls.remove(self.floor)
        if not self.calls:
            self.direction = Direction.IDLE
        return sorted(self.calls, reverse=self.direction is Direction.DOWN)

    @transition(source=Doors.OPEN, target=Doors.CLOSED)
    def close_doors(self) -> None: ...

    @invariant
    def in_the_building(self) -> bool:
        return 0 <= self.floor <= TOP

    @invariant
    def moves_only_to_calls(self) -> bool:
        return self.direction is Direction.IDLE or len(self.calls) > 0

    scope = Scope()
    deadlock_ok = True


class DeviceStatus(StrEnum):
    PENDING = "authorization_pending"
    SLOW_DOWN = "slow_down"
    GRANTED = "granted"
    DENIED = "access_denied"
    EXPIRED = "expired_token"


class Flow(State):
    IDLE = "idle"
    WAITING = "waiting"
    APPROVED = "approved"
    DENIED = "denied"
    EXPIRED = "expired"
    DONE = "done"

    @property
    def is_terminal(self) -> bool:
        return self in {Flow.DENIED, Flow.EXPIRED, Flow.DONE}


class Poll(Record):
    status: DeviceStatus
    interval: Nat
    message: str = ""


DEFAULT_INTERVAL = 1
LIFETIME = timedelta(seconds=4)


class DeviceFlow(Machine):
    clock: Clock = Clock(tick=1.0)
    state: Flow = Flow.IDLE
    device_code: UUID | None = None
    interval: Nat = DEFAULT_INTERVAL
    last_poll: Nat | None = None
    expiry: Timer = Timer(urgent=True)

    @transition(source=Flow.IDLE, target=Flow.WAITING)
    def start(self, device_code: UUID) -> dict[str, int]:
        self.device_code = device_code
        self.expiry.start(LIFETIME.total_seconds())
        return {"interval": self.interval, "expires_in": int(LIFETIME.total_seconds())}

    @transition(source=Flow.WAITING, target=(Flow.APPROVED, Flow.DENIED))
    def user_decides(self, *, approve: bool) -> None:
        self.state = Flow.APPROVED if approve else Flow.DENIED
        if not approve:
            self.expiry.stop()

    @transition(source=Flow.WAITING, target=Flow.EXPIRED, timer="expiry")
    def expire_waiting(self) -> None:
        self.device_code = None

    @transition(source=Flow.APPROVED, target=Flow.EXPIRED, timer="expiry")
    def expire_approved(self) -> None:
        self.device_code = None

    @transition(source=[Flow.WAITING, Flow.APPROVED, Flow.DENIED])
    def poll(self, device_code: UUID) -> Poll:
        if device_code != self.device_code:
            refuse("unknown device code")
        now = self.clock.now
        too_fast = self.last_poll is not None and now - self.last_poll < self.interval
        self.last_poll = now
        if too_fast:
            self.interval = min(self.interval + 1, 3)
            return Poll(DeviceStatus.SLOW_DOWN, self.interval, message=f"wait {self.interval}s")
        if self.state == Flow.WAITING:
            return Poll(DeviceStatus.PENDING, self.interval)
        if self.state == Flow.DENIED:
            return Poll(DeviceStatus.DENIED, self.interval, "no")
        self.state = Flow.DONE
        self.expiry.stop()
        return Poll(status=DeviceStatus.GRANTED, interval=0)

    @terminal
    def over(self) -> bool:
        return self.state.is_terminal

    @invariant
    def code_while_waiting(self) -> bool:
        return self.state not in (Flow.WAITING, Flow.APPROVED) or self.device_code is not None

    @invariant
    def polls_in_the_past(self) -> bool:
        return self.last_poll is None or self.last_poll <= self.clock.now

    scope = Scope(UUID=1, clock=range(0, 6), Nat=range(0, 8))
