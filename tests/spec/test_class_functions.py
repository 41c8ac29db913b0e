"""Static methods, class methods of values, and the control state that a header means."""

from __future__ import annotations

import pytest

from lawful.spec.resolve import resolve
from lawful.spec.syntax.members import vars_before
from lawful.spec.text.declared import declaration
from tests.spec import texts

GO = "    @transition\n    def go(self) -> int:\n        return self.f(3)\n"
HELPER = "    def f(self, x: int) -> int:\n        return x\n"
STATIC = "    @staticmethod\n    def f(x: int) -> int:\n        return x + 100\n"
OTHER = "    @staticmethod\n    def f(x: int) -> int:\n        return x + 200\n"
FORMS = {"a helper": (HELPER, 3), "a static method": (STATIC, 103), "another": (OTHER, 203)}


@pytest.mark.parametrize("older", FORMS)
@pytest.mark.parametrize("newer", FORMS)
def test_what_the_heir_defines_counts_whatever_it_replaces(older: str, newer: str) -> None:
    text = f"class B(Machine):\n    n: int = 0\n{FORMS[older][0]}{GO}"
    module = texts.module(f"{text}class M(B):\n{FORMS[newer][0]}")
    assert (module.B().go(), module.M().go()) == (FORMS[older][1], FORMS[newer][1])


def test_an_heir_of_a_compiled_heir_has_the_helper() -> None:
    base = f"class B(Machine):\n    n: int = 0\n{HELPER}{GO}"
    module = texts.module(
        f"{base}class H(B):\n    pass\nran = H().go()\nclass M(H):\n    k: int = 0\n"
    )
    assert (module.ran, module.M().go()) == (3, 3)


def test_what_a_class_defined_is_known_after_the_runtime_compiled_it() -> None:
    text = "class M(Machine):\n    n: int | None = None\n    k: int = 0\n"
    module = texts.module(f"{text}    @transition\n    def go(self) -> None: ...\n")
    before = vars_before(module.M)
    module.M()
    after = vars_before(module.M)
    assert {name: after[name] for name in ("n", "k", "go")} == {
        name: before[name] for name in ("n", "k", "go")
    }


VALUES = """
class Mixin:
    @classmethod
    def pick(cls, n: int) -> int:
        return n + len(cls)


class One(Mixin, Enum):
    X = 1


class R(Record):
    n: int = 0

    @classmethod
    def make(cls, n: int) -> "R":
        return cls(n)


class Heir(R):
    m: int = 5


"""
GIVEN = "    n: int = 0\n    xs: list[int] = []\n"
# The static method f, and the body of an event.
REFUSED = {
    "an inherited class method of an enum": (STATIC, "return One.pick(1)"),
    "an inherited class method of a record": (STATIC, "return Heir.make(1).n"),
    "a parameter with the name of the machine": (
        "    @staticmethod\n    def f(self: int) -> int:\n        return self + 1\n",
        "return self.f(3)",
    ),
    "a static method that reads the machine": (
        "    @staticmethod\n    def f(x: int) -> int:\n        return x + self.n\n",
        "return self.f(3)",
    ),
    "a static method that changes what it is given": (
        "    @staticmethod\n    def f(x: list[int]) -> int:\n        return x.pop()\n",
        "return self.f(self.xs)",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_has_no_plain_meaning_is_refused(what: str) -> None:
    function, body = REFUSED[what]
    text = f"{VALUES}class M(Machine):\n{GIVEN}{function}"
    assert texts.problems(f"{text}    @transition\n    def go(self) -> int:\n        {body}\n")


STATES = """
class Door(State):
    OPEN = "open"
    SHUT = "shut"


class Light(State):
    ON = "on"


"""
SHUT = "    @transition(source=Door.OPEN, target=Door.SHUT{of})\n    def shut(self) -> None: ...\n"


def test_the_one_variable_of_a_state_is_the_control_state() -> None:
    made = [
        resolve(texts.module(f"{STATES}class M(Machine):\n    door: Door = Door.OPEN\n{header}").M)
        for header in (SHUT.format(of=""), SHUT.format(of=', of="door"'))
    ]
    first, second = (declaration(each) for each in made)
    assert first == second


@pytest.mark.parametrize(
    "fields",
    [
        "    door: Door = Door.OPEN\n    other: Door = Door.OPEN\n",
        "    door: Door = Door.OPEN\n    light: Light = Light.ON\n    other: Door = Door.OPEN\n",
        "    door: Door = Door.OPEN\n    other: Door | None = None\n",
        "    door: Door = Door.OPEN\n    doors: dict[bool, Door] = total(Door.OPEN)\n",
        "    door: Param[Door] = Door.OPEN\n",
        "    door: Ghost[Door] = Door.OPEN\n",
        "    light: Light = Light.ON\n",
    ],
)
def test_where_several_might_be_meant_the_header_has_to_say_which(fields: str) -> None:
    found = texts.problems(f"{STATES}class M(Machine):\n{fields}{SHUT.format(of='')}")
    assert {problem.number for problem in found} == {"L212"}


CALLED = """
import logging
from collections import defaultdict, namedtuple
from dataclasses import dataclass

log = logging.getLogger(__name__)


class Env(Enum):
    DEV = 0


class Zone(Enum):
    HERE = 0.5


@dataclass
class Point:
    x: int


Pair = namedtuple("Pair", "x")


Who = Annotated[str, Opaque("Who")]

"""
INSTEAD = {
    "log.info('took')": "a body only computes: return it",
    "self.m = defaultdict(int)": "write total(0) where",
    "self.m = defaultdict(set)": "write total(set()) where",
    "return Zone(0.5)": "BY_VALUE = {e.value: e for e in Zone}",
    "return Point(1).x": "make it a record: @dataclass(frozen=True) above class Point",
    "return Pair(1).x": "give each field a type: class Pair(NamedTuple), or class Pair(Record)",
    "return '%s' % self.n": "write an f-string",
    "return 2 ** self.n": "make a table of the module, POWERS = (1, 2, 4, 8)",
    "return 1 << self.n": "make a table of the module, POWERS = (1, 2, 4, 8)",
    "return self.n ** 9": "write it in steps: x = a ** 8; then x * x",
    "return self.n ** 0": "write 1",
    "return self.take() ** 2": "assign it to a local first: x = ...; then x ** 2",
    "self.n **= self.n": "make a table of the module, POWERS = (1, 2, 4, 8)",
    "self.n @= 2": "write it out: x = x @ y",
    "return pow(self.n, 2)": "write a ** 2",
    "return self.who.startswith('a')": "its content is not known: give the event what you ask",
}


@pytest.mark.parametrize("body", INSTEAD)
def test_a_refused_call_has_the_rewrite_for_it(body: str) -> None:
    fields = "    n: int = 0\n    m: dict[Env, int] = {}\n    who: Who\n"
    text = f"{CALLED}class M(Machine):\n{fields}    @transition\n    def go(self) -> int:\n"
    found = [problem.rewrite for problem in texts.problems(f"{text}        {body}\n")]
    assert any(INSTEAD[body] in rewrite for rewrite in found), found
