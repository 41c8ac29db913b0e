"""The Python types of opaque values, which only their annotations give.

Numbers must have one type, because Python treats True, 1 and 1.0 as equal: which of the equal
values a set keeps would show the order in which they came. Snapshots encode bytes, str and int, and
what has a text (`opaque_texts`).
When exploration is compared with a running instance, the instance gets values of the types with
which its opaques are declared.
"""

from __future__ import annotations

import abc
import dataclasses
import enum
import functools
import importlib
import itertools
import sys
import types as python_types
import typing
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

ENCODED: tuple[type[Any], ...] = (bytes, str, int)
NUMBERS: tuple[type[Any], ...] = (bool, int, float, complex)
# The classes whose values `opaque_texts` writes, with their modules. A declaration may use each as
# an opaque type; its values are only stored, compared with == and returned.
TEXTS = {
    "UUID": "uuid",
    "datetime": "datetime",
    "date": "datetime",
    "time": "datetime",
    "timedelta": "datetime",
    "Decimal": "decimal",
    "Fraction": "fractions",
    "Path": "pathlib",
}
# Those that have equal values with different texts.
SEVERAL_TEXTS = frozenset({"datetime", "time", "Decimal"})
# Those that have a module: whoever has such a number has imported it, and an instance without any
# does not wait for that.
OTHER_NUMBERS = {("decimal", "Decimal"), ("fractions", "Fraction")}


def is_number(cls: Any) -> bool:
    """Whether it is one of the classes of numbers that Python compares with one another."""
    if cls in NUMBERS:
        return True
    named = getattr(cls, "__module__", ""), getattr(cls, "__qualname__", "")
    return named in OTHER_NUMBERS and getattr(sys.modules.get(named[0]), named[1], None) is cls


def numbers_in(annotation: Any) -> tuple[type[Any], ...]:
    """The types of numbers that an annotation names, inside other types, too."""
    if isinstance(annotation, type) and is_number(annotation):
        return (annotation,)
    inside = (numbers_in(each) for each in typing.get_args(annotation))
    return tuple(dict.fromkeys(number for found in inside for number in found))


def has_text(cls: Any) -> bool:
    """Whether it is one of the classes whose values have a text."""
    module, name = getattr(cls, "__module__", ""), getattr(cls, "__qualname__", "")
    module = "pathlib" if module == "pathlib._local" else module  # In Python 3.13.
    return TEXTS.get(name) == module and getattr(sys.modules.get(module), name, None) is cls


def class_of(name: str) -> type[Any] | None:
    """The class of this name whose values have a text."""
    if name not in TEXTS:
        return None
    found: type[Any] = getattr(importlib.import_module(TEXTS[name]), name)
    return found


def every_class() -> frozenset[type[Any]]:
    """All classes whose values have a text."""
    return frozenset(cls for cls in map(class_of, TEXTS) if cls is not None)


@functools.cache
def _base(cls: Hashable) -> Any:
    """The class with a text that this is, or is derived from; None if there is none."""
    return next((each for each in getattr(cls, "__mro__", ()) if has_text(each)), None)


def base_of(value: Any) -> type[Any] | None:
    """The class by which a value has a text; None if it has none."""
    cls: Any = value.__class__
    found: type[Any] | None = _base(cls)
    return found


def encoded_in(annotation: Any) -> frozenset[type[Any]]:
    """The types that snapshots encode whose values are of this annotation; of one that is no plain
    class or union, such as a protocol's or a type variable's, all."""
    if isinstance(annotation, typing.NewType):
        return encoded_in(annotation.__supertype__)
    origin = typing.get_origin(annotation)
    if origin in (typing.Union, python_types.UnionType):
        inside = map(encoded_in, typing.get_args(annotation))
        return frozenset(each for found in inside for each in found)
    if annotation in (None, bool) or isinstance(origin, type):
        return frozenset()  # A bool is an int, and no snapshot tells both apart.
    if not isinstance(annotation, type) or getattr(annotation, "_is_protocol", False):
        return frozenset(ENCODED) | every_class()
    if has_text(annotation):
        return frozenset({annotation})
    # An abstract class may have subclasses anywhere.
    more = annotation is object or isinstance(annotation, abc.ABCMeta)
    every = (*ENCODED, *(every_class() if more else ()))
    return frozenset(e for e in every if issubclass(e, annotation) or issubclass(annotation, e))


