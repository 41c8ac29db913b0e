"""Types that are not of the language."""

from collections.abc import Mapping
from enum import Flag
from typing import Annotated, Any

from annotated_types import MaxLen, MultipleOf

from lawful import Machine, Nat, Param, Record, transition


class Bits(Flag):
    A = 1
    B = 2


class Message(Record):
    seqno: Nat
    body: list[Nat]


class Cell(Machine):
    held: Nat = 0


class Peer(Machine):
    name: str = "a"
    data: bytes | None = None
    anything: Any = None
    bits: Bits = Bits.A
    rate: float = 0.5
    loose: list = []
    table: dict[Nat, Param[Nat]] = {}
    nested: set[frozenset[set[Nat]]] = set()
    either: Nat | bool = 0
    even: Annotated[int, MultipleOf(2)] = 0
    few: Annotated[set[Nat], MaxLen(2)] = set()
    cells: list[Cell] = []
    maybe: Cell | None = None
    grid: dict[Nat, dict[Nat, Cell]] = {}
    shelf: dict[Nat, Cell] = {}

    @transition()
    def send(self, message: Message) -> None: ...

    @transition()
    def fill(self, cell: Cell) -> None:
        kept = tuple(self.shelf.values())
        new = Cell()

    @transition()
    def many(self, messages: dict[Nat, bool]) -> dict[Nat, list[Nat]]:
        return {}

    @transition()
    def weigh(self, weights: Mapping[int, Nat]) -> None: ...
