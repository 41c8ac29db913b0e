"""Python annotations -> types; on the way, the classes behind the names are collected."""

from __future__ import annotations

import collections
import collections.abc
import dataclasses
import enum
import inspect
import re
import sys
import types as python_types
import typing
from collections.abc import Iterable, Iterator
from typing import Annotated, Any

from .. import types as t
from ..errors import Place, Problems, a, nearest
from ..records import (
    fields_of,
    instead_of,
    is_record,
    told_apart,
    unlike_records,
)
from ..syntax.declare import Declaration, Names
from ..syntax.hints import hints_of
from ..values.literal_texts import literal_class
from ..values.opaques import encoded_in, has_text, numbers_in
from ..values.world import World
from ..words import Clock, Mark, Opaque, OrderedSort, Record, Serial, Sort, Timer

FORMS = "bool, int, Nat, an Enum, Sort or Record, set, dict, list, tuple, Counter, Timer, a Machine"
SORT = 'class Node(Sort), or Annotated[str, Opaque("Text")]'
TEXT = f"text is only made and returned: for names {SORT}; for states an Enum"
FIELDS = f"for keys that you write out a Record: class Stats(Record): hits: int; for names {SORT}"
# What is often written and is no type of the language, with what to write instead.
INSTEAD: dict[object, str] = {
    bytes: 'Annotated[bytes, Opaque("Payload")]',
    object: "name the type: a Record, a union of Records",
    Any: "name the type: a Record, a union of Records",
    list: "say of what: list[int]",
    set: "say of what: set[int]",
    frozenset: "say of what: frozenset[int]",
    dict: "say from what to what: dict[int, bool]",
    tuple: "say of what: tuple[int, ...] or tuple[int, bool]",
    collections.Counter: "say of what: Counter[int]",
    collections.deque: "use list[T], with append and pop(0)",
    collections.defaultdict: "say from what to what, and write dict[K, V] = total(...)",
    typing.Literal: "make an Enum of it: class Way(Enum): UP = 1; of integers an Interval",
    complex: "use integers",
    Sort: "make a class of it: class Node(Sort)",
    Record: "make a class of it: class Message(Record), with fields",
    enum.Enum: "make a class of it: class Mode(Enum)",
    Declaration: "name the machine",
}


def _with_every_key(key: Any, value: Any) -> str:
    """The total map to write instead of `defaultdict[key, value]`."""
    empty = {set: "set()", list: "[]", dict: "{}", int: "0", bool: "False"}
    kind = typing.get_origin(value) or value
    shown = [re.sub(r"[\w.]*\.", "", inspect.formatannotation(each)) for each in (key, value)]
    default = empty.get(kind, "...")
    return f"write dict[{shown[0]}, {shown[1]}] = total({default}): every key has a value"