def encoded_class(name: str) -> type[Any] | None:
    """The class of this name whose values snapshots encode."""
    return next((each for each in ENCODED if each.__name__ == name), None) or class_of(name)


def text_class(encodable: frozenset[type[Any]] | None) -> type[Any] | None:
    """The class whose texts stand for values of an opaque that admits these; None where a text
    alone would not tell the class."""
    if encodable is None or len(encodable) != 1:
        return None
    (cls,) = encodable
    return cls if has_text(cls) else None


def has_several_texts(encodable: frozenset[type[Any]] | None) -> bool:
    """Whether an opaque that admits these classes has equal values with different texts."""
    return encodable is None or any(cls.__name__ in SEVERAL_TEXTS for cls in encodable)


def is_encodable(value: Any, encodable: frozenset[type[Any]] | None) -> bool:
    """Whether an opaque that admits these classes admits the value; None: all that are encoded."""
    if encodable is None:
        return isinstance(value, ENCODED) or base_of(value) is not None
    return isinstance(value, tuple(encodable))


# Values of classes of the standard library, by their names: whoever names them has imported them.
MADE: dict[str, Callable[[Any, int], Any]] = {
    "UUID": lambda cls, i: cls(int=i),
    "date": lambda cls, i: cls.fromordinal(1 + i),
    "datetime": lambda cls, i: cls.fromordinal(1 + i),
    "timedelta": lambda cls, i: cls(i),
}


@functools.cache
def classes_in(annotation: Any) -> tuple[type[Any], ...]:
    """The classes of which a value of this annotation is an instance; `object` where it is no class
    or union of classes that tells, such as a protocol or a type variable."""
    if isinstance(annotation, typing.NewType):
        return classes_in(annotation.__supertype__)
    origin = typing.get_origin(annotation)
    if origin in (typing.Union, python_types.UnionType):
        return tuple(each for arg in typing.get_args(annotation) for each in classes_in(arg))
    if origin is typing.Annotated:
        return classes_in(typing.get_args(annotation)[0])
    known = annotation if origin is None else origin
    if not isinstance(known, type) or known is Any or getattr(known, "_is_protocol", False):
        return (object,)
    return (known,)


def mixed(value: Any, number: type[Any]) -> Any:
    """The first number in an opaque value that has another type; None if there is none."""
    cls: type[Any] = value.__class__
    if is_number(cls):
        return None if cls is number else value
    held: Any = ()
    if cls in (tuple, frozenset):
        held = value
    elif dataclasses.is_dataclass(cls):
        held = [getattr(value, f.name) for f in dataclasses.fields(cls)]
    return next((found for each in held if (found := mixed(each, number)) is not None), None)


def values(annotations: Iterable[Any], most: int) -> tuple[Any, ...] | None:
    """Values of the Python types that an opaque is declared with: `most` of them, or all where the
    types have fewer. None where nobody can say what values a type has."""
    made: list[Any] = []
    for annotation in annotations:
        found = _values(annotation, most)
        if found is None:
            return None
        made += (value for value in found if value not in made)
    return tuple(made[:most]) or None


def _values(annotation: Any, most: int) -> list[Any] | None:
    """At most so many values of one annotation."""
    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    if annotation in (None, python_types.NoneType):
        return []  # It is what `T | None` has besides.
    if annotation is bool:
        return [False, True]
    if isinstance(annotation, type) and is_number(annotation):
        return [annotation(i) for i in range(most)]
    if annotation is str:
        return [str(i) for i in range(most)]
    if annotation is bytes:
        return [str(i).encode() for i in range(most)]
    if isinstance(annotation, typing.NewType):
        return _values(annotation.__supertype__, most)
    made = MADE.get(getattr(annotation, "__qualname__", ""))
    if made is not None and isinstance(annotation, type):
        return [made(annotation, i) for i in range(most)]
    if isinstance(annotation, enum.EnumMeta):
        return list(annotation)
    if origin is typing.Literal:
        return list(args)
    if origin in (typing.Union, python_types.UnionType):
        inner = _each(args, most)
        return None if inner is None else list(dict.fromkeys(itertools.chain(*inner)))
    if origin is tuple and ... not in args:
        inner = _each(args, most)
        return None if inner is None else list(itertools.islice(itertools.product(*inner), most))
    return None


def _each(annotations: Sequence[Any], most: int) -> list[list[Any]] | None:
    found = [_values(each, most) for each in annotations]
    return None if None in found else [values for values in found if values is not None]
