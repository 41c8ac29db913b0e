"""Serial numbers: RFC 1982, fewer bits when explored, all of them in proofs and at run time."""

from __future__ import annotations

from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful import Machine, Param, Refused, Scope, Serial, invariant, reachable, transition
from lawful.checks.explore import explore
from lawful.checks.prove import How, prove
from lawful.spec import ops
from lawful.spec import types as t
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve
from tests.checks.declarations.rings import Numbered, Seq, Window

BEFORE = ops.meaning("before", 3, {})
ADD = ops.meaning("serial_add", 3, {})
SUB = ops.meaning("serial_sub", 3, {})


class Odometer(Machine):
    """Counts on for ever."""

    value: Seq = 0
    start: Param[Seq] = 5

    @transition()
    def on(self) -> Seq:
        self.value += 1
        return self.value

    @invariant
    def in_range(self) -> bool:
        return self.value - self.value == 0

    @reachable
    def round_again(self) -> bool:
        return self.value + 1 == 0

    scope = Scope(value=3)
    wide = Scope(value=5, start=(30, 31))


class Fooled(Window):
    """As `Window`, but the last one sent may be outside the window."""

    @transition()
    def send(self) -> Seq:
        self.next += 1
        return self.next - 1


@given(st.integers(2, 32), st.data())
def test_before_is_that_of_the_rfc(bits: int, data: st.DataObject) -> None:
    number = st.integers(0, 2**bits - 1)
    a, b = data.draw(number), data.draw(number)
    half = 2 ** (bits - 1)
    rfc = (a < b and b - a < half) or (a > b and a - b > half)
    assert BEFORE(a, b, 2**bits) == rfc
    both = BEFORE(a, b, 2**bits) + BEFORE(b, a, 2**bits)
    assert both == (0 if a == b or abs(a - b) == half else 1)


@given(st.integers(2, 32), st.integers(), st.data())
def test_adding_and_the_distance_are_inverse(bits: int, n: int, data: st.DataObject) -> None:
    size = 2**bits
    a = data.draw(st.integers(0, size - 1))
    there = ADD(a, n, size)
    assert 0 <= there < size
    assert SUB(there, n, size) == a
    assert SUB(there, a, size) == n % size


@pytest.mark.parametrize(("scope", "states", "generated"), [("scope", 8, 9), ("wide", 64, 66)])
def test_explored_it_has_the_bits_of_the_scope(scope: str, states: int, generated: int) -> None:
    found = resolve(Odometer)
    flat = lower(found.machine, found.scopes[scope])
    result = explore(flat, found.world, {})
    assert (result.distinct, result.generated) == (states, generated)
    assert {p.verdict.value for p in result.properties} == {"holds-within-scope"}
    assert flat.machine.variables[0].type == t.serial(3 if scope == "scope" else 5)
    assert found.machine.variables[0].type == t.serial(16)


def test_all_bits_are_proved() -> None:
    result = prove(resolve(Window).machine, sizes={}, how=How())
    judged = {p.name: p.verdict.value for p in result.properties if p.method != "none"}
    assert judged == dict.fromkeys(
        (
            "bounds",
            "asserts",
            "undefined",
            "window_is_kept",
            "order",
            "next_comes_after",
            "never_back",
        ),
        "proved",
    )
    assert result.obligations[0].covers == (
        "all integers; all serial numbers of 16 bits; all parameter values that @assume allows"
    )


def test_what_is_wrong_is_not_proved() -> None:
    result = prove(resolve(Fooled).machine, sizes={}, how=How())
    missed = {(o.obligation, o.property) for o in result.obligations if not o.verdict.good}
    # What is not kept is not assumed, so that what rests on it is not proved either.
    assert missed == {
        ("send", "window_is_kept"),
        ("ack", "window_is_kept"),
        ("ack", "never_back"),
    }


def test_an_instance_wraps_at_all_bits() -> None:
    meter = Odometer.lawful.state(value=65534)
    assert [meter.on(), meter.on(), meter.on()] == [65535, 0, 1]


def test_a_window_slides_over_the_end() -> None:
    window = Window.lawful.state(base=65534, next=65535)
    assert [window.send(), window.send()] == [65535, 0]
    with pytest.raises(Refused, match="the window is full"):
        window.send()
    window.ack(0)
    assert (window.base, window.next) == (0, 1)
    with pytest.raises(Refused, match="never sent"):
        window.ack(65535)
    assert window.receive(Numbered(1, 2), 3)
    assert window.held == {1: 2, 4: 1} and window.gap == 2


@pytest.mark.parametrize("value", [-1, 65536])
def test_an_argument_out_of_range_is_a_value_error(value: int) -> None:
    window = Window()
    with pytest.raises(ValueError, match="ack: upto"):
        window.ack(value)
    with pytest.raises(ValueError, match="seq"):
        window.receive(Numbered(value), 1)


def test_a_bool_is_no_serial_number() -> None:
    with pytest.raises(TypeError):
        Window().ack(True)


class Two(Machine):
    """Serial numbers of two widths, in one scope."""

    a: Annotated[int, Serial(bits=16)] = 0
    b: Annotated[int, Serial(bits=8)] = 0

    @transition()
    def on(self, by: Seq) -> None:
        self.a = by
        self.b += 1

    scope = Scope(by=2, b=3)
    all_alike = Scope(Serial=2)


def test_each_width_has_bits_of_its_own() -> None:
    found = resolve(Two)
    for name, states in (("scope", 32), ("all_alike", 16)):
        result = explore(lower(found.machine, found.scopes[name]), found.world, {})
        assert (result.distinct, result.generated) == (states, 1 + 4 * states)
