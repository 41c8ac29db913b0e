"""What the language has and this version does not support."""

from lawful import Machine, Nat, Timer, refines


class Entry(Machine):
    sent: Nat = 0
    idle: Timer = Timer()


class Table(Machine):
    queue: list[Nat] = []

    @refines(Entry)
    def view(self) -> Entry:
        return Entry.lawful.state(sent=0)