class TypeReader:
    """Reads annotations; `world` and `parts` collect the classes it met."""

    def __init__(self, problems: Problems) -> None:
        self.problems = problems
        self.enums: dict[str, type[enum.Enum]] = {}
        self.records: dict[str, type[Any]] = {}
        self.sorts: dict[str, type[Any]] = {}
        self.opaques: dict[str, type[Any]] = {}
        self.opaque_annotations: dict[str, tuple[Any, ...]] = {}
        self.encodable: dict[str, frozenset[type[Any]]] = {}
        self.parts: dict[str, type[Declaration]] = {}
        self.used: dict[t.Type, None] = {}
        self.proper: set[t.Type] = set()  # Types that were judged, and nothing is wrong with them.
        self.reading: list[type[Any]] = []

    def world(self) -> World:
        """The classes met so far."""
        return World(
            dict(self.enums),
            dict(self.records),
            dict(self.sorts),
            dict(self.opaques),
            dict(self.opaque_annotations),
            dict(self.encodable),
        )

    def take(self, other: World) -> None:
        """Add the classes that another reader met."""
        self.enums.update(other.enums)
        self.records.update(other.records)
        self.sorts.update(other.sorts)
        self._take_opaques(other)

    def join(self, other: World, place: Place) -> None:
        """Add the classes of another machine; a problem if a name then has two classes."""
        for table, more in (
            (self.enums, other.enums),
            (self.records, other.records),
            (self.sorts, other.sorts),
        ):
            for cls in more.values():
                self._register(table, cls, place)
        self._take_opaques(other)

    def _take_opaques(self, other: World) -> None:
        self.opaques.update(other.opaques)
        for name, more in other.opaque_annotations.items():
            self._hold(name, more)
        for name, types in other.encodable.items():
            self.encodable[name] = self.encodable.get(name, frozenset()) | types

    def _hold(self, name: str, more: Iterable[Any]) -> None:
        """Note annotations of an opaque type."""
        known = self.opaque_annotations.get(name, ())
        self.opaque_annotations[name] = (*known, *(each for each in more if each not in known))

    def read_field(self, annotation: object, place: Place, names: Names) -> t.Type:
        """The type of a field, which alone may be a `Param` or a `Ghost`."""
        if typing.get_origin(annotation) is Annotated:
            of, *marks = typing.get_args(annotation)
            rest = [mark for mark in marks if not (isinstance(mark, Mark) and mark.word != "nat")]
            annotation = Annotated[(of, *rest)] if rest else of
        return self.read(annotation, place, names)

    def read(self, annotation: object, place: Place, names: Names) -> t.Type:
        """The type of an annotation; for any other expression a problem is noted and the type is
        `Unknown`."""
        if isinstance(annotation, typing.ForwardRef):
            annotation = annotation.__forward_arg__
        if isinstance(annotation, str):
            return self._text(annotation, place, names)
        before = len(self.problems.found)
        if isinstance(annotation, type) and not typing.get_args(annotation):
            found = self._class(annotation, place)
        else:
            found = self._form(annotation, place, names)
        if len(self.problems.found) > before:
            return t.Unknown()
        if found is None:
            self.refuse(place, _spelled(annotation), FORMS, self._instead(annotation))
            return t.Unknown()
        if found not in self.proper:
            self._judge(found, place)
            if len(self.problems.found) == before:
                self.proper.add(found)
            elif t.contains(found, t.Part) or t.contains(found, t.Text):
                return t.Unknown()  # So its owner does not refuse it once more.
        self.used[found] = None
        return found

    def refuse(self, place: Place, found: str, expected: str, rewrite: str) -> None:
        """Note that this is no type of the language."""
        self.problems.add("L202", place, found, expected, rewrite)

    def later(self, place: Place, found: str, rewrite: str) -> None:
        """Note that this type is not supported yet."""
        self.problems.add("L190", place, found, "what this version supports", rewrite)

    def _text(self, annotation: str, place: Place, names: Names) -> t.Type:
        try:
            value = names.evaluate(annotation)
        except NameError as error:
            name = getattr(error, "name", None) or str(error)
            self.problems.add(
                "L201",
                place,
                f"{name}, in {annotation}" if name != annotation else name,
                "the name of a type",
                nearest(name, _types_in(names), "import it, or define it at the top of the module"),
            )
        except Exception as error:  # Whatever Python says of the text.
            self.refuse(place, f"{annotation}: {error}", FORMS, "correct the annotation")
        else:
            return self.read(value, place, names)
        return t.Unknown()

    @staticmethod
    def _instead(annotation: object) -> str:
        try:
            found = INSTEAD.get(annotation)
        except TypeError:
            found = None
        if isinstance(annotation, typing.TypeVar):
            found = "say of what: Param[int] or Ghost[int]"
        if found is None and isinstance(annotation, type) and issubclass(annotation, enum.Flag):
            found = "use a frozenset of an Enum"
        if found is None and isinstance(annotation, type):
            found = instead_of(annotation)
        if found is None and typing.get_origin(annotation) is collections.defaultdict:
            found = _with_every_key(*typing.get_args(annotation))
        if found is None and dataclasses.is_dataclass(typing.get_origin(annotation)):
            found = "write a class without type parameters for each type: class IntBox"
        if found is None and typing.get_origin(annotation) is not None:
            found = INSTEAD.get(typing.get_origin(annotation))
        return found or "use one of the types in the table of the language page"

    def _judge(self, found: t.Type, place: Place) -> None:
        """Judge which types may be inside which, and which alternatives values can tell apart."""
        if t.contains(found, t.Part):
            self._judge_machines(found, place)
            return
        match found:
            case t.Set(item=item) | t.Bag(item=item) | t.Map(key=item) if not t.immutable(item):
                self._frozen_inside(item, found, place)
            case t.Set(item=item) | t.Bag(item=item) | t.Map(key=item) if t.contains(item, t.Text):
                instead = FIELDS if isinstance(found, t.Map) else TEXT
                self.refuse(place, str(found), "elements and keys without text", instead)
            case t.Union() if not told_apart(found, self.records) or not t.immutable(found):
                self.refuse(
                    place,
                    str(found),
                    "a union of Records, or one immutable type and None",
                    _unmixed(found),
                )
            case t.Map(key=key, total=True) if not t.finite(key):
                self.refuse(
                    place,
                    str(found),
                    "a finite type of its keys: a Mapping has a value for each",
                    "Annotated[int, Interval(ge=0, le=7)], an enum or a sort;"
                    " or the pairs: frozenset[tuple[K, V]]",
                )
            case _:
                pass
        inside = t.element(found) if not isinstance(found, t.Map) else found.value
        if t.contains(found, t.Clock) and not isinstance(found, t.Clock):
            self.refuse(
                place, str(found), "a Clock as a field of its own", "declare clock: Clock = Clock()"
            )
        family = isinstance(found, t.Map) and found.mutable and isinstance(inside, t.Timer)
        if t.contains(found, t.Timer) and not isinstance(found, t.Timer) and not family:
            self.refuse(place, str(found), "a Timer, or dict[K, Timer]", "use dict[K, Timer]")

    def _frozen_inside(self, item: t.Type, found: t.Type, place: Place) -> None:
        self.refuse(
            place,
            f"{item} inside {found}",
            "immutable elements and keys",
            "use frozenset, tuple or a Record for what is inside",
        )

    def _judge_machines(self, found: t.Type, place: Place) -> None:
        """Machines stand alone or in a dict: each has one place, by which transitions name it."""
        match found:
            case t.Part():
                return
            case t.Map(value=t.Part(), mutable=True, key=key) if not t.contains(key, t.Part):
                if not t.immutable(key):
                    self._frozen_inside(key, found, place)
                return
            case t.Seq(item=t.Part() as part):
                rewrite = f"use dict[int, {part}] with the position as key"
            case t.Map(key=outer, value=t.Map(key=key, value=t.Part() as part)):
                rewrite = f"use one dict with pairs as keys: dict[tuple[{outer}, {key}], {part}]"
            case t.Union(options=options):
                one = next(o for o in options if t.contains(o, t.Part))
                rewrite = f"use dict[K, {one}]: there is no machine where there is no key"
            case _:
                rewrite = "use dict[K, Peer], and keep keys wherever a machine is meant"
        self.refuse(place, str(found), "a single machine, or a dict[K, Peer]", rewrite)

    def _class(self, cls: type[Any], place: Place) -> t.Type | None:
        plain: dict[type, t.Type] = {
            bool: t.BOOL,
            int: t.INT,
            float: t.FLOAT,
            str: t.TEXT,
            type(None): t.NOTHING,
            Timer: t.Timer(),
            Clock: t.Clock(),
        }
        if cls in plain:
            return plain[cls]
        if issubclass(cls, enum.Enum):
            if issubclass(cls, enum.Flag) or not cls.__members__:
                return None
            self._register(self.enums, cls, place)
            return t.Enum(cls.__name__, tuple(member.name for member in cls))
        if issubclass(cls, Sort) and cls not in (Sort, OrderedSort):
            self._register(self.sorts, cls, place)
            return t.Sort(cls.__name__, issubclass(cls, OrderedSort), cls.__growing__)
        if is_record(cls):
            return self._record(cls, place)
        if has_text(cls):
            return self._annotated(cls, (Opaque(cls.__name__),), place, NO_NAMES)
        if issubclass(cls, Declaration) and "__declared__" in vars(cls):
            self._register(self.parts, cls, place)
            return t.Part(cls.__name__)
        return None

    def _register(self, table: dict[str, type[Any]], cls: type[Any], place: Place) -> None:
        other = table.setdefault(cls.__name__, cls)
        if other is not cls:
            self.refuse(
                place,
                f"two classes named {cls.__name__}",
                "one name for one class",
                "rename one of them: values are written with the class's name",
            )

    def _record(self, cls: type[Any], place: Place) -> t.Type:
        self._register(self.records, cls, place)
        if cls in self.reading:
            self.refuse(
                place,
                f"{cls.__name__} inside itself",
                "records that end",
                "refer to the other record by a number or a Sort",
            )
            return t.Unknown()
        if wrong := unlike_records(cls):
            self.refuse(place, wrong[0], "a class that has fields alone", wrong[1])
        fields: list[tuple[str, t.Type]] = []
        self.reading.append(cls)
        for f in fields_of(cls):
            # Those of ancestors come first; each is read where it stands.
            owner = next(base for base in cls.__mro__ if f.name in hints_of(base))
            names = Names(vars(sys.modules[owner.__module__]), _around(owner))
            fields.append(
                (f.name, self._record_field(cls, f, hints_of(owner)[f.name], place, names))
            )
        self.reading.pop()
        return t.Record(cls.__name__, tuple(fields))

    def _record_field(
        self, cls: type[Any], f: dataclasses.Field[Any], hint: Any, place: Place, names: Names
    ) -> t.Type:
        kind = self.read(hint, place, names)
        where = f"{cls.__name__}.{f.name}: {kind}"
        if not f.init or f.kw_only or not f.compare:
            self.refuse(
                place,
                f"{cls.__name__}.{f.name} with init, kw_only or compare",
                "a plain field, given by its place or its name",
                "leave out init, kw_only and compare",
            )
        if not t.immutable(kind):
            self.refuse(place, where, "an immutable type", "use frozenset, tuple or Mapping")
        elif t.contains(kind, t.Float):
            self.refuse(place, where, "no float", "count in integers: milliseconds, cents")
        return kind

    def _form(self, annotation: Any, place: Place, names: Names) -> t.Type | None:
        if annotation is None:
            return t.NOTHING
        if hasattr(annotation, "__value__"):  # A `type` statement of Python 3.12.
            return self.read(annotation.__value__, place, names)
        if isinstance(annotation, typing.NewType):
            return self._new_type(annotation, place, names)
        origin, args = typing.get_origin(annotation), typing.get_args(annotation)
        if origin is Annotated:
            return self._annotated(args[0], args[1:], place, names)
        if origin is typing.Literal:
            return _interval(args) or self._texts(args, place)
        if origin in (typing.Union, python_types.UnionType):
            return t.union(tuple(self.read(arg, place, names) for arg in args))
        if origin is tuple:
            if len(args) == 2 and args[1] is ...:
                return t.Seq(self.read(args[0], place, names), mutable=False)
            return t.Tuple(tuple(self.read(arg, place, names) for arg in args))
        if origin in CONTAINERS and len(args) == CONTAINERS[origin]:
            inner = [self.read(arg, place, names) for arg in args]
            return _container(origin, inner)
        return None

    def _texts(self, values: tuple[Any, ...], place: Place) -> t.Type | None:
        """The texts of a `Literal`; None where it has others, or a text that can be no member."""
        if set(map(type, values)) != {str}:
            return None
        texts = tuple(sorted(set(values)))
        try:
            cls = literal_class(texts)
        except ValueError:
            return None
        self._register(self.enums, cls, place)
        return t.Literal(cls.__name__, texts)

    def _new_type(self, annotation: Any, place: Place, names: Names) -> t.Type:
        """Integers with a key of their own in the scope; of other types opaque values."""
        of, name = annotation.__supertype__, annotation.__name__
        if of in (str, bytes) or has_text(of):
            return self._annotated(of, (Opaque(name),), place, names) or t.Unknown()
        found = self.read(of, place, names)
        if isinstance(found, t.Int) and not isinstance(found, t.Serial):
            return dataclasses.replace(found, name=name)
        return found

    def _annotated(
        self, of: Any, marks: tuple[Any, ...], place: Place, names: Names
    ) -> t.Type | None:
        opaque = [mark for mark in marks if isinstance(mark, Opaque)]
        if opaque:
            name = opaque[0].name
            self._hold(name, (of,))
            self.encodable[name] = self.encodable.get(name, frozenset()) | encoded_in(of)
            return self._opaque(name, numbers_in(of), place)
        found = self.read(of, place, names)
        for mark in marks:
            found = self._marked(found, mark, place)
        return found

    def _opaque(self, name: str, numbers: tuple[type[Any], ...], place: Place) -> t.Type:
        other = [n for n in numbers if self.opaques.setdefault(name, n) is not n]
        if other:
            both = f"{self.opaques[name].__name__} and of {other[0].__name__}"
            self.refuse(
                place,
                f"an Opaque({name!r}) of {both}",
                "numbers of one type",
                "Python takes True, 1 and 1.0 for one value: use one type",
            )
        return t.Opaque(name)

    def _marked(self, found: t.Type, mark: Any, place: Place) -> t.Type:
        """The type narrowed by one mark of an `Annotated`."""
        match found, mark:
            case t.Serial(), _ if isinstance(mark, Serial) or _is(mark, *BOUND) or _is_nat(mark):
                self.refuse(
                    place,
                    f"{mark} on a serial number",
                    "a serial number alone",
                    "serial numbers go round through all their values: leave the bounds out",
                )
            case t.Int(high=None), Serial(bits=bits):
                if type(bits) is int and t.LEAST_BITS <= bits <= t.MOST_BITS:
                    return t.serial(bits)
                self.refuse(
                    place,
                    f"Serial(bits={bits!r})",
                    f"{t.LEAST_BITS} to {t.MOST_BITS} bits",
                    "Serial(bits=16)",
                )
            case t.Int(), Mark(word="nat"):
                low = 0 if found.low is None else max(0, found.low)
                return dataclasses.replace(found, low=low, name="Nat")
            case t.Int(), _ if _is(mark, *BOUND) and _whole(mark):
                return _bounded(found, mark)
            case ((t.Seq() | t.Bag()), _) if _is(mark, "MaxLen"):
                return dataclasses.replace(found, most=mark.max_length)
            case _, Serial():
                self.refuse(
                    place,
                    f"{mark} on {a(found)}",
                    "a plain int",
                    "Annotated[int, Serial(bits=16)]",
                )
            case _, Mark(word=word):
                self.refuse(
                    place,
                    f"{word.capitalize()}[...] inside another type",
                    f"{word.capitalize()}[...] round the whole type",
                    f"write {word.capitalize()}[...] outermost, in the annotation of a field",
                )
            case _, _ if _is(mark, "BaseMetadata", "GroupedMetadata"):
                self.refuse(
                    place,
                    f"{mark} on {a(found)}",
                    "Interval, Ge, Gt, Le, Lt on an int; MaxLen on a list or Counter",
                    "say it as an @invariant",
                )
            case _:
                pass  # Other libraries' marks mean nothing here.
        return found


