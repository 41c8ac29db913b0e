"""Which classes are records: heirs of `Record`, frozen dataclasses and NamedTuples.

A record is immutable, and equal to another of its class where all their fields are. Every engine
makes one by calling its class with the fields in their order.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from . import types as t
from .words import Record

# What a class may not define itself, with what to write instead.
EQUAL = "records are equal where all their fields are; compare the fields that count instead"
MADE = "give the fields as they are; what has to be true of them is a guard of the event"
OWN = {"__eq__": EQUAL, "__hash__": EQUAL, "__init__": MADE, "__new__": MADE, "__post_init__": MADE}
GENERATED = "<string>"  # The file of what the standard library writes for such a class.


def is_named_tuple(cls: type[Any]) -> bool:
    """Whether a class inherits from `NamedTuple`, which gives each field a type."""
    return cls.__bases__ == (tuple,) and "__orig_bases__" in vars(cls)


def is_record(cls: type[Any]) -> bool:
    """Whether the values of a class are records."""
    if issubclass(cls, Record):
        return cls is not Record
    params = vars(cls).get("__dataclass_params__")
    if params is None:
        return is_named_tuple(cls)
    return params.frozen and params.eq and not _of_python(cls)


def is_record_value(value: object) -> bool:
    """Whether a value is a record."""
    return is_record(value.__class__)


def fields_of(cls: type[Any]) -> tuple[dataclasses.Field[Any], ...]:
    """The fields of a record class, in their order; those of a NamedTuple have no type here."""
    if not is_named_tuple(cls):
        return dataclasses.fields(cls)
    made: list[dataclasses.Field[Any]] = []
    for name in cls._fields:
        default = cls._field_defaults.get(name, dataclasses.MISSING)
        made.append(dataclasses.field(default=default, kw_only=False))
        made[-1].name = name
    return tuple(made)


def field_names(cls: type[Any]) -> tuple[str, ...]:
    """The names of the fields of a record class, in their order."""
    return tuple(field.name for field in fields_of(cls))


def unlike_records(cls: type[Any]) -> tuple[str, str] | None:
    """What a record class defines that records do not have, and what to write instead."""
    for name, rewrite in OWN.items():
        if _written(cls, name):
            return f"{cls.__name__}.{name}", rewrite
    kinds = (getattr(each, "_field_type", None) for each in vars(cls).get(FIELDS, {}).values())
    if any(getattr(kind, "name", None) == "_FIELD_INITVAR" for kind in kinds):
        return f"{cls.__name__} with an InitVar", "give the fields as they are, without InitVar"
    given = tuple(field.name for field in fields_of(cls) if not field.kw_only)
    if getattr(cls, "__match_args__", None) != given:
        return f"{cls.__name__}.__match_args__", "leave it out: patterns take the fields in order"
    return None


FIELDS = "__dataclass_fields__"


def copies_by(cls: type[Any], name: str) -> bool:
    """Whether the method of that name is the one by which values of the class are copied."""
    if is_named_tuple(cls):
        return name == "_replace"
    return getattr(cls, name, None) is Record.replace


def copy_with(cls: type[Any], whole: str, change: str) -> str:
    """How a declaration writes a copy of a record with a field changed."""
    if issubclass(cls, Record):
        return f"{whole}.replace({change})"
    if is_named_tuple(cls):
        return f"{whole}._replace({change})"
    return f"dataclasses.replace({whole}, {change})"


def told_apart(kind: t.Type, records: Mapping[str, type[Any]]) -> bool:
    """Whether values show which alternative of the type they are: a NamedTuple is equal to any
    tuple of the same items."""
    options = [option.name for option in t.options(kind) if isinstance(option, t.Record)]
    return t.proper_union(kind) and sum(is_named_tuple(records[name]) for name in options) < 2


def instead_of(cls: type[Any]) -> str | None:
    """What to write instead of a dataclass or a class of tuples that is no record."""
    name = cls.__name__
    if not dataclasses.is_dataclass(cls):
        as_records = f"give each field a type: class {name}(NamedTuple), or class {name}(Record)"
        return as_records if issubclass(cls, tuple) and cls is not tuple else None
    if "__dataclass_params__" not in vars(cls):
        return f"write @dataclass(frozen=True) above class {name}, too"
    if _of_python(cls):
        return f"let {name} inherit from no class of Python's own"
    return f"make it a record: @dataclass(frozen=True) above class {name}"


def _of_python(cls: type[Any]) -> bool:
    return any(base is not object and base.__module__ == "builtins" for base in cls.__mro__)


def _written(cls: type[Any], name: str) -> bool:
    """Whether a class or an ancestor of it has a method of that name that somebody wrote."""
    for base in cls.__mro__[:-1]:
        code = getattr(vars(base).get(name), "__code__", None)
        if code is not None and code.co_filename != GENERATED:
            return True
    return False
