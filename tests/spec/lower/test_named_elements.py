"""Elements that a declaration names are explored and proved beside those of the scope."""

from __future__ import annotations

import pytest

from lawful import Machine, OrderedSort, Param, Scope, Sort, invariant, transition
from lawful.checks.explore import Limits, explore
from lawful.checks.prove.strategy import prove
from lawful.checks.verdict import Verdict
from lawful.spec.errors import DeclarationError
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve


class N(Sort):
    """Who takes part."""


class Seat(OrderedSort):
    """Where they sit."""


LEADER = N("leader")


class Led(Machine):
    """Somebody leads."""

    who: N = LEADER

    @transition()
    def take(self, who: N) -> None:
        self.who = who

    @invariant
    def there(self) -> bool:
        return any(x == self.who for x in N)


class Bossed(Machine):
    """The default is used where the scope gives no value."""

    boss: Param[N] = LEADER

    @transition()
    def go(self) -> None: ...


class Seated(Machine):
    """Names a seat."""

    at: Seat = Seat("first")

    @transition()
    def on(self) -> None: ...


@pytest.mark.parametrize(
    ("scope", "elements"),
    [
        (Scope(N=2), ("N1", "N2", "leader")),
        (Scope(N=2, boss=(N("N1"),)), ("N1", "N2")),
    ],
)
def test_a_default_that_is_used_names_its_element(scope: Scope, elements: tuple[str, ...]) -> None:
    assert dict(lower(resolve(Bossed).machine, scope).elements)["N"] == elements


def test_a_named_element_is_explored() -> None:
    found = resolve(Led)
    flat = lower(found.machine, Scope(N=2))
    assert dict(flat.elements)["N"] == ("N1", "N2", "leader")
    result = explore(flat, found.world, {}, limits=Limits(None))
    assert result.distinct == 3
    assert {p.name: p.verdict for p in result.properties}["there"] is Verdict.HOLDS


@pytest.mark.parametrize("sizes", [{}, {"N": 2}])
def test_a_named_element_is_proved(sizes: dict[str, int]) -> None:
    (there,) = (p for p in prove(resolve(Led).machine, sizes=sizes).properties if p.name == "there")
    assert there.verdict is (Verdict.PROVED_WITHIN if sizes else Verdict.PROVED)


def test_the_place_of_a_named_element_in_an_order_is_not_known() -> None:
    with pytest.raises(DeclarationError, match=r"L303(?s:.)*Seat\('first'\)(?s:.)*a Param"):
        lower(resolve(Seated).machine, Scope(Seat=2))
