"""Seats of a cinema, held and booked."""

from dataclasses import dataclass

from lawful import Machine, Nat, Scope, Sort, invariant, require, transition


class Seat(Sort): ...


class Guest(Sort): ...


@dataclass(frozen=True)
class Ticket:
    seat: Seat
    guest: Guest


class Booking(Machine):
    held: dict[Seat, Guest] = {}
    tickets: set[Ticket] = set()

    @transition
    def hold(self, guest: Guest, seats: frozenset[Seat]) -> None:
        require(len(seats) > 0, "choose a seat")
        require(not any(s in self.held for s in seats), "held by someone")
        require(not (seats & self._sold()), "sold")
        self.held.update({seat: guest for seat in seats})

    @transition
    def release(self, guest: Guest) -> Nat:
        before = len(self.held)
        self.held = {s: g for s, g in self.held.items() if g != guest}
        return before - len(self.held)

    @transition
    def book(self, guest: Guest) -> frozenset[Ticket]:
        mine = frozenset(Ticket(s, g) for s, g in self.held.items() if g == guest)
        require(len(mine) > 0, f"{guest} holds nothing")
        self.tickets |= mine
        for ticket in mine:
            del self.held[ticket.seat]
        return mine

    def _sold(self) -> frozenset[Seat]:
        return frozenset(t.seat for t in self.tickets)

    @invariant
    def one_ticket_a_seat(self) -> bool:
        return len({t.seat for t in self.tickets}) == len(self.tickets)

    scope = Scope(Seat=2, Guest=2)
