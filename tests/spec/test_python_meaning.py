"""Forms of Python that stand for longer ones: a machine does what Python itself does with the same
text, for random values."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import Phase, given, settings

from tests.spec import texts
from tests.spec.beside_python import STATES, Both, both_of, compare, text_of

# The type of the output, and the body.
BODIES = [
    ("int", "return self.xs[0] ** 2 + (len(self.xs) - 2) ** 3 - 2**5"),
    ("int", "n = self.xs[0]; n **= 2; self.xs[0] **= 3; return n - self.xs[0] ** 1"),
    ("int", "return (self.xs[0] << 3) - (self.xs[0] >> 1) + (3 << 4)"),
    ("tuple[int, ...]", "self.xs = self.xs[::-1]; return tuple(self.ys[::-1])"),
    ("tuple[int, ...]", "return (len(self.xs), 3)[::-1] + STEPS[::-1]"),
    ("int", "lo, hi = sorted((self.xs[0], len(self.xs))); return hi - lo"),
    ("int", "self.xs[0], self.xs[-1] = self.xs; return self.xs[0]"),
    ("int", "a, b, c = self.ys; self.xs.append(c); return a - b"),
    ("int", "first, *self.ys, last = self.xs; return first - last"),
    ("int", "a, b, *mid, z = self.xs; self.ys = mid; return a - b + z"),
    ("int", "self.m = dict(zip(self.xs, self.ys)); return len(self.m)"),
    ("int", "self.m = dict(enumerate(self.xs, 1)); return self.m[1]"),
    ("int", "self.m = dict((x % 2, x) for x in self.xs); return len(self.m)"),
    ("int", "return 1 if self.kept else 0"),
    ("int", "for x in list(self.s):\n    if x > 1: self.s.discard(x)\nreturn len(self.s)"),
    ("int", "for k in list(self.m):\n    if k > 0: del self.m[k]\nreturn len(self.m)"),
    ("int", "for k in tuple(self.m.keys()):\n    self.m[k] = 1\nreturn len(self.m)"),
    (
        "int",
        "for k, v in list(self.m.items()):\n    if v < 1: self.m.pop(k)\n"
        "    else: self.m[k] = 9 // v\nreturn len(self.m)",
    ),
    ("int", "n = 0\nfor v in list(self.m.values()):\n    n += v\nreturn n"),
    ("int", "for x in list(self.xs):\n    self.xs.append(x)\nreturn len(self.xs)"),
    ("int", "if self.top is None:\n    return -1\nreturn self.top.n"),
    ("int", "if self.top:\n    self.xs.append(self.top.n)\nreturn len(self.xs)"),
    ("int", "return self.top.n if self.top is not None and self.top.n > 0 else 0"),
    ("bool", "return self.top is None or any(x > self.top.n for x in self.xs)"),
    ("int", "if not self.top:\n    return 0\nx = self.top.n\nreturn x + self.top.n"),
    ("tuple[tuple[int, int], ...]", "return tuple(enumerate(self.xs, start=1))"),
    ("int", "return sum(i * x for i, x in enumerate(reversed(self.xs), len(self.ys)))"),
    ("int", "for i, j in enumerate(self.q, -1):\n    self.xs.append(i * j.n)\nreturn 0"),
    ("str", "return f'{self.xs[0]!r}|{len(self.q) > 1!r:>6}|{self.q[0].level.name!r}'"),
    ("int", "return sum(WINDOW) + len(DOWN) + max(DOWN) + min(WINDOW) * 100"),
    ("bool", "return len(self.xs) in WINDOW and self.xs[0] not in DOWN"),
    ("tuple[int, ...]", "return tuple(x for x in DOWN if x in WINDOW)"),
    ("int", "self.s = set(WINDOW) | {x * 2 for x in DOWN}; return len(self.s & set(self.xs))"),
    ("int", "self.xs = [*WINDOW, *self.xs]; return self.xs[-1]"),
    ("tuple[tuple[int, int], ...]", "return tuple(zip(DOWN, self.xs))"),
    ("int", "self.m = {x: x + len(self.xs) for x in WINDOW}; return self.m[2]"),
    ("str", "return f'{self.xs[0]:>4}|{len(self.ys):+03d}|{self.xs[-1]:#x}|{1000 * self.xs[0]:,}'"),
    (
        "str",
        "return f'{str(self.xs[0]):<6}|{self.xs[0]!s:*^7}|{1 // len(self.xs):=+5}|{self.xs[0]!s}'",
    ),
    ("str", "return f'{RATE * 2 - 1:.2f}|{RATE:>+8.1e}|{2 * RATE:}|{len(WAITS) + RATE:_>9.1%}'"),
    ("str", "return f'{self.q[0].level.name:>6.2s}|{len(self.q) > 1!s:>6}'"),
    ("float", "return RATE * 2 - 0.5 + len(WAITS)"),
    ("float", "return WAITS[len(self.xs)].total_seconds()"),
    ("float", "return WAITS[-len(self.xs)].total_seconds()"),
    ("float", "return BY_LEVEL[self.q[0].level].total_seconds()"),
    ("int", "return BY_NAME[self.q[0].level.name]"),
    ("int", "return HIGH_ALONE[self.q[-1].level.name] + len(BY_LEVEL)"),
    ("int", "self._noted(); return len(self.xs)"),
    ("int", "return Level.least(len(self.xs)) + Level.least(self.ys[0], most=1)"),
    ("tuple[int, ...]", "return tuple([*self.xs, 7, *self.ys, len(self.xs)])"),
    ("int", "self.xs = [*self.ys]; self.ys = [0, *self.xs]; self.xs.append(9); return self.ys[0]"),
    ("int", "self.xs = [*[x for x in self.ys if x], *STEPS][-3:]; return self.xs[-1]"),
    ("int", "self.s = {*self.xs, *self.s, 8}; return len({*self.m.values()})"),
    ("int", "return sum(x * i - y for i, (x, y) in enumerate(zip(self.xs, self.ys)))"),
    ("int", "a = 3; b = [a + c for _, (a, c) in zip(self.xs, [(1, 2)])]; return a + sum(b)"),
    (
        "int",
        "for i, (x, (y, z)) in enumerate(zip(self.xs, enumerate(self.ys))):\n"
        "    x += y - z\n    self.xs[i] = x\nreturn len(self.xs)",
    ),
    ("int", "(x,) = self.xs; [y] = self.ys; (z,) = (x * y,); return z"),
    ("tuple[int, ...]", "return (*self.xs, len(self.ys), *self.ys)"),
    ("bool", "return (*self.xs, 1) == (1, 1)"),
    ("int", "self.xs = [len(self.ys)] * len(self.xs) + self.ys * 2; return len([0] * -1)"),
    ("tuple[int, ...]", "return (1, len(self.xs)) * len(self.ys) + (0,) * 2"),
    ("int", "while len(self.xs) > 1: self.ys.append(self.xs.pop())\nreturn len(self.xs)"),
    ("int", "while 2 <= len(self.xs): del self.xs[0]\nreturn len(self.xs)"),
    ("int", "while len(self.xs) > len(WAITS): del self.xs[0]\nreturn len(self.xs)"),
    ("int", "return len({*self.s}) + max([*self.xs, self.xs[0] // len(self.ys)])"),
    ("int", "return STEPS.index(len(self.xs)) + STEPS.count(2)"),
    ("int", "return sum(STEPS[: len(self.xs)]) + 10 * sum(STEPS[len(self.ys) :])"),
    ("tuple[int, ...]", "return STEPS[-len(self.xs) : len(self.ys) - 2]"),
    ("int", "return sum((1, 2, len(self.ys))[: self.xs[0]])"),
    ("bool", "return self.xs[0] in STEPS[len(self.ys) :]"),
    ("int | None", "return next(iter(self.xs), None)"),
    ("int", "return next(iter(self.xs[1:]), 6 // len(self.ys))"),
    ("int | None", "return next(iter([x for x in self.xs if x > 1]), None)"),
    ("bool", "return len(self.xs) in LOW_ODD"),
    ("int", "return self.last.n if self.last else -9"),
    ("int", "return self.last.n if self.last and self.last.level > 1 else -9"),
    ("bool", "return not self.last or self.last.n > 0"),
    ("tuple[int, ...]", "self.xs.sort(); return tuple(self.xs)"),
    ("tuple[int, ...]", "self.xs.sort(reverse=True); return tuple(self.xs)"),
    ("tuple[int, ...]", "self.xs.reverse(); return tuple(self.xs)"),
    ("tuple[int, ...]", "self.xs.sort(key=lambda x: x % 2); return tuple(self.xs)"),
    ("tuple[int, ...]", "self.xs.sort(key=lambda x: x % 2, reverse=True); return tuple(self.xs)"),
    ("tuple[int, ...]", "self.xs.sort(key=abs); return tuple(self.xs)"),
    ("tuple[Job, ...]", "return tuple(sorted(self.q, key=lambda j: j.level))"),
    (
        "tuple[Job, ...]",
        "return tuple(sorted(self.q, key=lambda j: (-j.level, j.n > 0), reverse=True))",
    ),
    ("tuple[Job, ...]", "return tuple(sorted(self.q, key=attrgetter('level'), reverse=True))"),
    ("tuple[Job, ...]", "return tuple(sorted(self.q, key=attrgetter('level', 'n')))"),
    ("tuple[Job, ...]", "return tuple(sorted(self.q, key=late))"),
    ("tuple[Job, ...]", "return tuple(sorted((j for j in self.q if j.n), key=lambda j: j.n))"),
    ("tuple[tuple[int, int], ...]", "return tuple(sorted(enumerate(self.xs), key=itemgetter(1)))"),
    ("tuple[int, ...]", "return tuple(sorted(self.s, key=lambda x: (x % 2, x), reverse=True))"),
    ("Job", "return min(self.q, key=lambda j: j.level)"),
    ("Job", "return max(self.q, key=lambda j: j.level)"),
    ("Job", "return max(self.q, key=lambda j: (j.level, -j.n))"),
    ("int | None", "return max(self.xs, key=lambda x: x % 3, default=None)"),
    ("int | None", "return min((x for x in self.xs if x > 0), key=lambda x: -x, default=None)"),
    ("int", "return min(self.s, key=lambda x: (abs(x), x))"),
    ("bool", "return all(a.level <= b.level for a, b in zip(self.q, self.q[1:]))"),
    ("int", "return sum(j.level + 1 for j in self.q)"),
    ("int", "a, b = self.xs[0], self.xs[1]; self.xs, self.ys = self.ys[1:], self.xs[:1]; return a"),
    ("int", "first, *self.ys = self.xs; return first"),
    ("int", "*self.xs, last = self.xs; return last"),
    ("int", "first, second, *rest = self.xs; self.ys = rest; return second"),
    ("int", "first, *_ = self.xs; self.xs.append(first); return first"),
    ("int | None", "self.kept = self.m.pop(1, None); return self.kept"),
    ("bool", "return self.m.pop(len(self.m), None) is None"),
    ("int", "self.m.setdefault(1, 7); return self.m[1]"),
    ("int", "self.m.setdefault(1, 6 // len(self.xs)); return self.m[1]"),
    ("int", "self.m.setdefault(self.xs[0], self.xs.pop()); return len(self.xs)"),
    ("int", "self.kept = self.m.setdefault(1, sum(self.m.values())); return self.m[1]"),
    ("int", "return min(self.m.setdefault(2, 1), self.m.setdefault(3, 0))"),
    ("int", "m = dict(self.m); x = m.setdefault(2, 9); return x + 10 * len(m) + len(self.m)"),
    ("int", "for x in self.xs: self.kept = self.m.setdefault(x, len(self.m))\nreturn 0"),
    # The key is another one after the map has changed.
    ("int", "return self.m.setdefault(len(self.m), 7)"),
    ("int", "self.kept = self.m.setdefault(max(self.m, default=0) + 1, len(self.m)); return 0"),
    # So is it after the local has its value.
    ("int", "x: int | None = len(self.xs); x = self.m.pop(x, None); return len(self.m)"),
    (
        "int",
        "self.m = {1: 2, 2: 5}; x: int | None = 1; x = self.m.pop(x, None); return len(self.m)",
    ),
    ("int", "x = len(self.xs); x = self.m.setdefault(x, 3); return x"),
    ("int", "self.rows.setdefault(2, set()).add(3); return len(self.rows[2])"),
    ("int", "self.rows.setdefault(2, set(self.xs)).add(3); return len(self.rows[2])"),
    ("int", "self.s.difference_update({1, 2}); return len(self.s)"),
    ("int", "self.s.intersection_update({1, 2}); return len(self.s)"),
    ("int", "self.s.symmetric_difference_update({1, 2}); return len(self.s)"),
    ("int", "return sum(n * c for n, c in self.bag.items())"),
    ("int", "del self.bag[1]; return sum(self.bag.values()) + len(self.bag.keys())"),
    ("bool", "return 1 in self.bag.keys() and max(self.bag.values()) > 1"),
    ("int", "return sum(x > 0 for x in self.s) + sum(not j.n for j in self.q)"),
    ("int", "return sum(6 // x > 2 for x in self.xs)"),
    ("tuple[int, ...]", "return tuple(self._clamped(x, high=1) for x in self.xs)"),
    ("int", "self.xs.append(M._clamped(self.xs.pop(0), -1)); return self.xs[-1]"),
    ("Level", "return Level.at_least(len(self.xs), strict=True)"),
    ("Job", "self.q.append(Job.of(len(self.s))); return Job.of(len(self.xs), 3)"),
]
# Bodies of several lines.
LONGER = [
    """
