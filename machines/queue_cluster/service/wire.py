"""Lines of JSON: between bytes of a TCP stream and records.

A line is one JSON object and ends with a line feed. Its `kind` is the name of a class of
`frames.py`; its other members are the fields of that class, all of them and no others. The types of
the fields say what is expected:

    str, Node, QueueName, Exchange   a string, of 1 to 200 characters
    int (a Nat)                      a whole number from 0 to 2**53
    bool                             true or false
    bytes                            a string in Base64
    a record                         an object with its fields
    one of several records           an object with its fields and `kind`
    X or None                        X or null
    tuple, frozenset                 an array; that of a set is sorted, and has no element twice
    Raw                              any JSON, which whoever reads it hands on as it is

Source: section D of the cluster's requirements; the document has no wire format.
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
import json
import types
import typing
from collections.abc import Callable
from functools import cache, lru_cache, partial
from typing import Any

from lawful.spec.codec.as_json import is_list, is_object

from ...services.framing import WireError

LARGEST_NUMBER = 2**53
LONGEST_NAME = 200  # Characters.
LONGEST_BROKER = LONGEST_NAME - 20  # Of a broker's name: its lives are numbered.

KNOWN_NAMES = 1_024  # Of each type.
KIND = frozenset(["kind"])

# A place in a line: the line, or a place and the field or the number of what is inside.
Where = str | tuple["Where", str | int]
Coder = Callable[[Any], Any]
Decoder = Callable[[Any, Where], Any]
Raw = typing.NewType("Raw", object)


def encode(frame: object, kinds: object) -> bytes:
    """The frame as a line. `kinds`: the union that it belongs to."""
    return json.dumps(coder(kinds)(frame), separators=(",", ":")).encode() + b"\n"


def encode_checked(frame: object, kinds: object) -> bytes:
    """The same. Errors: WireError for a frame that its reader would not take, but for the size of
    its body; TypeError for a body that is no bytes."""
    data = coder(kinds)(frame)
    decoder(kinds)({**data, "body": ""} if "body" in data else data, type(frame).__name__)
    return json.dumps(data, separators=(",", ":")).encode() + b"\n"


def check_broker(name: str) -> None:
    """Errors: ValueError for a name that no broker has."""
    decoder(str)(name, "the broker's name")
    if len(name) > LONGEST_BROKER:
        raise WireError(f"a broker's name has at most {LONGEST_BROKER} characters")


def decode(line: bytes, kinds: object) -> Any:
    """The frame of a line without its end: a member of the union `kinds`. Errors: WireError and no
    other."""
    try:
        data: object = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise WireError(f"expected a line of JSON, found {line[:40]!r}") from error
    return decoder(kinds)(data, "line")


@cache
def coder(kind: Any) -> Coder:
    """What makes JSON of the values of this type."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return _union_coder(inner)
    if origin is tuple:
        each = coder(inner[0])
        return lambda value: [each(v) for v in value]
    if origin is frozenset:
        each = coder(inner[0])
        return lambda value: [each(v) for v in sorted(value, key=repr)]
    if kind is bytes:
        return lambda value: base64.b64encode(value).decode()
    if _is_record(kind):
        fields = [(name, coder(hint)) for name, hint in _fields(kind)]
        return lambda value: {name: code(getattr(value, name)) for name, code in fields}
    if isinstance(kind, type) and issubclass(kind, str):
        return str
    return lambda value: value


def _union_coder(kinds: tuple[Any, ...]) -> Coder:
    records: dict[object, Coder] = {k: coder(k) for k in kinds if _is_record(k)}
    others = [coder(k) for k in kinds if k not in records and k is not types.NoneType]

    def code(value: object) -> object:
        made = records.get(type(value))
        if made is not None:
            return {"kind": type(value).__name__, **made(value)}
        return None if value is None else others[0](value)

    return code


