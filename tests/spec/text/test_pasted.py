"""What `lawful show` prints of a machine, pasted into a module, is the same machine."""

from __future__ import annotations

import re
import sys
from typing import Any

import pytest

from lawful import Machine
from lawful.spec.resolve import resolve
from lawful.spec.text.declared import declaration
from tests.checks.reference.agreement import agreement
from tests.spec import texts
from tests.spec.text.test_golden import MACHINES

HEAD = """\
from __future__ import annotations
from collections import Counter
from collections.abc import Mapping
from enum import Enum, auto
from typing import Annotated, Literal
from annotated_types import Interval, MaxLen
from lawful import *
"""
# Their text has the ancestor's transition beside the one that calls it by `super()`.
CALLING_SUPER = {"Library", "SchedulingAllocator"}
PASTED = [cls for cls in MACHINES if cls.__name__ not in CALLING_SUPER]


def pasted(text: str, cls: type[Machine]) -> type[Machine]:
    """The class that a text is, which is shown of another."""
    found: type[Machine] = getattr(texts.module(text, HEAD), cls.__name__)
    return found


def essence(cls: type[Machine]) -> str:
    """The machine without places, docstrings, its module, and the names of locals of our own."""
    whole = repr(resolve(cls).machine).replace(cls.__module__, "")
    modules = {each.__module__ for each in resolve(cls).parts.values()}
    for module in modules:
        whole = whole.replace(module, "")
    whole = re.sub(r"Place\([^)]*\)", "", whole)
    # Of a docstring the first line is shown.
    whole = re.sub(r"""doc=('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""", "", whole)
    return re.sub(r"'it(_\d+)'", r"'\1'", whole)


@pytest.mark.one_in(6)
@pytest.mark.parametrize("cls", PASTED, ids=lambda cls: cls.__name__)
def test_what_is_shown_is_the_same_machine(cls: type[Machine]) -> None:
    text = declaration(resolve(cls))
    again = pasted(text, cls)
    assert declaration(resolve(again)) == text
    assert essence(again) == essence(cls)


def test_what_needs_its_ancestor_is_named() -> None:
    assert {cls.__name__ for cls in MACHINES if resolve(cls).machine.bases} == CALLING_SUPER


MOVED = """
class Way(State):
    A = 1
    B = 2

class Mode(State):
    C = 1
    D = 2

class M(Machine):
    {fields}

    @transition({header})
    def go(self) -> str:
        return ", ".join(f"{{n}}" for n in (1, 2)) + f"{{self.name(1)!s:>3}}"

    def name(self, n: Nat) -> str:
        return "one" if n == 1 else "\\"many\\""
"""


@pytest.mark.parametrize(
    ("fields", "header", "shown"),
    [
        ("way: Way = Way.A", "target=Way.B", "target=Way.B"),
        ("state: Mode = Mode.C; way: Way = Way.A", "target=Way.B", "target=Way.B"),
        ("state: Way = Way.A; way: Way = Way.A", "target=Way.B", "target=Way.B"),
        (
            "state: Way = Way.A; way: Way = Way.A",
            'target=Way.B, of="way"',
            'target=Way.B, of="way"',
        ),
        ("way: Way = Way.A; last: Way | None = None", 'target=Way.B, of="way"', 'of="way"'),
    ],
)
def test_a_header_names_its_variable_where_it_has_to(fields: str, header: str, shown: str) -> None:
    text = MOVED.format(fields=fields.replace("; ", "\n    "), header=header)
    cls = texts.machine(text)
    said = declaration(resolve(cls))
    assert shown in said
    assert ("of=" in said) == ("of=" in shown)
    assert essence(pasted(said, cls)) == essence(cls)


OF_CLASSES = """
class Square(Record):
    side: Nat

    def area(self) -> int:
        return self.side * self.side

    @property
    def total(self) -> int:
        return self.side + 1

    def max(self) -> int:
        return max(self.side, 2)

class Box(Square):
    high: Nat

    def area(self) -> int:
        return self.side * self.high

    @property
    def count(self) -> int:
        return self.high

class M(Machine):
    shape: Square | Box = Square(1)

    @transition()
    def go(self, box: Box) -> int:
        old, self.shape = self.shape, box
        total = box.total
        total += sum(1 for count in range(box.count))
        return total + old.area() + box.area() + old.total + old.max()

    scope = Scope(Nat=range(0, 3))
"""


def test_a_method_of_a_class_is_shown_by_a_name_that_nothing_else_has() -> None:
    cls = texts.machine(OF_CLASSES)
    said = declaration(resolve(cls))
    again = pasted(said, cls)
    assert declaration(resolve(again)) == said
    names = re.findall(r"^def (\w+)", said, re.MULTILINE)
    assert sorted(names) == [
        *("area", "area_of_square", "count_of_box", "max_of_box"),
        *("max_of_square", "total_of_box", "total_of_square"),
    ]
    assert not agreement(again).differences
    assert walked(cls) == walked(again)


def walked(cls: type[Machine]) -> list[int]:
    """What the event returns, of every box and one after the other."""
    boxes = vars(sys.modules[cls.__module__])["Box"]
    m: Any = cls()
    return [m.go(boxes(side, high)) for side in range(3) for high in range(3)]
