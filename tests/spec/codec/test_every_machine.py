"""Every machine of the tests as JSON and back, within its scope too: no kind of node is missing."""

from __future__ import annotations

import dataclasses
import inspect
import json
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from lawful import Machine, Scope
from lawful.machines.unicast import as_seed, declaration, system
from lawful.spec import flat as flats
from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.codec import as_json
from lawful.spec.errors import DeclarationError
from lawful.spec.lower import lower
from lawful.spec.lower.steps import with_all_steps
from lawful.spec.resolve import resolve
from lawful.spec.syntax.declare import declared
from tests.checks.declarations import (
    cloakroom,
    conformance,
    encoding,
    exploration,
    parts,
    provable,
    rings,
    timed,
)
from tests.classics import implementing, jugs, peterson, two_phase
from tests.diagrams import examples
from tests.runtime.compile import plain
from tests.runtime.declarations import every_variable
from tests.spec import texts

MODULES = (
    *(as_seed, declaration, system, cloakroom, conformance, exploration, provable, rings, encoding),
    *(timed, parts, implementing, jugs, peterson, two_phase, examples, every_variable, plain),
)
# What the machines of the modules leave out.
REST = """\
    class Msg(Record):
        seqno: Nat
        pay: Annotated[bytes, Opaque("Payload")]
    class Ack(Record):
        seqno: Nat
    class Part(Machine):
        n: Nat = 0
        @transition()
        def up(self) -> Nat:
            self.n += 1
            return self.n
    class Base(Machine):
        queue: list[Msg] = []
        bag: Counter[int] = Counter()
        weight: Param[float] = 1.5
        fixed: Mapping[bool, int] = {True: 1, False: 0}
        part: Part = Part()
        last: Msg | Ack | None = None
        pair: tuple[int, int] = (0, 1)
        @transition()
        def go(self, m: Msg) -> None:
            if self.queue == []:
                refuse("empty")
            assert len(self.queue) > 0
            first, second = self.pair
            for each in self.queue:
                if each == m:
                    break
                continue
            require(can(self.part.up), f"{first} {second}")
            self.part.up()
    class M(Base):
        @transition()
        def go(self, m: Msg) -> None:
            super().go(m)
        @transition()
        def new(self) -> None:
            self.help()
        later = ignore("new", when=lambda self: 1 // self.part.n == 1, because="it is there")
        def help(self) -> None:
            self.bag[3] += 1 if self.part.n == 0 else 2
        @invariant
        def any_sorted(self) -> bool:
            return sorted(self.bag) == [] or all(b or not b for b in (False, True))
    """
# Within its scope it has a step for the condition that may have no value.
IGNORING = """\
    from typing import Literal
    class Ignoring(Machine):
        n: Nat = 0
        mode: Literal["on", "off"] = "off"
        @transition()
        def go(self, k: Nat) -> None:
            require(self.n < k)
            self.mode = "on"
            self.n += 1
        late = ignore("go", when=lambda self, k: 6 // k > self.n, because="it is late")
        scope = Scope(Nat=range(0, 3))
    """


def declared_in(module: ModuleType) -> Iterator[type[Machine]]:
    for value in vars(module).values():
        if isinstance(value, type) and issubclass(value, Machine) and value is not Machine:
            yield value


def everyone() -> list[type[Machine]]:
    found = [cls for module in MODULES for cls in declared_in(module) if has_meaning(cls)]
    written = (texts.last_machine(texts.module(text)) for text in (REST, IGNORING))
    return [*dict.fromkeys(found), *written]


def has_meaning(cls: type[Machine]) -> bool:
    """Whether the machine is one by itself: what is abstract may be none."""
    try:
        resolve(cls)
    except DeclarationError:
        assert declared(cls).abstract
        return False
    return True


def flat_of(cls: type[Machine]) -> flats.Flat | None:
    """The machine within its scope, where it has all that it needs of one."""
    try:
        return lower(resolve(cls).machine, resolve(cls).scopes.get("scope", Scope()))
    except DeclarationError:
        return None


def kinds(value: Any) -> Iterator[type[Any]]:
    """The classes of all nodes and types inside."""
    if as_json.is_tuple(value):
        for each in value:
            yield from kinds(each)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield type(value)
        for field in dataclasses.fields(value):
            yield from kinds(getattr(value, field.name))


MET: set[type[Any]] = set()


@pytest.mark.one_in(3)
@pytest.mark.parametrize("cls", everyone(), ids=lambda cls: cls.__name__)
def test_a_machine_comes_back_equal(cls: type[Machine]) -> None:
    machine = resolve(cls).machine
    MET.update(kinds(machine))
    text = as_json.canonical(as_json.to_json(machine))
    back = as_json.from_json(json.loads(text))
    assert back == machine and as_json.fingerprints(back) == as_json.fingerprints(machine)
    assert as_json.canonical(as_json.to_json(back)) == text


@pytest.mark.one_in(3)
@pytest.mark.parametrize("cls", everyone(), ids=lambda cls: cls.__name__)
def test_a_machine_within_its_scope_comes_back_equal(cls: type[Machine]) -> None:
    flat = flat_of(cls)
    if flat is None:
        return
    MET.update(kinds(flat))
    text = as_json.canonical(as_json.flat_to_json(flat))
    back = as_json.flat_from_json(json.loads(text))
    assert back == flat and as_json.canonical(as_json.flat_to_json(back)) == text


def test_every_kind_of_node_and_type_was_among_them() -> None:
    for cls in everyone():
        MET.update(kinds(with_all_steps(resolve(cls).machine)))
        MET.update(kinds(flat_of(cls)))
    bases = (ir.Node, ir.Expr, ir.Stmt, t.Type, t.Unknown)
    known = {
        cls
        for module in (ir, t, flats)
        for cls in vars(module).values()
        if inspect.isclass(cls) and dataclasses.is_dataclass(cls) and cls not in bases
    }
    assert {cls.__name__ for cls in known - MET} == set()


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (None, 'expected an object with "format": "lawful-flat"'),
        ({"format": "lawful-flat", "version": 9}, "format version 9; this lawful reads 1"),
        (
            {"format": "lawful-flat", "version": 1, "files": [], "types": [], "flat": None},
            'no Flat under "flat"',
        ),
    ],
)
def test_what_is_no_flat_is_refused(data: object, why: str) -> None:
    with pytest.raises(ValueError, match="machine") as caught:
        as_json.flat_from_json(data)
    assert why in str(caught.value)