NO_NAMES = Names({}, {})


def _interval(values: tuple[Any, ...]) -> t.Type | None:
    """The integers of a `Literal`, if they follow one another, or its bools."""
    if set(map(type, values)) == {bool} and len(values) > 1:
        return t.BOOL
    if set(map(type, values)) != {int} or max(values) - min(values) >= len(set(values)):
        return None
    return t.Int(min(values), max(values))


BOUND = ("Interval", "Ge", "Gt", "Le", "Lt")
CONTAINERS: dict[Any, int] = {
    set: 1,
    frozenset: 1,
    list: 1,
    collections.Counter: 1,
    dict: 2,
    collections.abc.Mapping: 2,
    collections.abc.Sequence: 1,
    collections.abc.Set: 1,
}


def _container(origin: Any, inner: list[t.Type]) -> t.Type:
    if origin in (set, frozenset, collections.abc.Set):
        return t.Set(inner[0], origin is set)
    if origin in (list, collections.abc.Sequence):
        return t.Seq(inner[0], mutable=origin is list)
    if origin is collections.Counter:
        return t.Bag(inner[0])
    return t.Map(inner[0], inner[1], origin is dict, total=origin is not dict)


def _bounds(mark: Any) -> tuple[Any, ...]:
    return tuple(getattr(mark, name, None) for name in ("ge", "gt", "le", "lt"))


