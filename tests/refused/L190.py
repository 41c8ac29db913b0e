"""What the language has and this version does not support."""

from typing import Annotated

from lawful import Clock, Machine, Nat, OrderedSort, Serial, refines, require, successor, transition


class Node(OrderedSort):
    pass


class Entry(Machine):
    sent: Nat = 0


class Table(Machine):
    clock: Clock = Clock()
    next: Annotated[int, Serial(bits=16)] = 0
    peers: dict[Nat, Entry] = {}
    token: Node = Node("a")
    queue: list[Nat] = []

    @transition()
    def pass_token(self) -> None:
        self.token = successor(self.token)

    @transition()
    def first(self, low: Nat) -> Nat:
        return next((10 // q for q in self.queue), low)

    @refines(Entry)
    def view(self) -> Entry:
        return Entry.lawful.state(sent=0)
