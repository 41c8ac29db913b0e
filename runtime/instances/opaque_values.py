"""Opaque values in snapshots: each has an encoding of its own instead of a hash.

    opaque := text                                              of a class that has texts
            | {"$opaque": name, "id": "bytes:..." | "str:..." | "int:..." | "UUID:..." ...}

Where the annotation admits values of one class that has texts (`spec.values.opaque_texts`), its
text alone is the value. Other encodings begin with the class: that of bytes is base64. Values of
some classes have no encoding, since Python compares them with those of others (`True == 1 == 1.0`)
or the language has a type of its own for them.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterable, Iterator
from typing import Any

from lawful.spec import integer_texts, ir
from lawful.spec import types as t
from lawful.spec.values import opaque_texts
from lawful.spec.values.opaque_places import replaced
from lawful.spec.values.opaques import (
    ENCODED,
    TEXTS,
    base_of,
    class_of,
    classes_in,
    is_encodable,
    text_class,
)
from lawful.spec.values.text import shown
from lawful.spec.values.world import TextToken, Token, World

WHICH = f"{', '.join(('bytes', 'str', 'int', *TEXTS))} have one"


def closed(value: Any, kind: t.Type, world: World) -> Any:
    """The value with each opaque value in it as a token that holds its encoding. TypeError for one
    without an encoding, or of another class than its annotation says."""
    return replaced(value, kind, lambda held, name: _token(held, name, world))


def opened(value: Any, kind: t.Type, world: World) -> Any:
    """The value with each token in it as the opaque value that it holds; ValueError where that is
    of another type than its annotation says."""
    return replaced(value, kind, lambda token, name: _opened(token, name, world))


def _token(value: Any, name: str, world: World) -> Token:
    mine = world.encodable.get(name)
    cls = base_of(value)
    if isinstance(value, bool) or (not isinstance(value, ENCODED) and cls is None):
        what = f"no encoding for the opaque value {shown(value)}: {WHICH}"
        raise TypeError(f"{what}; {_instead((value.__class__,))}")
    if not is_encodable(value, mine):
        wanted = _types(name, world)
        raise TypeError(f"no encoding for {shown(value)}: the opaque {name} is of type {wanted}")
    whole = text_class(mine)
    if whole is not None:
        if cls is not whole:
            raise TypeError(
                f"no encoding for {shown(value)}: the opaque {name} is a {whole.__name__}"
            )
        return TextToken(name, opaque_texts.written(value, whole))
    return Token(name, _encoding(value, cls))


def _encoding(value: Any, cls: type[Any] | None) -> str:
    match value:
        case bytes():
            import base64  # Few machines have opaque bytes.

            return "bytes:" + base64.b64encode(value).decode()
        case str():
            return "str:" + value
        case int():
            return f"int:{integer_texts.written(value)}"
        case _:
            assert cls is not None
            return f"{cls.__name__}:{opaque_texts.written(value, cls)}"


def _opened(token: Any, name: str, world: World) -> Any:
    mine = world.encodable.get(name)
    whole = text_class(mine)
    if isinstance(token, TextToken) and whole is not None:
        return opaque_texts.read(str(token.id), whole)
    if whole is not None:
        raise ValueError(f"{name} is the text of a {whole.__name__}, not {token.id!r}")
    held = _read(token)
    if not is_encodable(held, mine):
        wanted = _types(name, world)
        raise ValueError(f"{name} is of type {wanted}, not {shown(held)}, a {type(held).__name__}")
    return held


def _read(token: Token) -> Any:
    kind, _, text = str(token.id).partition(":")
    match kind:
        case "bytes":
            import base64  # As above.

            return base64.b64decode(text, validate=True)
        case "str":
            return text
        case "int" if integer_texts.is_text(text):
            return integer_texts.read(text)
        case _:
            cls = class_of(kind)
            if cls is None:
                raise ValueError(f"not the encoding of an opaque value: {token.id!r}")
            return opaque_texts.read(text, cls)


def check_kept(machine: ir.Machine, world: World, outputs: bool) -> None:
    """TypeError for a machine with an opaque type of which no value has an encoding, in a variable
    or parameter, also of a part, in an argument, or, with `outputs`, in an output."""
    without = {name for name, types in world.encodable.items() if not types}
    if not without:
        return
    for where, kind in _held(machine, outputs):
        for each in t.inside(kind):
            if isinstance(each, t.Opaque) and each.name in without:
                of = world.opaque_annotations.get(each.name, ())
                what = f"{where}: no value of the opaque {each.name} has an encoding"
                raise TypeError(f"{what}; {_instead(c for each in of for c in classes_in(each))}")


def _held(machine: ir.Machine, outputs: bool) -> Iterator[tuple[str, t.Type]]:
    """What a store has to write of a machine, with its types."""
    for each in (machine, *machine.parts):
        yield from ((f"{each.name}.{row.name}", row.type) for row in each.variables)
        yield from ((f"{each.name}.{row.name}", row.type) for row in each.parameters)
    for event in machine.events:
        for name, kind in event.params:
            yield f"{machine.name}.{event.name}({name})", kind
        if outputs:
            yield f"the output of {machine.name}.{event.name}", event.output


def _instead(classes: Iterable[type[Any]]) -> str:
    """What to write for values of these classes."""
    for cls in classes:
        if cls is bool or issubclass(cls, enum.Enum):
            return f"write {cls.__name__}, without Opaque"
        if cls in (float, complex):
            return "write Decimal, or count the smallest unit in a Nat"
        if dataclasses.is_dataclass(cls) or hasattr(cls, "_fields"):
            return f"make {cls.__name__} a Record, without Opaque"
        if issubclass(cls, tuple | frozenset | set | list | dict):
            return "write tuple[...], frozenset[...] or a Record, without Opaque"
    return 'keep its bytes or its text, as Annotated[bytes, Opaque("...")]'


def _types(name: str, world: World) -> str:
    types = world.encodable.get(name, frozenset(ENCODED))
    return " or ".join(sorted(each.__name__ for each in types)) or "none that has an encoding"
