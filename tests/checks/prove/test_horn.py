"""Spacer finds the invariants that it needs, and what it reaches is reached."""

from __future__ import annotations

import pytest

from lawful import Machine
from lawful.checks.prove import How, Method, prove
from lawful.checks.verdict import Verdict
from lawful.spec.resolve import resolve
from tests.checks.declarations import provable
from tests.classics.peterson import Peterson
from tests.spec import texts

METHODS: tuple[Method, ...] = ("spacer", "auto")


def found(cls: type[Machine], method: Method = "spacer") -> dict[str, tuple[str, int | None]]:
    """The verdicts, and the events of the runs that violate."""
    result = prove(resolve(cls).machine, sizes={}, how=How(method))
    return {
        p.name: (p.verdict.value, None if p.trace is None else len(p.trace))
        for p in result.properties
        if p.method != "none"
    }


ROUND = """
class Round(Machine):
    n: int = 0
    m: int = 0

    @transition()
    def step(self) -> None:
        self.n = self.n + 1 if self.n < 4 else 0
        self.m = self.m + 1 if self.m < 4 else 0

    @transition()
    def far(self) -> None:
        require(FAR, "elsewhere")
        self.m = -1

    @invariant
    def together(self) -> bool:
        return self.m >= 0
"""


def declared(far: str) -> type[Machine]:
    return texts.last_machine(texts.module(ROUND.replace("FAR", far)))


def test_what_is_not_inductive_is_proved() -> None:
    """That `n` and `m` are equal is nowhere said."""
    cls = declared("self.n + 1 == self.m")
    plain = prove(resolve(cls).machine, sizes={})
    assert {p.name: p.verdict for p in plain.properties}["together"] is Verdict.UNKNOWN
    for method in METHODS:
        assert set(found(cls, method).values()) == {("proved", None)}


def test_what_is_reached_is_violated_in_the_shortest_run() -> None:
    assert found(declared("self.n == 3"))["together"] == ("violated", 4)
    assert found(provable.Counter)["small_too"] == ("violated", 11)


@pytest.mark.nightly
def test_what_is_said_of_every_element_of_a_finite_map_is_proved() -> None:
    rows = found(Peterson)
    assert rows["bounds"] == rows["flag_tells_where"] == ("proved", None)


def test_collections_are_left_open() -> None:
    assert set(found(provable.Channel).values()) == {("unknown", None)}


@pytest.mark.parametrize("method", METHODS)
def test_nothing_is_proved_of_what_cannot_happen(method: Method) -> None:
    rows = found(declared("self.n != self.n"), method)
    said = "unknown" if method == "spacer" else "bounded"
    assert {verdict for verdict, _ in rows.values()} == {said}
