"""Lists, maps and None in locals, and values that stand for others: as Python has them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import Phase, given, settings

from tests.spec import texts
from tests.spec.beside_python import STATES, Both, both_of, compare, text_of

# The type of the output, and the body.
BODIES = [
    # What a list of what has no order is used for.
    ("int", "old = [x for x in self.s if x > 0]\nfor x in old: self.s.discard(x)\nreturn len(old)"),
    ("int", "old = [k for k, v in self.m.items() if v > 1]\nfor k in old: del self.m[k]\nreturn 0"),
    ("bool", "old = [k for k in self.m if self.m[k]]\nif not old: return False\nreturn 2 in old"),
    ("int", "old = list(self.m)\nfor k in old: self.m.pop(k)\nreturn sum(old)"),
    ("int", "old = tuple(self.s)\nself.s.add(9)\nreturn len(old) + max(old, default=5)"),
    ("int", "old = list(self.s)\nself.s = set()\nreturn len([x for x in old if x > 0])"),
    (
        "tuple[int, ...]",
        "old = [x for x in self.s if x]\nreturn tuple(sorted(old, key=lambda x: (-x, x)))",
    ),
    ("int", "for k in [k for k, v in self.m.items() if v > 1]: self.m[k] = 0\nreturn 0"),
    ("int", "for x in [x for x in self.s if x > 0]: self.s.discard(x)\nreturn len(self.s)"),
    (
        "int",
        "return sum([v for v in self.m.values()]) + max([v for v in self.m.values()], default=7)",
    ),
    ("int", "self.s = set([v * 2 for v in self.m.values()])\nreturn min([1 // x for x in self.s])"),
    ("tuple[int, ...]", "return tuple(sorted([v % 2 for v in self.m.values()]))"),
    ("int", "old = list(self.xs)\nold.append(len(old))\nself.ys = old\nreturn self.ys[0]"),
    ("int", "old = [x for x in self.xs if x > 0]\nreturn old[0] if old else len(self.xs)"),
    # Locals whose first value says no type.
    (
        "int",
        "new = []\nfor x in self.xs:\n    if x not in new: new.append(x)\nself.xs = new\nreturn 0",
    ),
    (
        "int",
        "seen = set()\nfor x in self.xs:\n    if x in seen: return x\n    seen.add(x)\nreturn 9",
    ),
    ("int", "n = {}\nfor x in self.xs: n[x] = n.get(x, 0) + 1\nself.m = n\nreturn self.m[1]"),
    ("int", "n = dict()\nfor x in self.s: n[x] = x * 2\nself.m |= n\nreturn len(n)"),
    ("int", "new = list()\nfor j in self.q: new.append(j.n)\nnew.sort()\nreturn new[-1]"),
    (
        "int",
        "best = None\nfor j in self.q:\n    if best is None or j.n > best.n: best = j\n"
        "if best is None: return -5\nself.last = best\nreturn best.n",
    ),
    (
        "int",
        "found = None\nfor i, x in enumerate(self.xs):\n    if x > 1:\n        found = i\n"
        "        break\nreturn -1 if found is None else self.xs.pop(found)",
    ),
    ("int", "last = self.last\nif len(self.xs) > 1: last = None\nreturn last.n if last else 4"),
    ("int", "first = self.xs[0]\nif first < 1: first = None\nreturn 8 if first is None else first"),
    ("int", "if self.s:\n    n = None\nelse:\n    n = len(self.xs)\nreturn -1 if n is None else n"),
    (
        "int",
        "pairs = []\nfor k in sorted(self.m): pairs.append((k, self.m[k]))\nreturn pairs[0][1]",
    ),
    # One value or another.
    ("int", "return len(self.xs) or 7"),
    ("int", "return len(self.xs) - 1 or len(self.ys) or 1 // len(self.m)"),
    ("int", "return self.kept or 1"),
    ("int", "last = self.last or Job(Level.LOW, 5)\nself.last = last\nreturn last.n"),
    ("int", "return (self.top or self.last or self.q[0]).n"),
    ("int", "self.xs.append(self.xs[0] or 5)\nreturn self.ys[0] // self.xs[0] or -1"),
    ("bool", "x = len(self.xs) > 1 or 3 in self.s\nreturn x"),
    ("bool", "return any(x for x in self.xs) or all(v for v in self.m.values())"),
    ("bool", "return all(self.rows[k] for k in self.rows) and any(self.xs for x in self.ys)"),
    # Sets and any other collections of the same elements.
    ("bool", "return self.s.isdisjoint(self.m) and self.s.issubset(self.xs)"),
    ("int", "self.s = self.s.union(self.m.values()); return len(self.s.difference(self.ys))"),
    ("bool", "return self.s.issuperset(range(2)) or self.s.isdisjoint(self.bag)"),
    # A change before the loop is left.
    ("int", "for x in self.xs:\n    if x > 0:\n        self.xs.remove(x)\n        break\nreturn 0"),
    (
        "int",
        "for i, x in enumerate(self.xs):\n    if x < 1:\n        del self.xs[i]\n        "
        "return i\nreturn 9",
    ),
    (
        "int",
        "for x in self.xs:\n    if x > 0:\n        self.xs = self.ys + [x]\n        break\n"
        "else:\n    return 1\nreturn 2",
    ),
    (
        "int",
        "for x in self.xs:\n    for y in self.ys:\n        self.ys.append(x)\n        break\n"
        "return 0",
    ),
    (
        "int",
        "for x in self.xs:\n    if x > 1: return 5\n    self.xs.append(x)\n"
        "    if x < 1: self.xs.append(9)\n    return x\nreturn 0",
    ),
    # A round that reads the item at its own key.
    ("int", "for x in self.s: self.m[x] = self.m.get(x, 0) + 1\nreturn len(self.m)"),
    (
        "int",
        "for k, v in list(self.m.items()): self.m[k] = self.m.get(k, 5) * v\nreturn len(self.m)",
    ),
]


@pytest.fixture(scope="module")
def both() -> Both:
    return both_of(BODIES)


# Each example runs all bodies, so that it is not made smaller.
@settings(max_examples=8, phases=(Phase.reuse, Phase.generate))
@given(drawn=STATES)
def test_a_machine_has_the_locals_that_python_has(both: Both, drawn: dict[str, Any]) -> None:
    compare(both, BODIES, drawn)


REFUSED = {
    # The order would be shown.
    "old = [x for x in self.s if x > 0]\nreturn old[0]": "L210",
    "old = list(self.s)\nold.append(1)\nreturn len(old)": "L210",
    "old = list(self.s)\nself.xs = old\nreturn 0": "L210",
    "old = [x for x in self.s]\nfor x in old: self.xs.append(x)\nreturn 0": "L210",
    "old = [x for x in self.s]\nnew = [x + 1 for x in old]\nreturn new[0]": "L210",
    "for x in [x for x in self.s]: self.xs.append(x)\nreturn 0": "L210",
    "new = []\nfor x in self.s: new.append(x)\nreturn len(new)": "L210",
    # A list would hold a value twice, where a set has it once.
    "old = [v for v in self.m.values()]\nreturn old[0]": "L210",
    "old = list(self.m.values())\nreturn old[0]": "L210",
    "old = [x % 2 for x in self.s]\nreturn old[0]": "L210",
    "old = [x for x in self.s for y in self.m]\nreturn old[0]": "L210",
    "n = 0\nfor v in [v for v in self.m.values()]: n += v\nreturn n": "L210",
    "for x in self.s: self.m[x] = self.m.get(1, 0) + 1\nreturn 0": "L210",
    "for x in self.s: self.m[x] = self.m.get(x, len(self.m))\nreturn 0": "L210",
    # Nothing shows a type, or two things show two.
    "new = []\nreturn len(new)": "L215",
    "new = {}\nfor x in self.xs: new[x] = [x]\nreturn 0": "L215",
    "new = []\nnew.append(1)\nnew.append(True)\nreturn 0": "L203",
    "found = None\nif self.xs: found = 1\nfound = True\nreturn 0": "L203",
    "found = None\nif self.xs: found = 1\nreturn found": "L207",
    # Another round may come after the change.
    "for x in self.xs:\n    if x > 0: self.xs.remove(x)\nreturn 0": "L218",
    "for x in self.xs:\n    self.xs.append(x)\n    if x > 0: continue\n    break\nreturn 0": "L218",
    "for x in self.xs:\n    for y in self.ys:\n        self.xs.append(y)\n        break\n"
    "return 0": "L218",
    "for x in self.xs:\n    self.xs.append(x)\n    if x > 0: break\nreturn 0": "L218",
    "self.s = self.s.union(self.q)\nreturn 0": "L203",
    "self.s = self.s.union(5)\nreturn 0": "L203",
    # A container has to be copied, and 0 is no None.
    "xs = self.xs or self.ys\nxs.append(1)\nreturn len(xs)": "L211",
    "return self.xs.pop(0) or 1": "L102",
    "return any(j for j in self.q)": "L203",
}


@pytest.mark.parametrize("body", REFUSED, ids=range(len(REFUSED)))
def test_what_shows_an_order_or_no_type_is_refused(body: str) -> None:
    found = texts.problems(text_of([("int", body)]))
    assert found and {each.number for each in found} == {REFUSED[body]}


def test_what_a_first_look_meets_is_told_once() -> None:
    """A helper that is refused is refused in the second look, too."""
    body = "new = []\nfor x in self.xs: new.append(self._bad(x))\nself.xs = new\nreturn 0"
    text = (
        text_of([("int", body)]) + "\n    def _bad(self, x: int) -> int:\n        return 2 ** x\n"
    )
    assert [each.number for each in texts.problems(text)].count("L103") == 1