up = len(self.xs) > 1
levels = range(self.xs[0], 4) if up else range(3, -1, -1)
n = 0
for level in levels:
    n = n * 3 + level
return n
""",
    """
levels = range(len(self.xs)) if self.ys else WINDOW if self.s else DOWN
self.xs.append(1)
return sum(levels) + 100 * len(levels) + (1000 if self.xs[0] in levels else 0)
""",
    """
levels = range(2)
if self.ys:
    levels = range(self.xs[0], 3, self.xs[1]) if len(self.ys) > 1 else DOWN
return sum(i * x for i, x in enumerate(reversed(tuple(levels))))
""",
    """
if (first := self.xs[0]) > 1:
    return first
return 0
""",
    """
if self.xs and (first := self.xs[0]) > 0:
    self.xs = self.xs[1:]
    return first
return 0
""",
    """
if len(self.xs) > 1 and self.ys and (a := self.ys[0]) > 0 and (b := self.xs[1]) > a:
    return a + b
return 0
""",
    """
if not self.xs:
    return 0
elif (n := len(self.xs)) > 2:
    return n
else:
    return -n
""",
    """
for x in self.xs:
    if x > 1:
        break
else:
    return -1
return x
""",
    """
for x in self.xs:
    for y in self.ys:
        if x == y:
            break
    else:
        continue
    self.kept = x
    break
