"""`Literal` of texts: its texts are members wherever a declaration writes them out."""

from __future__ import annotations

import copy
import json
import pickle
import sys
from typing import Any

import pytest

from lawful import Refused
from lawful.checks.conform.observation import WrongType, plain, spelled
from lawful.spec import freeze
from lawful.spec import types as t
from lawful.spec.codec import as_json
from lawful.spec.codec.frozen import Frozen
from lawful.spec.resolve import resolve
from lawful.spec.text.statements import machine as as_text
from lawful.spec.values.literal_texts import literal_class
from lawful.spec.values.world import World
from tests.spec import texts

LAMP = """
from typing import Literal

Mode = Literal["on", "off", "stand by"]
NEXT = {"on": "off", "off": "stand by", "stand by": "on"}

class Set(Record):
    mode: Mode

class Lamp(Machine):
    mode: Mode = "off"
    seen: dict[Mode, Nat] = {}

    @transition
    def switch(self, to: Mode) -> str:
        require(to != self.mode, "already")
        self.mode = to
        self.seen[to] = 1
        return f"now {to}"

    @transition
    def follow(self, given: Set) -> Mode:
        self.mode = given.mode
        return NEXT[self.mode]

    @invariant
    def is_one(self) -> bool:
        return self.mode in ("on", "off", "stand by")
"""
MODE = t.Literal("Literal_off_on_stand_by", ("off", "on", "stand by"))


def test_it_is_a_type_of_its_own() -> None:
    machine = texts.resolved(LAMP).machine
    assert machine.variables[0].type == MODE
    assert str(MODE) == "Literal['off', 'on', 'stand by']"
    assert as_json.from_json(as_json.to_json(machine)) == machine
    assert World.made_of(machine.types).enums == {MODE.name: literal_class(MODE.members)}


def test_values_are_texts_to_whoever_embeds_it() -> None:
    lamp: Any = texts.machine(LAMP)()
    assert (lamp.mode, repr(lamp.mode), f"{lamp.mode}") == ("off", "'off'", "off")
    assert lamp.switch("on") == "now on"
    assert isinstance(lamp.mode, str)
    assert json.dumps([lamp.mode, lamp.seen["on"]]) == '["on", 1]'
    assert pickle.loads(pickle.dumps(lamp.mode)) is lamp.mode is copy.deepcopy(lamp.mode)
    with pytest.raises(Refused, match="already"):
        lamp.switch("on")
    with pytest.raises(TypeError, match=r"to is a Literal.*, not 'blue', a str"):
        lamp.switch("blue")
    assert lamp.mode == "on"


def test_the_text_of_the_machine_writes_the_texts() -> None:
    text = as_text(texts.resolved(LAMP).machine)
    assert "mode: Literal['off', 'on', 'stand by'] = \"off\"" in text
    assert 'return self.mode in ("on", "off", "stand by")' in text
    assert "Literal_" not in text


@pytest.mark.parametrize(
    ("old", "new", "found", "expected"),
    [
        ('mode: Mode = "off"', 'mode: Mode = "of"', "'of'", "one of 'off', 'on', 'stand by'"),
        ("= given.mode", '= "blue"', "'blue'", "one of 'off', 'on', 'stand by'"),
        ('("on", "off", "stand by")', '("on", "red")', "'red'", "one of 'off', 'on', 'stand by'"),
        ("self.mode in (", 'self.mode == "red" or self.mode in (', "'red'", "one of"),
        ("to: Mode)", "to: Literal[1, 'on'])", "Literal", "bool, int, Nat"),
        ("to: Mode)", "to: Literal['mro', 'on'])", "Literal", "bool, int, Nat"),
    ],
)
def test_a_text_that_is_none_of_them_is_refused(
    old: str, new: str, found: str, expected: str
) -> None:
    assert old in LAMP
    problems = texts.problems(LAMP.replace(old, new))
    assert [(p.found, p.expected.startswith(expected)) for p in problems][:1] == [(found, True)]


def test_an_implementation_may_give_plain_texts() -> None:
    world = resolve(texts.machine(LAMP)).world
    seen = plain("on", MODE, world)
    assert seen is literal_class(MODE.members)("on")
    assert spelled(seen) == "'on'"
    with pytest.raises(WrongType):
        plain("blue", MODE, world)


def test_a_frozen_declaration_makes_the_same_texts() -> None:
    cls = texts.machine(LAMP)
    (row,) = as_object(freeze.document(cls.__module__, [cls]))["machines"].values()
    assert row["literals"] == {MODE.name: ["off", "on", "stand by"]}
    assert row["classes"]["enums"] == {}
    names = vars(sys.modules[cls.__module__])
    thawed = Frozen("", row, {}, names, texts.resolved(LAMP).machine.place).world()
    assert thawed.enums == {MODE.name: literal_class(MODE.members)}


def as_object(document: Any) -> dict[str, Any]:
    assert as_json.is_object(document)
    return document
