"""A part's `@initial`, called by its whole: its guards join, and it comes once."""

from __future__ import annotations

import pytest

from lawful import Refused
from lawful.checks.explore import explore
from lawful.checks.prove import prove
from lawful.checks.verdict import Verdict
from lawful.spec.lower import lower
from tests.checks.declarations.part_starts import Door, Hub, Node
from tests.checks.reference.agreement import agreement
from tests.spec import texts

A, B = Node("a"), Node("b")


def test_counts() -> None:
    """Four starts (two chiefs, two levels that are admitted); each node is absent or at level 1 or
    2, joining takes two levels: 4 * 9 states, and 4 * 9 * 2 nodes, a third of them absent, twice.
    Which levels a part admits that is made in the step is not known from the text.
    """
    r = Hub.lawful.resolved
    result = explore(lower(r.machine, r.scopes["scope"]), r.world, {})
    assert (result.distinct, result.generated, result.depth) == (36, 4 + 48, 3)
    assert {p.verdict for p in result.properties} == {Verdict.HOLDS_WITHIN_SCOPE}


def test_proofs() -> None:
    found = prove(Hub.lawful.ir, sizes={"Node": 2}).properties
    assert {p.verdict for p in found} == {Verdict.PROVED_WITHIN}


def test_python_itself_agrees() -> None:
    compared = agreement(Hub)
    assert (compared.states, compared.differences) == (36, ())


def test_its_guards_join_those_of_the_whole() -> None:
    refused = Hub(universe={Node: ["a", "b"]})
    with pytest.raises(Refused, match="start: too high"):
        refused.start(A, 2)
    refused.start(A, 1)
    before = refused.lawful.snapshot()
    with pytest.raises(Refused, match="join: too high"):
        refused.join(B, 2)
    assert refused.lawful.snapshot() == before
    refused.join(B, 1)
    assert (refused.peers[B].owner, refused.peers[B].level) == (B, 2)
    with pytest.raises(RuntimeError, match="it has started"):
        refused.peers[B].begin(A, 0)


PARTS = """
class Cell(Machine):
    held: Nat
    @initial
    def begin(self, held: Nat) -> None:
        self.held = held
    @transition()
    def put(self) -> None:
        self.held += 1
class Side(Enum):
    LEFT = "l"
    RIGHT = "r"
"""
WAYS: dict[str, tuple[str, list[str]]] = {
    "in both branches": (
        """
    cells: dict[Nat, Cell] = {}
    @transition()
    def add(self, n: Nat) -> None:
        self.cells[n] = Cell()
        if n > 2:
            self.cells[n].begin(1)
        else:
            self.cells[n].begin(2)
""",
        [],
    ),
    "in one branch": (
        """
    cells: dict[Nat, Cell] = {}
    @transition()
    def add(self, n: Nat) -> None:
        self.cells[n] = Cell()
        if n > 2:
            self.cells[n].begin(1)
""",
        ["L213"],
    ),
    "literal keys": (
        """
    cells: dict[Side, Cell] = total(Cell())
    @initial
    def start(self) -> None:
        self.cells[Side.LEFT].begin(1)
        self.cells[Side.RIGHT].begin(1)
""",
        [],
    ),
    "one literal key alone": (
        """
    cells: dict[Side, Cell] = total(Cell())
    @initial
    def start(self) -> None:
        self.cells[Side.LEFT].begin(1)
""",
        ["L213"],
    ),
    "one literal key twice": (
        """
    cells: dict[Side, Cell] = total(Cell())
    @initial
    def start(self) -> None:
        self.cells[Side.LEFT].begin(1)
        self.cells[Side.LEFT].begin(1)
        self.cells[Side.RIGHT].begin(1)
""",
        ["L220"],
    ),
    "a family never": (
        """
    cells: dict[Side, Cell] = total(Cell())
    @initial
    def start(self) -> None:
        pass
""",
        ["L213"],
    ),
    "no start at all": (
        """
    cell: Cell = Cell()
""",
        ["L213"],
    ),
    "stepped before": (
        """
    cell: Cell = Cell()
    @initial
    def start(self) -> None:
        self.cell.put()
        self.cell.begin(1)
""",
        ["L213", "L220"],
    ),
    "by a helper": (
        """
    cell: Cell = Cell()
    @initial
    def start(self) -> None:
        self.help()
    def help(self) -> None:
        self.cell.begin(1)
""",
        ["L220"],
    ),
    "made over and over": (
        """
    cells: dict[Side, Cell] = {}
    @transition()
    def add(self) -> None:
        for side in Side:
            self.cells[side] = Cell()
            self.cells[side].begin(1)
""",
        [],
    ),
}


@pytest.mark.parametrize("name", WAYS)
def test_where_it_may_be_called(name: str) -> None:
    text, numbers = WAYS[name]
    assert texts.numbers(f"{PARTS}class M(Machine):{text}") == numbers


def test_a_property_begins_nothing() -> None:
    text = f"{PARTS}class M(Machine):\n    cell: Cell = Cell()\n    @initial\n"
    text += "    def start(self) -> None:\n        self.cell.begin(1)\n    @invariant\n"
    text += "    def p(self) -> bool:\n        self.cell.begin(1)\n        return True\n"
    assert "L208" in texts.numbers(text)


def test_an_event_without_a_body_may_say_so() -> None:
    door = Door()
    assert (door.push(1), door.push(0), door.lawful.ir.event("push").doc) == (
        1,
        1,
        "How often it was opened.",
    )
    transition = "class M(Machine):\n    @transition()\n    def go(self) -> int:\n"
    assert texts.numbers(f"{transition}        raise NotImplementedError\n") == ["L102"]
