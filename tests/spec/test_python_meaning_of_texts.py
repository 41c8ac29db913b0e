"""Texts that are joined, orders by texts, first elements and what a helper leaves known: a machine
does what Python itself does with the same text, for random values."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import Phase, given, settings

from tests.spec import texts
from tests.spec.beside_python import STATES, Both, both_of, compare, text_of

# The type of the output, and the body.
BODIES = [
    ("str", "return ', '.join(f'{x}' for x in self.xs)"),
    ("str", "return '-'.join([str(9 // x) for x in self.xs])"),
    ("str", "return ''.join(('a', 'b')) + '/'.join(str(x) for x in sorted(self.s))"),
    ("str", "return ' '.join(f'{x}:{n}' for x, n in zip(self.xs, self.ys)).strip()"),
    ("str", "return ','.join(j.level.name.lower() for j in self.q)"),
    (
        "str",
        "lines = [f'{x:>3}' for x in self.xs if x > 0]\nlines.append('end')\n"
        "return '|'.join(lines)",
    ),
    ("str", "return f\"{self.xs[0] if self.xs else '-'}|{'+' if self.ys else len(self.xs)}\""),
    ("str", "return f\"{'none' if not self.xs else 'odd' if self.xs[0] % 2 else self.xs[0]}\""),
    ("int", "return next(x for x in self.xs if x > 1)"),
    ("int", "return next(iter(self.xs))"),
    ("int", "return 9 // len(self.xs) + next(x for x in self.ys)"),
    ("int", "self.m |= dict.fromkeys(self.xs, 1); return len(self.m)"),
    ("int", "self.m = dict.fromkeys(self.s, len(self.xs)); return sum(self.m.values())"),
    ("int", "n = 9 // len(self.ys)\nreturn sum(dict.fromkeys(self.xs, n).values())"),
    ("tuple[int, ...]", "return tuple(sorted((x for x in self.s if x > 0), reverse=True))"),
    ("tuple[int, ...]", "return tuple(sorted((x // 2 for x in self.s), reverse=True))"),
    ("tuple[int, ...]", "return tuple(sorted([v for v in self.m.values()], reverse=True))"),
    ("tuple[int, ...]", "return tuple(sorted((k for k in self.m), key=lambda k: (self.m[k], k)))"),
    ("int", "return min((k for k in self.m if k), key=lambda k: (-self.m[k], k))"),
    ("tuple[Job, ...]", "return tuple(sorted(self.q, key=lambda j: j.level.name))"),
    ("tuple[Job, ...]", "return tuple(sorted(self.q, key=lambda j: (j.level.name, -j.n)))"),
    ("int", "return max(self.q, key=lambda j: (j.level.name, j.n)).n"),
    ("tuple[Level, ...]", "return tuple(sorted(j.level for j in self.q))"),
    ("tuple[Level, ...]", "return tuple(sorted({j.level for j in self.q}, reverse=True))"),
    ("tuple[Word, ...]", "return tuple(sorted(Word))"),
    ("tuple[Word, ...]", "return tuple(sorted(w for w in Word if w != Word.THIRD or self.xs))"),
    (
        "tuple[Word, ...]",
        "return tuple(sorted([Word.THIRD if x > 1 else Word.FIRST for x in self.xs]))",
    ),
    (
        "tuple[Word, ...]",
        "return tuple(sorted({Word.SECOND if x else Word.FIRST for x in self.xs}, reverse=True))",
    ),
    ("Word", "return min(Word, key=lambda w: w)"),
    ("Word", "return max({Word.SECOND if x else Word.FIRST for x in self.xs}, key=lambda w: w)"),
    (
        "Word",
        "return min({Word.SECOND if x else Word.FIRST for x in self.xs},"
        " key=lambda w: (2 if self.ys else 1, w.value))",
    ),
    ("Word", "return max(Word)"),
    ("Level", "levels = {j.level for j in self.q}\nreturn max(levels)"),
    ("Word", "return max((w for w in Word if w != Word.THIRD), key=lambda w: w.value)"),
    ("int", "return LISTED.index(len(self.xs)) + LISTED.count(2)"),
    ("bool", "return LOW_ODD.isdisjoint(self.xs)"),
    ("int", "return self.m.setdefault(self.xs[0], self.ys[0]) + 1"),
    ("int", "return self.m.setdefault(len(self.m), 9 // len(self.xs)) + len(self.m)"),
    ("int", "n = len(self.m)\nself.xs.append(self.m.setdefault(self.xs[-1], n))\nreturn n"),
    ("int", "self.xs += STEPS[: len(self.ys)]; return len(self.xs)"),
    ("int", "r = range(len(self.xs), len(self.ys))\nif r:\n    return sum(r)\nreturn -1"),
    ("bool", "return not range(len(self.xs), 2)"),
    ("int", "if self.kept is None:\n    return 0\nself._noted()\nreturn self.kept"),
    ("bool", "return self.kept in self.xs"),
    ("bool", "return self.kept not in self.s and self.last not in self.q"),
    ("bool", "return self.kept in self.xs[9 // len(self.ys) :]"),
    ("int", "return self.kept if self.kept in (0, 2, len(self.xs)) else -1"),
    ("bool", "return self.last in self.lasts or None in [self.kept, *self.xs]"),
    ("int", "if self.last is None:\n    return 0\nself._noted()\nreturn self.last.n"),
    (
        "int",
        "side: Side | None = Side.LEFT if self.xs else None\nreturn len(self.ys) if side else -1",
    ),
    (
        "bool",
        "side: Side | None = Side.RIGHT if self.xs else None\nreturn not side or self.xs[0] > 1",
    ),
    ("Side", "side: Side | None = Side.LEFT if self.xs else None\nreturn side or Side.RIGHT"),
    ("int", "level: Level | None = Level.LOW if self.xs else None\nreturn 1 if level else 0"),
    ("Word", "word: Word | None = Word.FIRST if self.xs else None\nreturn word or Word.THIRD"),
    ("int", "n: int | None = self.xs[0] if self.xs else None\nif n is None: n = 7\nreturn n + 1"),
    ("bool", "who: Who | None = Who('') if self.xs else None\nreturn True if who else False"),
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
    "return len(', '.join(self.xs))",  # Python joins texts alone.
    "return self.xs[len(', '.join(str(x) for x in self.s))]",
    "return next(x for x in self.s)",
    "return next(iter(self.m))",
    "return next(9 // x for x in self.xs)",  # Nothing says whether a later x is 0.
    "self.m = dict.fromkeys(self.xs, 9 // len(self.ys)); return 0",  # It is computed once.
    "self.rows = dict.fromkeys(self.xs, {1}); return 0",  # One set for all keys.
    "return sorted((x % 2 for x in self.s), key=lambda x: x)[0]",
    "return sorted((k for k in self.m), key=lambda k: self.m[k])[0]",
    "if self.kept is None: return 0\nself._emptied()\nreturn self.kept",
    "if self.kept is None: return 0\nself._emptied_by_another()\nreturn self.kept",
    "if self.lasts[len(self.xs)] is None: return 0\nself._noted()\n"
    "return self.lasts[len(self.xs)].n",
]
HELPERS = """
    def _emptied(self) -> None:
        self.kept = None

    def _emptied_by_another(self) -> None:
        self._emptied()
"""


@pytest.mark.parametrize("body", REFUSED, ids=range(len(REFUSED)))
def test_what_has_no_plain_meaning_is_refused(body: str) -> None:
    assert texts.problems(text_of([("int", body)]) + HELPERS)
    assert not texts.problems(text_of([("int", "self._emptied_by_another(); return 0")]) + HELPERS)


def test_a_list_or_a_set_is_kept_as_what_does_not_change() -> None:
    text = """
class M(Machine):
    q: list[Nat] = []
    seen: frozenset[Nat] = frozenset()

    @transition
    def put(self, items: list[Nat], more: set[Nat]) -> Nat:
        self.q += items
        self.seen = frozenset(more)
        return len(items)
"""
    machine: Any = texts.machine(text)()
    given = [1, 2]
    assert machine.put(given, {3}) == machine.put((1, 2), frozenset({3})) == 2
    given.append(9)
    assert (machine.q, machine.seen) == ([1, 2, 1, 2], {3})
    with pytest.raises(TypeError, match=r"items\[0\] is a Nat"):
        machine.put(["x"], {3})
