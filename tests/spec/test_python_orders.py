"""Maps in the order of their keys, and lists of what has no order: a machine does what Python does
with the same text, for random values, or is refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import Phase, given, settings

from tests.spec import texts
from tests.spec.beside_python import STATES, Both, both_of, compare, text_of

BODIES = [
    (
        "int",
        "n = 0\nfor k, r in sorted(self.rows.items()):\n    r.add(n)\n"
        "    n = n * 3 + len(r) + k\nreturn n",
    ),
    (
        "int",
        "n = 0\nfor k, r in sorted(self.rows.items()):\n    n = n * 3 + len(r)\n"
        "    if k > 0: del self.rows[k]\n    else: self.rows[k] = {n}\nreturn n",
    ),
    ("int", "return sum(len(r) * 2 ** 3 + k for k, r in sorted(self.rows.items()))"),
    (
        "int",
        "vs = [v % 2 for v in self.m.values()]\n"
        "return len(vs) + sum(vs) * 10 + sum(sorted(vs)[:1]) + (5 if 1 in vs else 0)",
    ),
    ("int", "vs = [9 // v for v in self.m.values()]\nreturn len(vs)"),
    ("int", "vs = list(self.m.values())\nreturn max(vs) - min(vs, default=1)"),
    ("int", "for x in self.s: self.m[x % 2] = self.m.get(x % 2, 3) + x\nreturn len(self.m)"),
    ("int", "for x in self.s: self.m[x % 2] = max(x, self.m.get(x % 2, 1))\nreturn len(self.m)"),
    (
        "int",
        "return int(self.q[0].level) + sum([j.level for j in self.q])",
    ),
]


@pytest.fixture(scope="module")
def both() -> Both:
    return both_of(BODIES)


# Each example runs all bodies, so that it is not made smaller.
@settings(max_examples=12, phases=(Phase.reuse, Phase.generate))
@given(drawn=STATES)
def test_a_machine_does_what_python_does(both: Both, drawn: dict[str, Any]) -> None:
    compare(both, BODIES, drawn)


REFUSED = [
    # What was put in order before the loop is another container after it.
    "n = 0\nfor k, r in sorted(self.rows.items()):\n    n += len(r)\n    self.rows[1] = {1}\n"
    "return n",
    "n = 0\nfor k, r in sorted(self.rows.items()):\n    n += len(r)\n    self.rows = {}\nreturn n",
    "for k, r in sorted(self.rows.items()):\n    self.rows[k] = {1}\n    r.add(2)\nreturn 0",
    "for k, r in sorted(self.rows.items()): pass\nreturn len(r)",
    "n = {(j.level, j.n) for j in self.q}\nreturn sorted(n, key=lambda p: p[0].name)[0][1]",
    # The values of a map may be there twice, and have no order.
    "vs = list(self.m.values())\nreturn vs[0]",
    "vs = [v for v in self.m.values()]\nreturn sorted(vs, key=lambda v: -v)[0]",
    "vs = [v % 2 for v in self.m.values()]\nn = 0\nfor v in vs: n = n * 2 + v\nreturn n",
    "vs = [v for v in self.m.values()]\nreturn next((v for v in vs), 0)",
    "vs = [v for v in self.m.values()]\nreturn 1 if vs == [1, 2] else 0",
    # Which round is the first at a key depends on the order.
    "for x in self.s: self.m[x % 2] = self.m.get(x % 2, x) + 1\nreturn 0",
    "for x in self.s: self.m[x % 2] = x - self.m.get(x % 2, 0)\nreturn 0",
    "for x in self.s: self.m[x % 2] = self.m.get(x % 2, 0) + len(self.m)\nreturn 0",
    "for x in self.s:\n    self.m[x % 2] = self.m.get(x % 2, 0) + 1\n    self.m[x] += 1\nreturn 0",
    "for x in self.s:\n    self.m[x % 2] = self.m.get(x % 2, 0) + 1\n"
    "    self.m[x] = self.m.get(x, 1) + 1\nreturn 0",
]


@pytest.mark.parametrize("body", REFUSED, ids=range(len(REFUSED)))
def test_what_shows_an_order_is_refused(body: str) -> None:
    assert texts.problems(text_of([("int", body)]))