@cache
def decoder(kind: Any) -> Decoder:
    """What makes a value of this type of JSON, and a WireError of anything else."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return _union_decoder(inner)
    if origin is tuple:
        return _array(decoder(inner[0]), tuple)
    if origin is frozenset:
        return _set(decoder(inner[0]), coder(kind))
    if _is_record(kind):
        return _record(kind)
    if kind is Raw:
        return lambda data, _: data
    return {bytes: _bytes, int: _number, bool: _truth}.get(kind) or _text(kind)


def _union_decoder(kinds: tuple[Any, ...]) -> Decoder:
    records: dict[str, Decoder] = {k.__name__: _record(k, KIND) for k in kinds if _is_record(k)}
    others = [decoder(k) for k in kinds if not _is_record(k) and k is not types.NoneType]
    nothing = types.NoneType in kinds

    def parse(data: Any, where: Where) -> Any:
        if data is None and nothing:
            return None
        if others:
            return others[0](data, where)
        kind = data.get("kind") if is_object(data) else None
        made = records.get(kind) if isinstance(kind, str) else None
        if made is None:
            raise _expected(where, f"a kind of {', '.join(sorted(records))}", kind)
        return made(data, where)

    return parse


def _record(kind: Any, besides: frozenset[str] = frozenset()) -> Decoder:
    """Of an object with the record's fields, and these members besides, which are not looked at."""
    fields = {name: decoder(hint) for name, hint in _fields(kind)}
    members = fields.keys() | besides

    def parse(data: Any, where: Where) -> Any:
        if not is_object(data) or data.keys() != members:
            found = sorted(data.keys() - besides) if is_object(data) else data
            raise _expected(where, f"an object with {', '.join(fields) or 'nothing'}", found)
        return kind(*[made(data[name], (where, name)) for name, made in fields.items()])

    return parse


def _array(each: Decoder, made: Callable[[Any], Any]) -> Decoder:
    def parse(data: Any, where: Where) -> Any:
        if not is_list(data):
            raise _expected(where, "an array", data)
        return made(each(value, (where, i)) for i, value in enumerate(data))

    return parse


def _set(each: Decoder, code: Coder) -> Decoder:
    parse_array = _array(each, frozenset)

    def parse(data: Any, where: Where) -> Any:
        found = parse_array(data, where)
        if code(found) != data:
            raise _expected(where, "elements that are sorted and differ", data)
        return found

    return parse


def _text(kind: type[str]) -> Decoder:
    # The same few names come again and again, and what is one object is compared without a call.
    known = lru_cache(maxsize=KNOWN_NAMES)(partial(_named, kind))

    def parse(data: Any, where: Where) -> Any:
        if not isinstance(data, str) or not 0 < len(data) <= LONGEST_NAME:
            raise _expected(where, f"a string of 1 to {LONGEST_NAME} characters", data)
        try:
            return known(data)
        except UnicodeEncodeError:
            raise _expected(where, "characters that UTF-8 has", data) from None

    return parse


def _named(kind: type[str], data: str) -> str:
    data.encode()
    return kind(data)


def _number(data: Any, where: Where) -> int:
    if not isinstance(data, int) or isinstance(data, bool) or not 0 <= data <= LARGEST_NUMBER:
        raise _expected(where, f"a whole number from 0 to {LARGEST_NUMBER}", data)
    return data


def _truth(data: Any, where: Where) -> bool:
    if not isinstance(data, bool):
        raise _expected(where, "true or false", data)
    return data


def _bytes(data: Any, where: Where) -> bytes:
    try:
        found = base64.b64decode(data, validate=True) if isinstance(data, str) else None
    except (binascii.Error, ValueError):
        found = None
    if found is None or base64.b64encode(found).decode() != data:
        raise _expected(where, "Base64", data)
    return found


def _is_record(kind: Any) -> bool:
    return dataclasses.is_dataclass(kind)


def _fields(kind: Any) -> list[tuple[str, Any]]:
    hints = typing.get_type_hints(kind)
    return [(field.name, hints[field.name]) for field in dataclasses.fields(kind)]


def _expected(where: Where, what: str, found: object) -> WireError:
    return WireError(f"{_path(where)}: expected {what}, found {_short(found)}")


def _path(where: Where) -> str:
    if isinstance(where, str):
        return where
    outer, inner = where
    return f"{_path(outer)}.{inner}" if isinstance(inner, str) else f"{_path(outer)}[{inner}]"


def _short(found: object) -> str:
    text = repr(found)
    return text if len(text) <= 60 else f"{text[:60]}..."
