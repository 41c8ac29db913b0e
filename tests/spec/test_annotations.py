"""How often the types of annotations are judged."""

from __future__ import annotations

from typing import Any

import pytest

from lawful.spec import types as t
from lawful.spec.errors import Place
from lawful.spec.resolve.annotations import TypeReader
from tests.spec import texts

SAME = """
class M(Machine):
    first: dict[bool, frozenset[bool]] = {}
    second: dict[bool, frozenset[bool]] = {}
    third: frozenset[bool] = frozenset()

    @transition()
    def put(self, held: frozenset[bool]) -> None:
        self.first[True] = held
"""


def test_a_type_that_is_as_it_should_be_is_judged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    judge: Any = vars(TypeReader)["_judge"]
    judged = list[str]()

    def noted(self: TypeReader, found: t.Type, place: Place) -> None:
        judged.append(str(found))
        judge(self, found, place)

    monkeypatch.setattr(TypeReader, "_judge", noted)
    texts.resolved(SAME)
    assert sorted(judged) == ["None", "bool", "dict[bool, frozenset[bool]]", "frozenset[bool]"]


def test_a_type_that_is_not_is_refused_wherever_it_is() -> None:
    wrong = SAME.replace("frozenset[bool]]", "list[bool] | None]")
    found = texts.problems(wrong)
    assert [(problem.number, problem.place.line) for problem in found] == [
        ("L202", 10),
        ("L202", 11),
    ]