else:
    self.kept = None
return len(self.xs)
""",
    """
for x in self.xs:
    if x > 1:
        continue
    self.ys.append(x)
else:
    self.kept = 5
return len(self.ys)
""",
    """
for x in self.s:
    if x > 1:
        return 1
return 0
""",
    """
for k, v in self.m.items():
    if k < 0:
        continue
    for x in self.s:
        if x == v:
            return 1
        elif x > 2 and v > 2:
            return 1
return 0
""",
    """
found = False
for x in self.s:
    if x in self.m and self.m[x] > 0:
        found = True
        break
return 1 if found else 0
""",
    """
match (len(self.xs), self.kept):
    case (0, None) | (1, 2):
        return 1
    case (n, None) if n > 2:
        return n
    case (1, k):
        return 2 if k is None else k
    case _:
        return 0
""",
    """
match len(self.xs), (len(self.ys), self.kept is None):
    case 0, (1, True):
        return 1
    case n, (k, False):
        return n + k
    case _:
        return 0
""",
]
WHOLE = [*BODIES, *(("int", body.strip()) for body in LONGER)]


@pytest.fixture(scope="module")
def both() -> Both:
    return both_of(WHOLE)


# Each example runs all bodies, so that it is not made smaller.
@settings(max_examples=12, phases=(Phase.reuse, Phase.generate))
@given(drawn=STATES)
def test_a_machine_does_what_python_does(both: Both, drawn: dict[str, Any]) -> None:
    compare(both, WHOLE, drawn)


UNPACKED = [
    ("int", "first, *mid, last = self.xs; return first - last"),
    ("int", "a, b, *mid, z = self.xs; return len(mid)"),
    ("int", "a, *mid, y, z = self.xs; return len(mid)"),
    ("int", "a, b = self.xs; return a - b"),
    ("int", "a, b, *c = self.xs; return a - b"),
    ("int", "*c, y, z = self.xs; return z - y"),
    ("int", "lo, hi = sorted([self.xs[0], 1]); return lo"),
]


@pytest.mark.parametrize("count", range(5))
def test_a_list_of_another_length_is_not_unpacked(count: int) -> None:
    empty: dict[str, Any] = {"q": [], "ys": [], "m": {}, "s": set[int](), "bag": [], "rows": {}}
    drawn: dict[str, Any] = {**empty, "kept": None, "last": None, "xs": [3, 1, 2, 0][:count]}
    compare(both_of(UNPACKED), UNPACKED, drawn)


REFUSED = [
    "for x in list(self.s):\n    self.xs.append(x)\nreturn 0",
    "for k in list(self.m):\n    if len(self.m) > 1: del self.m[k]\nreturn 0",
    "for k, v in list(self.m.items()):\n    self.m.pop(v, None)\nreturn 0",
    "n = 0\n"
    "for k, v in list(self.rows.items()):\n    self.rows[k].add(5)\n    n += len(v)\nreturn n",
    "for x in list(self.s):\n    n = x\nreturn n",
    "if self.top is None: return -1\nself.q.pop(0)\nreturn self.top.n",
    "if self.top is None: return -1\nself.q = []\nreturn self.top.n",
    "if self.top is None: return -1\nself._noted()\nreturn self.top.n",
    "if self.top is None: return -1\nreturn self.q.pop(0).n + self.top.n",
    "if self.top is None: return -1\nfor x in self.ys: self.xs = [self.top.n]\nreturn 0",
    "last = self.last\nif last is None: return 0\nreturn sum(last.n for last in self.lasts)",
    "n = 0\nif self.top is None: return n\nif n == 0: self.q = []\nreturn self.top.n",
    "return [i for i, x in enumerate(self.s, start=1)][0]",
    "return sum(i for i, x in enumerate(self.xs, start=len(self.xs) > 1))",
    "return sum(i for i, x in enumerate(self.xs, 1, 2))",
    "return [*self.s][0]",
    "return [*self.xs, *self.m.values()][0]",
    "return min(self.s, key=lambda x: abs(x))",  # Which of two comes first depends on the order.
    "return sorted(self.m.values(), key=lambda x: x % 2)[0]",
    "return max(self.q, key=lambda j: j).n",  # A record has no order.
    "return [x for x in self.xs if (y := x) > 0][0]",
    "if self.xs and (n := self.xs[0]) > 0: return 1\nelse: return n",
    "for x in self.s:\n    if x > 0: return x\nreturn 0",
    # A later round reads what an earlier one assigned: whether it has a value depends on the order.
    "y = 0\nfor x in self.s:\n    if x // (5 - y) == 0: y = 5\nreturn y",
    "self.rows.setdefault(self.xs[0], {self.xs.pop(0)}).add(5); return 0",
    "for x in self.s:\n    if x > 0: break\nreturn x",
    "return sum(WINDOWS[len(self.xs)])",  # A range is no value.
]


@pytest.mark.parametrize("body", REFUSED, ids=range(len(REFUSED)))
def test_what_has_no_plain_meaning_is_refused(body: str) -> None:
    assert texts.problems(text_of([("int", body)]))


TEXTS = [
    "f'{self.xs[0]:c}'",  # No character has the number -1.
    "f'{self.xs[0]:.1f}'",  # A huge integer is no float.
    "f'{self.xs[0]:n}'",  # As the locale of the process says.
    "f'{self.xs[0]:,x}'",
    "f'{self.xs[0]!a}'",
    "f'{self.q[0].level!r}'",
    "f'{str(self.xs[0])!r}'",
    "f'{self.xs[0]:{len(self.ys)}}'",
    "f'{self.xs[0] > 0:>4}'",  # Python writes 1 for True.
    "f'{self.q[0].level:>4}'",
    "f'{self.q[0]:>4}'",
    "f'{self.kept:>4}'",
    "f'{str(self.xs[0]):d}'",
    "f'{RATE:d}'",
    "f'{RATE:{1}}'",
]


@pytest.mark.parametrize("text", TEXTS)
def test_a_format_that_not_every_value_has_is_refused(text: str) -> None:
    found = texts.problems(text_of([("str", f"return {text}")]))
    assert [each.number for each in found] == ["L103"]


@pytest.mark.parametrize(
    "body",
    [
        "return RATE * self.xs[0]",
        "return RATE // 2",
        "return RATE + True",
        "return WAITS[0]",
        "return WAITS[0].total_seconds() * len(self.xs)",
        "return MIXED[0].total_seconds()",
        "return 1e308 * 10",
    ],
)
def test_floats_are_computed_of_constants_alone(body: str) -> None:
    text = text_of([("float", body)]).replace("BY_NAME =", "MIXED = (1, *WAITS)\nBY_NAME =")
    assert texts.problems(text)


@pytest.mark.parametrize("special", ["__bool__(self) -> bool", "__len__(self) -> int"])
def test_a_record_with_a_truth_of_its_own_is_no_condition(special: str) -> None:
    text = f"class R(Record):\n    n: int\n    def {special}:\n        return self.n\n"
    text += "class M(Machine):\n    r: R | None = None\n    @transition\n    def go(self) -> int:\n"
    found = texts.problems(f"{text}        return 1 if self.r else 0\n")
    assert [each.number for each in found] == ["L203"]
