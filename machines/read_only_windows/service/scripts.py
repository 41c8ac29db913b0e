"""Transactions as clients send them: small programs in JSON, checked before they are accepted.

    [{"get": "a"}, {"work": 20}, {"add": ["n", 1]}, {"put": ["a", "text"]}, {"fail": "why"}]

`get` and `add` give a value to the answer; `work` takes so many milliseconds; `fail` ends the
transaction with an error, after which nothing was changed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from lawful.spec.codec.as_json import is_list, is_object

from .table import Value, View

LONGEST_KEY = 64  # Characters.
LONGEST_TEXT = 1_000
LARGEST_NUMBER = 2**53
LONGEST_WORK = 60_000  # Milliseconds.
MOST_STEPS = 200


class ScriptError(ValueError):
    """These steps are no transaction; the message says where, and what was expected."""


class Failed(Exception):
    """The transaction has ended with an error of its own."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step: `get`, `put`, `add`, `work` or `fail`."""

    name: str
    key: str = ""
    value: Value = None
    number: int = 0


Script = tuple[Step, ...]


def parsed(data: Any, writes: bool) -> Script:
    """The transaction in a JSON array. `writes`: whether it may change something.

    Errors: ScriptError.
    """
    if not is_list(data):
        raise ScriptError(f"steps: expected an array, found {_found(data)}")
    if len(data) > MOST_STEPS:
        raise ScriptError(f"steps: expected at most {MOST_STEPS}, found {len(data)}")
    return tuple(_step(each, f"steps[{n}]", writes) for n, each in enumerate(data))


def keys_of(data: Any) -> Script:
    """A `get` for each key of a JSON array. Errors: ScriptError."""
    if not is_list(data) or len(data) > MOST_STEPS:
        raise ScriptError(f"keys: expected an array of at most {MOST_STEPS}, found {_found(data)}")
    return tuple(Step("get", _key(each, f"keys[{n}]")) for n, each in enumerate(data))


def _step(data: Any, where: str, writes: bool) -> Step:
    names = ("get", "put", "add", "work", "fail")
    if not is_object(data) or len(data) != 1 or next(iter(data)) not in names:
        raise ScriptError(
            f"{where}: expected an object with one of {', '.join(names)}, found {_found(data)}"
        )
    ((name, given),) = data.items()
    where = f"{where}.{name}"
    if name in ("put", "add") and not writes:
        raise ScriptError(f"{where}: a read-only transaction changes nothing")
    match name:
        case "get":
            return Step(name, _key(given, where))
        case "put":
            key, value = _pair(given, where)
            return Step(name, key, _value(value, where))
        case "add":
            key, value = _pair(given, where)
            return Step(name, key, number=_number(value, where, -LARGEST_NUMBER, LARGEST_NUMBER))
        case "work":
            return Step(name, number=_number(given, where, 0, LONGEST_WORK))
        case _:
            return Step("fail", value=_text(given, where, LONGEST_TEXT))


def _pair(data: Any, where: str) -> tuple[str, Any]:
    if not is_list(data) or len(data) != 2:
        raise ScriptError(f"{where}: expected [key, value], found {_found(data)}")
    return _key(data[0], where), data[1]


def _key(data: Any, where: str) -> str:
    key = _text(data, where, LONGEST_KEY)
    if not key:
        raise ScriptError(f"{where}: a key is not empty")
    return key


def _text(data: Any, where: str, longest: int) -> str:
    if not isinstance(data, str) or len(data) > longest or not data.isprintable():
        raise ScriptError(
            f"{where}: expected a printable text of at most {longest} characters,"
            f" found {_found(data)}"
        )
    return data


def _value(data: Any, where: str) -> Value:
    if isinstance(data, str):
        return _text(data, where, LONGEST_TEXT)
    return None if data is None else _number(data, where, -LARGEST_NUMBER, LARGEST_NUMBER)


def _number(data: Any, where: str, least: int, greatest: int) -> int:
    if type(data) is not int or not least <= data <= greatest:
        raise ScriptError(
            f"{where}: expected a whole number in {least}..{greatest}, found {_found(data)}"
        )
    return data


def _found(data: Any) -> str:
    text = ascii(data)
    return text if len(text) <= 80 else text[:77] + "..."


def run(script: Sequence[Step], view: View, work: Callable[[int], None]) -> list[Value]:
    """Execute it; what its steps have got. `work` lets so many milliseconds pass.

    Errors: Failed, and what `work` raises.
    """
    got: list[Value] = []
    for step in script:
        match step.name:
            case "get":
                got.append(view.get(step.key))
            case "put":
                view.put(step.key, step.value)
            case "add":
                got.append(_added(view, step))
            case "work":
                work(step.number)
            case _:
                raise Failed(str(step.value))
    return got


def _added(view: View, step: Step) -> int:
    before = view.get(step.key) or 0
    if not isinstance(before, int) or abs(before + step.number) > LARGEST_NUMBER:
        raise Failed(f"add: the value of {step.key} is no number, or becomes too large")
    view.put(step.key, before + step.number)
    return before + step.number
