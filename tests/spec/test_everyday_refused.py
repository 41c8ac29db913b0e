"""Python as people write it, where it has no plain meaning: it is refused."""

from __future__ import annotations

import pytest

from tests.spec import texts
from tests.spec.test_everyday import FIELDS, HEAD

WRONG = [
    ("self.n = self.q or 1", "L203"),  # It would be the list, or 1.
    ("require(self.n > 0, f'{self.q or self.s}')", "L203"),
    ("self.n = scaled(2, 2, 3)", "L204"),
    ("self.n = ROW is TABLE", "L203"),
    ("kept = [0]\n        for k in (1, 2): self.n = len(kept); kept = [k]; self.q = kept", "L211"),
    (
        "for k in (1, 2):\n            if k == 1: kept = [k]\n            self.q = kept",
        "L211",
    ),
    (
        "for k in (1, 2):\n            kept = [k]\n            for j in (1, 2): self.q = kept",
        "L211",
    ),
    ("for k in (1, 2): kept = [k]; self.q = kept\n        self.n = len(kept)", "L211"),
    (
        "for k in (1, 2):\n            kept = [k]\n            if self.n: self.q = kept\n"
        "            kept.append(1)",
        "L211",
    ),
    ("if (1, 2, 4) == TABLE: self.n = 1", "L203"),  # A list equals no tuple.
    ("if TABLE != ROW: self.n = 1", "L203"),
    ("if LISTS[self.n] == (1, 4): self.n = 1", "L203"),
    ("if self.q == LISTS[self.n]: self.n = 1", "L203"),
    ("if MIXED == (1, True): self.n = 1", "L203"),
    ("self.m = self.m | {Mode.A: 1}", "L203"),
    ("self.n = len([self.m[1]] * self.n)", "L203"),  # With no element `m[1]` is evaluated, too.
    ("rows = [[1]] * 2", "L211"),  # Both are one list.
    ("self.n = sum(a for i, (a, b) in enumerate([ROW]))", "L203"),
    (
        "p = {(x, y): x + y for x in self.s for y in self.s}\n"
        "        self.n = len({(a, a): n for (a, b), n in p.items()})",
        "L210",
    ),
    (
        "kept = [1]\n        if self.n == 1: self.q = kept\n"
        "        found = [kept for kept in self.s]\n        self.q.append(2)\n"
        "        self.n = len(kept)",
        "L211",
    ),
    ("raise ValueError('no')", "L102"),
    ("if str(self.n) == '1': self.k = 1", "L203"),
    ("match str(self.n):\n            case '1': self.k = 1", "L203"),
    ("said: set[str] = {str(self.n)}", "L202"),
    ("self.n = len(str(self.n))", "L203"),
]


@pytest.mark.parametrize(("statement", "number"), WRONG)
def test_what_has_no_plain_meaning_is_refused(statement: str, number: str) -> None:
    found = texts.problems(
        f"{HEAD}\nclass M(Machine):{FIELDS}\n    @transition\n"
        f"    def go(self) -> None:\n        {statement}\n"
    )
    assert found
    assert {problem.number for problem in found} == {number}
