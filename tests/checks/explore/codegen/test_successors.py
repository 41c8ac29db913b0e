"""The generated steps do what the reference engine says, on every machine of the tests."""

from __future__ import annotations

import pytest

from lawful import Machine
from lawful.checks.explore.layout import layouts
from lawful.checks.explore.layout.layouts import NotGenerated
from lawful.spec import types as t
from lawful.spec.errors import DeclarationError
from tests.checks.conform.test_every_machine import MACHINES
from tests.checks.explore.compiled.both_engines import compared
from tests.checks.reference.test_against_python import ACCEPTED
from tests.spec import texts

# What the compiled engine does not do; the reference engine is asked instead.
UNSUPPORTED = {
    "the values of ms",
}


def agree(cls: type[Machine], limit: int) -> None:
    try:
        found = compared(cls, limit)
    except NotGenerated as reason:
        assert str(reason) in UNSUPPORTED
        pytest.skip(str(reason))
    assert found.differences == ()
    assert found.states > 0


@pytest.mark.one_in(2)
@pytest.mark.parametrize("cls", MACHINES, ids=lambda cls: cls.__name__)
def test_machines(cls: type[Machine]) -> None:
    try:
        agree(cls, 10)
    except DeclarationError as error:
        pytest.skip(f"without a scope: {error.problems[0].number}")


@pytest.mark.one_in(18)
@pytest.mark.parametrize(("title", "text"), ACCEPTED, ids=[row[0] for row in ACCEPTED])
def test_texts(title: str, text: str) -> None:
    agree(texts.machine(text), 10)


def test_a_layout_works_out_its_hash_once() -> None:
    """As the hash of a deep one is asked for thousands of times while steps are generated."""
    hashed: list[str] = []

    class Kind(t.Type):
        def __hash__(self) -> int:
            hashed.append("kind")
            return 7

    inner = layouts.Index(Kind(), 3)
    outer = layouts.Product(t.BOOL, (inner, inner))
    assert {hash(outer), hash(layouts.Product(t.BOOL, (inner, inner)))} == {hash(outer)}
    assert hash(inner) == hash(inner)
    assert hashed == ["kind"]