def _types_in(names: Names) -> Iterator[str]:
    for table in (names.globals, names.locals):
        yield from (n for n, value in table.items() if isinstance(value, type) and n[0] != "_")


def _whole(mark: Any) -> bool:
    return all(bound is None or type(bound) is int for bound in _bounds(mark))


def _bounded(type: t.Int, mark: Any) -> t.Int:
    """An integer type narrowed by Ge, Gt, Le, Lt or Interval of annotated-types."""
    low, high = type.low, type.high
    ge, gt, le, lt = _bounds(mark)
    for bound in (ge, None if gt is None else gt + 1):
        low = bound if low is None or (bound is not None and bound > low) else low
    for bound in (le, None if lt is None else lt - 1):
        high = bound if high is None or (bound is not None and bound < high) else high
    return t.Int(low, high, type.name)


def _around(cls: type) -> dict[str, Any]:
    """The class itself by name, so that a record made in a function can be written as text."""
    return {cls.__name__: cls}


def _is(mark: Any, *names: str) -> bool:
    """Whether it is one of these marks of annotated-types: who wrote it has imported that library,
    and nobody else needs it."""
    library = sys.modules.get("annotated_types")
    return library is not None and isinstance(mark, tuple(getattr(library, n) for n in names))


def _is_nat(mark: Any) -> bool:
    return isinstance(mark, Mark) and mark.word == "nat"


def _spelled(annotation: object) -> str:
    if isinstance(annotation, typing.TypeVar):
        return "a Param or a Ghost of no type"
    return getattr(annotation, "__qualname__", None) or str(annotation)


def marked(annotation: object, word: str) -> bool:
    """Whether the annotation is `Annotated` with that mark of ours outermost."""
    marks = getattr(annotation, "__metadata__", ())
    return any(isinstance(mark, Mark) and mark.word == word for mark in marks)


def _unmixed(kind: t.Type) -> str:
    """What to write instead of a union that values cannot tell apart or that can be changed."""
    rest = [o for o in t.options(kind) if not isinstance(o, t.Nothing)]
    match rest:
        case [t.Record(), t.Record(), *_] if all(isinstance(o, t.Record) for o in rest):
            return "make one of them a frozen dataclass: a NamedTuple is equal to a tuple"
        case [t.Seq(item=item)]:
            return f"make it immutable: tuple[{item}, ...] | None, and tuple(...) of what is given"
        case [t.Set(item=item)]:
            return (
                f"make it immutable: frozenset[{item}] | None, and frozenset(...) of what is given"
            )
        case _:
            return "wrap each alternative in a Record of its own"
