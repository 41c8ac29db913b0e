"""Lists that are judged, bools with `&` and `|`, spans of time; helpers that are resolved twice."""

from __future__ import annotations

import pytest

from tests.spec import texts
from tests.spec.test_everyday import behaviour, text_of

# A body, and one that says the same in more words.
SAME = [
    ("require(any([n > 1 for n in self.s]), '')", "require(any(n > 1 for n in self.s), '')"),
    ("require(all([n for n in self.s]), '')", "require(all(n != 0 for n in self.s), '')"),
    (
        "if [n for n in self.s if n > 1]: self.n = 1",
        "if len([n for n in self.s if n > 1]) > 0: self.n = 1",
    ),
    (
        "require(not [k for k in self.m if k > 1], '')",
        "require(not len([k for k in self.m if k > 1]) > 0, '')",
    ),
    ("require((self.n > 1) & (self.k > 1), '')", "require(self.n > 1 and self.k > 1, '')"),
    ("require((self.n > 1) | (self.k > 1), '')", "require(self.n > 1 or self.k > 1, '')"),
    ("require((self.n > 1) ^ (self.k > 1), '')", "require((self.n > 1) != (self.k > 1), '')"),
    (
        "require((self.n > 1) | (self.q[0] > 1), '')",
        "require(any((self.n > 1, self.q[0] > 1)), '')",
    ),
    (
        "require((self.n > 1) & (self.q[0] > 1), '')",
        "require(all((self.n > 1, self.q[0] > 1)), '')",
    ),
    ("self.n = int(LEASE.total_seconds())", "self.n = 90"),
    ("self.n = round((LEASE * 2).total_seconds()) + LEASE.days", "self.n = 180"),
    ("self.n = LEASE // timedelta(minutes=1)", "self.n = 1"),
    ("require(self.n < LEASE.total_seconds(), '')", "require(self.n < 90, '')"),
    ("require(self.n < 7 / 2, '')", "require(self.n < 4, '')"),
    ("require(self.n <= 7 / 2, '')", "require(self.n <= 3, '')"),
    ("require(7 / 2 < self.n, '')", "require(3 < self.n, '')"),
    ("require(7 / 2 <= self.n, '')", "require(4 <= self.n, '')"),
    ("require(self.n > -7 / 2, '')", "require(self.n > -4, '')"),
]


@pytest.mark.parametrize(("short", "long"), SAME)
def test_a_short_form_means_the_long_one(short: str, long: str) -> None:
    assert behaviour(short) == behaviour(long)


@pytest.mark.parametrize(
    "statement",
    [
        "for x in list(self._wrong()): self.s.discard(x)",
        "self.q.extend(self._wrong())",
        "self.m[self._wrong()].sort()",
        "self.n, self.q[self._wrong()] = 1, 2",
        "self.m.setdefault(self._wrong(), 1)",
        "self.n = self.m.setdefault(self._wrong(), 1)",
        "self.n = self._wrong() or 1",
        "self.n = 1 if bool(self._wrong()) else 2",
    ],
)
def test_the_problems_of_a_helper_are_told_where_its_call_is_resolved_twice(statement: str) -> None:
    wrong = "    def _wrong(self) -> Nat:\n        k = missing_name\n        return 1\n"
    found = texts.problems(text_of(statement) + wrong)
    assert "missing_name" in [problem.found for problem in found]
