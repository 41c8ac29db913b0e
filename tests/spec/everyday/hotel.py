from datetime import timedelta
from enum import auto

from lawful import (
    Machine,
    Nat,
    Param,
    Record,
    Scope,
    Sort,
    State,
    Timer,
    invariant,
    reachable,
    refuse,
    require,
    terminal,
    transition,
)

HOLD = timedelta(minutes=15)
GRACE = timedelta(minutes=5)
MAX_ROOMS = 2


class Guest(Sort):
    """Somebody who books."""


class Room(Sort):
    """A room."""


class BookingState(State):
    HELD = auto()
    PAID = auto()
    CHECKED_IN = auto()
    CANCELLED = auto()


class Booking(Record):
    guest: Guest
    nights: Nat
    state: BookingState = BookingState.HELD

    @property
    def active(self) -> bool:
        return self.state not in (BookingState.CANCELLED,)

    def with_state(self, state: BookingState) -> "Booking":
        return self.replace(state=state)


class Receipt(Record):
    guest: Guest
    rooms: tuple[Room, ...]
    total: Nat


class Desk(State):
    OPEN = "open"
    CLOSED = "closed"


class Hotel(Machine):
    desk: Desk = Desk.OPEN
    bookings: dict[Room, Booking] = {}
    hold: dict[Room, Timer] = {}
    hold_for: Param[timedelta] = HOLD
    price: Param[Nat] = 1
    cancelled_count: Nat = 0

    @transition(source=Desk.OPEN)
    def book(self, guest: Guest, room: Room, nights: Nat) -> Booking:
        require(nights > 0, "at least a night")
        if room in self.bookings and self.bookings[room].active:
            refuse("taken")
        mine = [r for r, b in self.bookings.items() if b.guest == guest and b.active]
        require(len(mine) < MAX_ROOMS, f"a guest has at most {MAX_ROOMS} rooms")
        booking = Booking(guest, nights)
        self.bookings[room] = booking
        self.hold[room].start(self.hold_for + GRACE)
        return booking

    @transition(source=Desk.OPEN)
    def pay(self, guest: Guest) -> Receipt:
        rooms = {
            r for r, b in self.bookings.items() if b.guest == guest and b.state == BookingState.HELD
        }
        require(rooms, "nothing to pay")
        total = sum(self.bookings[r].nights * self.price for r in rooms)
        for r in rooms:
            self.bookings[r] = self.bookings[r].with_state(BookingState.PAID)
            self.hold[r].stop()
        return Receipt(guest=guest, rooms=tuple(rooms), total=total)

    @transition()
    def hold_expired(self, room: Room) -> str:
        booking = self.bookings.get(room)
        if booking is None or booking.state is not BookingState.HELD:
            refuse("no hold")
        self.bookings[room] = booking.replace(state=BookingState.CANCELLED)
        self.cancelled_count += 1
        return f"{room}: hold of {booking.guest} ran out"

    @transition(source=Desk.OPEN)
    def check_in(self, guest: Guest, room: Room) -> None:
        match self.bookings.get(room):
            case Booking(guest=g, state=BookingState.PAID) if g == guest:
                self.bookings[room] = self.bookings[room].with_state(BookingState.CHECKED_IN)
            case Booking():
                refuse("not yours or not paid")
            case None:
                refuse("no booking")

    @transition(source=Desk.OPEN)
    def check_out(self, room: Room) -> None:
        require(
            room in self.bookings and self.bookings[room].state == BookingState.CHECKED_IN,
            "nobody there",
        )
        del self.bookings[room]

    @transition(source=Desk.OPEN, target=Desk.CLOSED)
    def close(self) -> None:
        require(all(not b.active for b in self.bookings.values()), "guests are left")

    @terminal
    def closed(self) -> bool:
        return self.desk == Desk.CLOSED

    @invariant
    def nobody_has_too_many(self, guest: Guest) -> bool:
        return sum(b.guest == guest and b.active for b in self.bookings.values()) <= MAX_ROOMS

    @invariant
    def only_held_run_out(self) -> bool:
        return all(
            self.bookings[r].state == BookingState.HELD for r in self.hold if self.hold[r].armed
        )

    @reachable
    def full(self) -> bool:
        return len(self.bookings) == len(Room)

    scope = Scope(Guest=2, Room=2, Nat=range(0, 3))
