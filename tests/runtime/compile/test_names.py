"""A declaration may use any name that the code generated for it uses."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from lawful import Refused
from lawful.runtime.instances.make import plan_of
from lawful.runtime.kernel.event_record import Stepped
from tests.spec import texts

TEXT = """
class Phase(State):
    OPEN = "open"
    SHUT = "shut"


class Lamp(Machine):
    on: bool = False
    times: Nat = 0

    @transition()
    def flip(self, by: Nat) -> Nat:
        require(by < 9, "too many")
        self.on = not self.on
        self.times += by
        return self.times


class Desk(Machine):
    state: Phase = Phase.OPEN
    count: Nat = 0
    seen: set[Nat] = set()
    book: dict[Nat, Nat] = {{}}
    order: list[Nat] = []
    lamp: Lamp = Lamp()
    lamps: dict[Nat, Lamp] = {{}}
    lapse: Timer = Timer()
{fields}

    @transition(source=Phase.OPEN)
    def put(self, n: Nat, m: Nat) -> Nat:
        require(n < 9, "too many")
        self.count = n + m
        self.seen.add(n)
        self.book[n] = m
        self.order.append(m)
        self.lapse.start(3)
        for each in self.order:
            self.count += each
{lines}
        return self.count

    @transition(event="turn", source=Phase.OPEN, target=Phase.SHUT)
    def shut(self, n: Nat) -> None:
        require(n == 1)

    @transition(event="turn", source=Phase.SHUT, target=Phase.OPEN)
    def open(self, n: Nat) -> None:
        self.lamp.flip(n)
        self.lamps[n] = Lamp()

    @transition(timer="lapse")
    def end(self) -> None:
        self.count = 0
{methods}

    @invariant
    def few(self) -> bool:
        return self.count < 1_000_000


