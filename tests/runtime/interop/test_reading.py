"""Conditions within the language become guards, others stay opaque."""

from __future__ import annotations

import itertools
import linecache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transitions import Machine as Theirs

from lawful.runtime.interop import Imported, from_transitions
from tests.runtime.interop.samples import ROWS, STATES, Color, Matter, theirs


def of_one_condition(model: Any, condition: Any) -> Imported:
    rows = [
        {"trigger": "heat", "source": "solid", "dest": "gas", "conditions": condition},
        {"trigger": "heat", "source": "solid", "dest": "liquid"},
    ]
    return from_transitions(theirs(rows, model))


def test_conditions_within_the_language_become_guards() -> None:
    found = of_one_condition(Matter(), "boils")
    assert f"from {Color.__module__} import Color" in found.text
    assert (
        """
        require(temperature > 100 and color == Color.RED, 'boils')
"""
        in found.text
    )
    assert (
        """
    scope = Scope({
        'temperature': range(99, 102),
    })
"""
        in found.text
    )


class Unreadable:
    """None of its methods is read."""

    degrees: int = 0
    name: str = "ice"
    maybe: int | None = None

    def says(self) -> bool:
        return self.degrees > self.limit()

    def limit(self) -> int:
        return 3

    def named(self) -> bool:
        return self.name == "ice"

    def some(self) -> bool:
        return self.maybe == 3

    def two(self) -> bool:
        self.degrees += 1
        return self.degrees > 1

    def given(self, degrees: int) -> bool:
        return self.degrees > degrees

    def itself(self) -> bool:
        return self in (self.other, self)

    @staticmethod
    def always() -> bool:
        return True

    def divided(self) -> bool:
        return self.degrees / 2 > 1

    def over(self) -> bool:
        return 3 // self.degrees > 1

    def rest(self) -> bool:
        return 3 % (self.degrees + 0) > 1

    def assigned(self) -> bool:
        return (self.degrees > 1) == self.other

    def counted(self) -> int:
        return self.degrees

    def both(self) -> int:
        return self.degrees > 0 and self.degrees

    def chosen(self) -> int:
        return self.degrees if self.degrees > 3 else False

    def __init__(self) -> None:
        self.other = 3.5
        self.replaced = lambda: True


@pytest.mark.parametrize(
    "name",
    [
        "says",
        "named",
        "some",
        "two",
        "given",
        "itself",
        "always",
        "divided",
        "over",
        "rest",
        "assigned",
        "counted",
        "both",
        "chosen",
        "replaced",
        "name",
    ],
)
def test_other_conditions_stay_opaque(name: str) -> None:
    found = of_one_condition(Unreadable(), name)
    assert [(each.name, each.type) for each in found.inputs["heat"]] == [(name, "bool")]
    assert f"        require({name}, {name!r})\n" in found.text
    found.load()


NUMBERS = st.recursive(
    st.sampled_from(["self.x", "self.y", "0", "2", "-1"]),
    lambda inner: (
        st.builds("({} {} {})".format, inner, st.sampled_from("+-*"), inner)
        | st.builds("max({}, {})".format, inner, inner)
    ),
    max_leaves=3,
)
TRUTHS = st.recursive(
    st.builds("{} {} {}".format, NUMBERS, st.sampled_from(["<", "<=", "==", "!="]), NUMBERS)
    | st.builds("{} < {} <= {}".format, NUMBERS, NUMBERS, NUMBERS)
    | st.sampled_from(
        [
            "self.b",
            "(self.b & (self.x > 0))",
            "(self.b if self.x else self.y > 0)",
            "self.c == Color.RED",
            "self.x in (0, 3)",
            "self.x // 2 > 0",
            "self.y % -2 == -1",
        ]
    ),
    lambda inner: (
        st.builds("({} {} {})".format, inner, st.sampled_from(["and", "or"]), inner)
        | st.builds("(not {})".format, inner)
    ),
    max_leaves=3,
)
READABLE = """
class Model:
    x: int = 0
    y: int = 0
    b: bool = False
    c: Color = Color.RED

    def holds(self) -> bool:
        return {}
"""


@settings(max_examples=20)
@given(TRUTHS)
def test_what_is_read_is_what_python_does(expression: str) -> None:
    """For all values."""
    file, text = f"<{expression}>", READABLE.format(expression)
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict[str, Any] = {"Color": Color, "__name__": __name__}
    exec(compile(text, file, "exec"), names)
    found = of_one_condition(names["Model"](), "holds")
    inputs = found.inputs["heat"]
    assert all(each.attribute for each in inputs) is ("self." in expression)
    entry: Any = found.load()
    for x, y, b, c in itertools.product((-1, 0, 2), (0, 3), (False, True), Color):
        model = names["Model"]()
        model.x, model.y, model.b, model.c = x, y, b, c
        machine = entry()
        args = [getattr(model, each.source) for each in inputs if each.attribute]
        if len(args) < len(inputs):
            args = [model.holds()]
        machine.heat(*args)
        assert machine.state.value == ("gas" if model.holds() else "liquid")


def test_a_condition_that_two_models_have_each_for_itself_stays_opaque() -> None:
    class Hotter(Matter):
        def is_hot(self) -> bool:
            return not self.pressed

    machine = theirs(ROWS)
    assert next(each.name for each in from_transitions(machine).inputs["heat"]) == "hot"
    machine.add_model(Hotter())
    assert next(each.name for each in from_transitions(machine).inputs["heat"]) == "is_hot"


def test_a_condition_of_no_model_stays_opaque() -> None:
    machine = Theirs(None, states=STATES, transitions=ROWS, initial="solid")
    assert next(each.name for each in from_transitions(machine).inputs["heat"]) == "is_hot"
