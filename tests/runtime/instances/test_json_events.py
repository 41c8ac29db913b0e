"""Events with JSON arguments, and the schemas of these."""

from __future__ import annotations

import enum
from typing import Any

import pytest

from lawful import Machine, Nat, Record, Refused, State, require, transition
from tests.spec.values.schemas import valid


class Door(State):
    OPEN = "open"
    SHUT = "shut"


class Size(enum.Enum):
    SMALL = 1
    LARGE = 2


class Key(Record):
    number: Nat
    size: Size


class Gate(Machine):
    state: Door = Door.OPEN
    last: Key | None = None

    @transition(source=Door.OPEN, target=Door.SHUT)
    def shut(self, key: Key, codes: tuple[Nat, ...]) -> Key | None:
        require(key.number in codes, "another code")
        before = self.last
        self.last = key
        return before

    @transition(source=Door.SHUT, target=Door.OPEN)
    def open(self) -> None: ...


KEY = {"$": "Key", "number": 3, "size": "LARGE"}


def test_an_event_takes_and_gives_json() -> None:
    gate = Gate()
    assert gate.lawful.take_json("shut", {"codes": {"$tuple": [3, 4]}, "key": KEY}) is None
    assert gate.last == Key(3, Size.LARGE)
    assert gate.lawful.take_json("open", {}) is None
    assert gate.lawful.take_json("shut", {"codes": {"$tuple": [3]}, "key": KEY}) == KEY


def test_a_refusal_is_raised() -> None:
    gate = Gate()
    with pytest.raises(Refused, match="another code"):
        gate.lawful.take_json("shut", {"codes": {"$tuple": []}, "key": KEY})
    assert gate.state is Door.OPEN


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ([], "shut takes an object of key: Key, codes: tuple[Nat, ...], not []"),
        ({"key": KEY}, 'shut takes an object of key: Key, codes: tuple[Nat, ...], not {"key"'),
        ({"key": 1, "codes": {"$tuple": []}}, "shut: key: expected a Key, found 1"),
        ({"key": {**KEY, "size": "HUGE"}, "codes": {"$tuple": []}}, "shut: key: expected a Size"),
        ({"key": KEY, "codes": [1]}, "shut: codes: expected a tuple[Nat, ...], found [1]"),
        ({"key": KEY, "codes": {"$tuple": [-1]}}, "shut: codes[0]: -1 is below 0"),
    ],
)
def test_other_data_is_refused_and_changes_nothing(data: Any, said: str) -> None:
    gate = Gate()
    with pytest.raises(ValueError) as caught:
        gate.lawful.take_json("shut", data)
    assert str(caught.value).startswith(said)
    assert gate == Gate()
    assert not valid(data, Gate.lawful.schema()["shut"]["arguments"])


def test_unknown_events_are_named() -> None:
    with pytest.raises(ValueError, match="Gate has no event slam; it has"):
        Gate().lawful.take_json("slam", {})


def test_the_schemas_of_a_machine() -> None:
    number = {"type": "integer", "minimum": 0}
    digits = {"type": "string", "pattern": "^(0|[1-9][0-9]*|0x[1-9a-f][0-9a-f]*)$"}
    nat = {"anyOf": [number, record({"$int": digits})]}
    key = {
        "title": "Key",
        **record({"$": {"const": "Key"}, "number": nat, "size": {"enum": ["SMALL", "LARGE"]}}),
    }
    codes = record({"$tuple": {"type": "array", "items": nat}})
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    assert Gate.lawful.schema() == {
        "shut": {
            "arguments": {
                **dialect,
                "title": "Gate.shut",
                **record({"key": key, "codes": codes}),
            },
            "output": {**dialect, "anyOf": [key, {"type": "null"}]},
        },
        "open": {
            "arguments": {**dialect, "title": "Gate.open", **record({})},
            "output": {**dialect, "type": "null"},
        },
    }


def record(members: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": members,
        "required": list(members),
        "additionalProperties": False,
    }