class Plain(Machine):
    count: Nat = 0
{fields}

    @transition()
    def put(self, n: Nat) -> Nat:
        require(n < 9, "too many")
        self.count += n
{lines}
        return self.count
{methods}
"""
OWN = {*re.findall(r"\w+", TEXT)}  # The text has these itself.


def module(fields: str = "", lines: str = "", methods: str = "") -> Any:
    return texts.module(TEXT.format(fields=fields, lines=lines, methods=methods))


def used(made: Any) -> Iterator[str]:
    """The names of the generated code: its globals, and the locals of its functions."""
    for cls in (made.Desk, made.Plain, made.Lamp):
        plan = plan_of(cls)
        for each in plan.cls.__plan__.ways.values():
            method = plan.method(each)
            inside: Callable[..., Any] = getattr(method, "__wrapped__", method)
            for name, value in inside.__globals__.items():
                yield name
                yield from getattr(getattr(value, "__code__", None), "co_varnames", ())


CALLS: list[tuple[Any, ...]] = [
    ("put", 1, 2),
    ("put", 20, 1),
    ("turn", 0),
    ("turn", 1),
    ("turn", 3),
]


def told(out: list[str]) -> Callable[[Stepped], None]:
    """An observer that keeps the arguments."""
    return lambda done: out.append(repr(done.args))


def play(made: Any) -> list[str]:
    """What bare and observed instances answer; their parts are made, too."""
    out = list[str]()
    for cls in (made.Desk, made.Plain):
        for observed in (False, True):
            cls()  # From the second instance on, `__init__` is generated.
            entry: Any = cls()
            if observed:
                entry.lawful.observe(told(out))
            calls: list[tuple[Any, ...]] = [
                ("put", 1, 2),
                ("put", 20, 1),
                ("turn", 0),
                ("turn", 1),
                ("turn", 3),
            ]
            for event, *args in calls if cls is made.Desk else [("put", 1), ("put", 20)]:
                try:
                    out.append(repr(getattr(entry, event)(*args)))
                except Refused as refusal:
                    out.append(str(refusal))
            out.append(repr([entry.count, getattr(entry, "lamps", None)]))
    return out


@pytest.fixture(scope="module")
def names() -> list[str]:
    made = module()
    play(made)
    known = {*used(made), "total", "parameters", "item", "machine", "entry", "value"}
    found = sorted(name for name in known - OWN if _is_free(name))
    found = [name for name in found if not re.fullmatch(r"[a-z]+\d\d+", name)]  # Such as site10.
    assert {"error", "old_count", "failed", "at", "Stepped", "watch", "part0"} <= {*found}
    return found


def _is_free(name: str) -> bool:
    """Whether a declaration may use the name: Python and the language know others."""
    return name.isidentifier() and not keyword.iskeyword(name) and name[0] != "_"


ROLES: dict[str, Callable[[list[str]], dict[str, str]]] = {
    "helpers": lambda names: {
        "methods": "".join(
            f"\n    def {name}(self, n: Nat) -> Nat:\n        return n + 1\n" for name in names
        ),
        "lines": "".join(f"        self.count += self.{name}(n)\n" for name in names),
    },
    "helpers that change something": lambda names: {
        "methods": "".join(
            f"\n    def {name}(self, n: Nat) -> None:\n        self.count += n + 1\n"
            for name in names
        ),
        "lines": "".join(f"        self.{name}(n)\n" for name in names),
    },
    "variables": lambda names: {
        "fields": "".join(f"    {name}: int = 2\n" for name in names),
        "lines": "".join(
            f"        self.{name} += n\n        self.count += self.{name}\n" for name in names
        ),
    },
    "parameters": lambda names: {
        "fields": "".join(f"    {name}: Param[int] = 2\n" for name in names),
        "lines": "".join(f"        self.count += n + self.{name}\n" for name in names),
    },
    "locals": lambda names: {
        "lines": "".join(
            f"        {name} = n + 1\n        self.count += {name}\n" for name in names
        ),
    },
    "events": lambda names: {
        "methods": "".join(
            f"\n    @transition()\n    def {name}(self, n: Nat) -> None:\n        self.count = n\n"
            for name in names
        ),
    },
}
PLAIN = [f"word{i}" for i in range(1000)]
OF_PYTHON = {*vars(builtins), "Nat", "Param", "Timer", "State"}  # A class statement reads these.


@pytest.mark.parametrize(
    "role", [r if r == "locals" else pytest.param(r, marks=pytest.mark.nightly) for r in ROLES]
)
def test_a_declaration_uses_the_names_of_its_generated_code(role: str, names: list[str]) -> None:
    """All names at once; the same text with other names says what is right."""
    free = [name for name in names if name not in OF_PYTHON]
    if role == "parameters":
        free = [name for name in free if name not in ("universe", "clock")]  # Words of the call.
    want = play(module(**ROLES[role](PLAIN[: len(free)])))
    assert play(module(**ROLES[role](free))) == want


def test_arguments_have_the_names_of_generated_code(names: list[str]) -> None:
    free = [name for name in names if name not in OF_PYTHON]

    def giving(words: list[str]) -> str:
        given = "".join(f", {word}: Nat" for word in words)
        lines = "".join(f"        self.count += {word}\n" for word in words)
        return f"\n    @transition()\n    def give(self{given}) -> None:\n{lines}"

    for cls in ("Desk", "Plain"):
        for observed in (False, True):
            entry = getattr(module(methods=giving(free)), cls)()
            if observed:
                entry.lawful.observe(told([]))
            entry.give(*range(len(free)))
            assert entry.count == sum(range(len(free)))
            with pytest.raises(TypeError):
                entry.give(*["x" for _ in free])


@pytest.mark.parametrize("name", ["universe", "clock"])
def test_a_parameter_has_no_word_of_the_call(name: str) -> None:
    text = f"""
        class Desk(Machine):
            {name}: Param[Nat] = 2

            @transition()
            def put(self) -> None:
                require(self.{name} > 1)
        """
    assert texts.numbers(text) == ["L108"]
