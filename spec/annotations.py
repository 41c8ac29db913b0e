"""Python annotations -> types; on the way, the classes behind the names are collected."""

from __future__ import annotations

import collections
import collections.abc
import dataclasses
import enum
import sys
import types as python_types
import typing
from typing import Annotated, Any

import annotated_types

from . import types as t
from .declare import Declaration, Names
from .errors import Place, Problems
from .values import World
from .words import Mark, Opaque, Record, Serial, Sort, OrderedSort, Timer

FORMS = "bool, int, Nat, an Enum, Sort or Record, set, dict, list, tuple, Counter, Timer, a Machine"


class TypeReader:
    """Reads annotations; `world` and `parts` collect the classes it met."""

    def __init__(self, problems: Problems) -> None:
        self.problems = problems
        self.enums: dict[str, type[enum.Enum]] = {}
        self.records: dict[str, type[Any]] = {}
        self.sorts: dict[str, type[Any]] = {}
        self.parts: dict[str, type[Declaration]] = {}
        self.used: dict[t.Type, None] = {}

    def world(self) -> World:
        """The classes met so far."""
        return World(dict(self.enums), dict(self.records), dict(self.sorts))

    def take(self, other: World) -> None:
        """Add the classes that another reader met."""
        self.enums.update(other.enums)
        self.records.update(other.records)
        self.sorts.update(other.sorts)

    def read(self, annotation: object, place: Place, names: Names) -> t.Type:
        """The type; a problem is noted and `Unknown` given for what is none."""
        if isinstance(annotation, typing.ForwardRef):
            annotation = annotation.__forward_arg__
        if isinstance(annotation, str):
            try:
                annotation = names.evaluate(annotation)
            except NameError as error:
                self.problems.add("L201", place, str(error), "a known name", "import or define it")
                return t.Unknown()
            return self.read(annotation, place, names)
        if isinstance(annotation, type):
            found = self._class(annotation, place)
        else:
            found = self._form(annotation, place, names)
        if found is None:
            self.problems.add(
                "L202", place, _spelled(annotation), FORMS, "see the table of types on the page"
            )
            return t.Unknown()
        self.used[found] = None
        return found

    def _class(self, cls: type, place: Place) -> t.Type | None:
        plain: dict[type, t.Type] = {
            bool: t.BOOL, int: t.INT, float: t.FLOAT, type(None): t.NOTHING, Timer: t.Timer(),
        }  # fmt: skip
        if cls in plain:
            return plain[cls]
        if issubclass(cls, enum.Enum):
            self._register(self.enums, cls, place)
            return t.Enum(cls.__name__, tuple(cls.__members__))
        if issubclass(cls, Sort) and cls is not Sort:
            self._register(self.sorts, cls, place)
            return t.Sort(cls.__name__, issubclass(cls, OrderedSort))
        if issubclass(cls, Record) and cls is not Record:
            return self._record(cls, place)
        if issubclass(cls, Declaration):
            self._register(self.parts, cls, place)
            return t.Part(cls.__name__)
        return None

    def _register(self, table: dict[str, type[Any]], cls: type[Any], place: Place) -> None:
        other = table.setdefault(cls.__name__, cls)
        if other is not cls:
            self.problems.add(
                "L202", place, f"two classes named {cls.__name__}", "one name for one class",
                "rename one of them: values are written with the class's name",
            )  # fmt: skip

    def _record(self, cls: type[Any], place: Place) -> t.Type:
        self._register(self.records, cls, place)
        names = Names(vars(sys.modules[cls.__module__]), _around(cls))
        fields: list[tuple[str, t.Type]] = []
        for f in dataclasses.fields(cls):
            kind = self.read(f.type, place, names)
            if not t.immutable(kind):
                self.problems.add(
                    "L202", place, f"{cls.__name__}.{f.name}: {kind}", "an immutable type",
                    "use frozenset, tuple or Mapping in a record",
                )  # fmt: skip
            fields.append((f.name, kind))
        return t.Record(cls.__name__, tuple(fields))

    def _form(self, annotation: Any, place: Place, names: Names) -> t.Type | None:
        if annotation is None:
            return t.NOTHING
        if hasattr(annotation, "__value__"):  # A `type` statement of Python 3.12.
            return self.read(annotation.__value__, place, names)
        origin, args = typing.get_origin(annotation), typing.get_args(annotation)
        if origin is Annotated:
            return self._annotated(args[0], args[1:], place, names)
        if origin in (typing.Union, python_types.UnionType):
            return t.union(tuple(self.read(arg, place, names) for arg in args))
        if origin is tuple:
            if len(args) == 2 and args[1] is ...:
                return t.Seq(self.read(args[0], place, names), mutable=False)
            return t.Tuple(tuple(self.read(arg, place, names) for arg in args))
        inner = [self.read(arg, place, names) for arg in args]
        if origin in (set, frozenset):
            return t.Set(inner[0], origin is set)
        if origin is list:
            return t.Seq(inner[0], mutable=True)
        if origin is collections.Counter:
            return t.Bag(inner[0])
        if origin in (dict, collections.abc.Mapping):
            return t.Map(inner[0], inner[1], origin is dict, total=origin is not dict)
        return None

    def _annotated(
        self, of: Any, marks: tuple[Any, ...], place: Place, names: Names
    ) -> t.Type | None:
        opaque = [mark for mark in marks if isinstance(mark, Opaque)]
        if opaque:
            return t.Opaque(opaque[0].name)
        found = self.read(of, place, names)
        for mark in marks:
            match found, mark:
                case t.Int(), Mark(word="nat"):
                    found = t.NAT
                case t.Int(), annotated_types.BaseMetadata() | annotated_types.GroupedMetadata():
                    found = _bounded(found, mark)
                case t.Seq(), annotated_types.MaxLen(max_length=most):
                    found = dataclasses.replace(found, most=most)
                case _, Mark(word="param" | "ghost"):
                    pass
                case _, Serial():
                    return None
                case _:
                    pass  # Other libraries' marks mean nothing here.
        return found


def _bounded(type: t.Int, mark: Any) -> t.Int:
    """An integer type narrowed by Ge, Gt, Le, Lt or Interval of annotated-types."""
    low, high = type.low, type.high
    ge, gt = getattr(mark, "ge", None), getattr(mark, "gt", None)
    le, lt = getattr(mark, "le", None), getattr(mark, "lt", None)
    for bound in (ge, None if gt is None else gt + 1):
        low = bound if low is None or bound is not None and bound > low else low
    for bound in (le, None if lt is None else lt - 1):
        high = bound if high is None or bound is not None and bound < high else high
    return t.Int(low, high, type.name)


def _around(cls: type) -> dict[str, Any]:
    """The class itself by name, so that a record made in a function can be written as text."""
    return {cls.__name__: cls}


def _spelled(annotation: object) -> str:
    return getattr(annotation, "__qualname__", None) or str(annotation)


def marked(annotation: object, word: str) -> bool:
    """Whether the annotation is `Annotated` with that mark of ours outermost."""
    marks = getattr(annotation, "__metadata__", ())
    return any(isinstance(mark, Mark) and mark.word == word for mark in marks)
