"""Small machines written to break things: what they do is what Python does with their methods."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from lawful import Machine
from lawful.spec.resolve import resolve
from tests.checks.reference.agreement import agreement
from tests.spec import texts

FILES = (
    "bodies",
    "computed_keys",
    "constant_lists",
    "iterated",
    "list_patterns",
    "everyday",
    "cut_places",
    "emptied",
    "exchanged",
    "given_sides",
    "inner_containers",
    "kept_views",
    "least_members",
    "looked_up",
    "looked_up_places",
    "loop_names",
    "loop_values",
    "mapped",
    "machines",
    "moved",
    "narrowed",
    "nested_targets",
    "numbers",
    "steps",
    "texts",
    "time",
    "unordered",
    "value_classes",
)
ROWS = [(f"{file}: {row[0]}", *row[1:]) for file in FILES for row in texts.corpus(file)]
ACCEPTED = [(title, text) for title, refused, text in ROWS if not refused]
REFUSED = [(title, refused, text) for title, refused, text in ROWS if refused]
WHOLE = (
    ("tests.classics.jugs", "Jugs"),
    ("tests.classics.peterson", "Peterson"),
    ("tests.classics.two_phase", "TwoPhase"),
)


@pytest.mark.one_in(12)
@pytest.mark.parametrize("states", [5, pytest.param(300, marks=pytest.mark.nightly)])
@pytest.mark.parametrize(("title", "text"), ACCEPTED, ids=[row[0] for row in ACCEPTED])
def test_it_does_what_python_does(title: str, text: str, states: int) -> None:
    compared = agreement(texts.machine(text), states)
    assert not compared.differences
    assert compared.comparisons > 0


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("title", "numbers", "text"), REFUSED, ids=[row[0] for row in REFUSED])
def test_it_is_refused(title: str, numbers: list[str], text: str) -> None:
    assert texts.numbers(text) == numbers


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("module", "name"), WHOLE)
def test_the_classics_do_what_python_does(module: str, name: str) -> None:
    cls: type[Machine] = getattr(importlib.import_module(module), name)
    assert not agreement(cls, limit=60).differences


def test_no_title_stands_twice() -> None:
    titles = [row[0] for row in ROWS]
    assert sorted(set(titles)) == sorted(titles)


# Where the language is not Python, on purpose.


def test_implies_evaluates_its_second_argument_only_where_the_first_is_true() -> None:
    text = texts.body("self.x = 1 if implies(k != 0, 6 // k > 1) else 2", params="k: int")
    differences = agreement(texts.machine(text)).differences
    assert differences and all("go(0,)" in row and "Python" in row for row in differences)


def test_over_a_set_every_element_must_have_a_value() -> None:
    text = texts.body("require(any(6 // k >= 1 for k in self.s), '')", "s: set[int] = {1, 0}")
    compared = agreement(texts.machine(text))
    assert all("'undefined'" in row for row in compared.differences)


def test_of_two_keys_with_the_greatest_value_none_is_given() -> None:
    text = texts.body("m = {k: 1, 2: 1}\nself.x = max(m, key=m.get)", params="k: int")
    differences = agreement(texts.machine(text)).differences
    assert differences
    assert all("'undefined'" in row and "go(2,)" not in row for row in differences)


# Where the declaration stands.


def test_the_module_may_be_imported_under_another_name(tmp_path: Path) -> None:
    head = "import lawful as lw\nfrom lawful import Nat\n\n\n"
    text = """\
        class M(lw.Machine):
            x: Nat = 0

            @lw.transition()
            def go(self, k: Nat) -> None:
                lw.require(k > self.x, "smaller")
                self.x = k
        """
    assert not agreement(texts.machine(text, head)).differences


def test_annotations_may_be_text() -> None:
    head = "from lawful import *\n"
    text = """\
        class M(Machine):
            x: "Nat" = 0
            other: "Later | None" = None

            @transition()
            def go(self, k: "Nat") -> "Later":
                self.other = Later(k)
                return Later(self.x)

            @step_property
            def grows(self, after: "M") -> bool:
                return after.x >= self.x

        class Later(Record):
            k: Nat
        """
    made = texts.module(text, head)
    assert not agreement(vars(made)["M"]).differences


def test_a_machine_may_stand_in_a_function() -> None:
    text = """\
        def make(limit: int) -> type[Machine]:
            class R(Record):
                a: Nat

            class Inner(Machine):
                x: Nat = 0
                r: R | None = None

                @transition()
                def go(self, k: Nat) -> None:
                    require(k < limit, "too large")
                    self.r = R(k)

            return Inner

        Two, Three = make(2), make(3)
        """
    made = vars(texts.module(text))
    for name in ("Two", "Three"):
        assert not agreement(made[name]).differences
    assert resolve(made["Two"]).machine != resolve(made["Three"]).machine


def test_a_method_that_nothing_uses_is_left_alone() -> None:
    text = """\
        import threading

        class M(Machine):
            x: Nat = 0

            def log(self, *args: object, **more: object) -> None:
                with threading.Lock():
                    print(args, [*more])

            @property
            def twice(self) -> int:
                return 2 * self.x

            @transition()
            def go(self) -> None:
                self.x = 1 - self.x
        """
    assert not agreement(texts.machine(text)).differences
