"""The machine in which a random method stands: its variables, and what reads and fills them."""

from __future__ import annotations

KINDS = """\
from dataclasses import replace
from itertools import chain, combinations, pairwise, permutations, product


class Color(Enum):
    RED = 1
    BLUE = 2
    GREEN = 3


class Item(Record):
    size: int = 0
    color: Color = Color.RED


"""
VARIABLES = """\
    n: int = 0
    flag: bool = False
    opt: int | None = None
    color: Color = Color.RED
    pair: tuple[int, int] = (0, 1)
    item: Item | None = None
    q: Annotated[list[int], MaxLen(3)] = []
    r: Annotated[list[int], MaxLen(4)] = [1]
    s: set[int] = set()
    m: dict[int, int] = {}
    c: Counter[int] = Counter()
    items: Annotated[list[Item], MaxLen(2)] = []
    rows: dict[int, Annotated[list[int], MaxLen(3)]] = {}
    tags: dict[Color, set[int]] = {}
    inner: dict[int, dict[int, int]] = {}

    def _scaled(self, x: int) -> int:
        if x > 3:
            return x % 4
        total = 0
        for y in self.q:
            if y == x:
                continue
            total += y
        return total + x

    def _long(self, x: int) -> bool:
        return len(self.q) > x or x in self.s

    def _taken(self) -> int:
        if not self.q:
            return -1
        return self.q.pop(0)

    @transition
    def fill(self, k: Nat, j: Nat) -> None:
        self.rows.setdefault(k, []).append(j)
        self.tags.setdefault(Color.RED if k else Color.BLUE, set()).add(j)
        self.inner.setdefault(j, {})[k] = j
        self.q.append(k)
        self.m[k] = j
        self.opt = k if j else None

"""
PLAIN = f"""\
{KINDS}class M(Machine):
{VARIABLES}    def _note(self, x: int) -> None:
        if x not in self.q:
            self.q.append(x)
        self.n = x

"""
METHOD = "    @transition\n    def go(self, k: Nat, j: Nat) -> int | None:\n"
PROPERTY = """
    @invariant
    def kept(self, k: Nat, j: Nat) -> bool:
        return {0}

    @step_property
    def stepped(self, after: M) -> bool:
        k, j = after.n, len(after.q)
        return j <= 2 or {1} < 3
"""
