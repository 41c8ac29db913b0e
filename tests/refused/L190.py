"""What the language has and this version does not support."""

from typing import Annotated

from lawful import Machine, Nat, Serial, refines, transition


class Entry(Machine):
    sent: Nat = 0


class Table(Machine):
    next: Annotated[int, Serial(bits=16)] = 0
    queue: list[Nat] = []

    @transition()
    def first(self, low: Nat) -> Nat:
        return next((10 // q for q in self.queue), low)

    @refines(Entry)
    def view(self) -> Entry:
        return Entry.lawful.state(sent=0)
