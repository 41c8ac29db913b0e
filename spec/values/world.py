"""Values: the classes behind a machine's types, and the JSON form they have everywhere.

Engines work on Python's own values. Where a machine came with its classes, those are used; where
only its IR came (another process, another machine), `World.made_of` makes classes of the same
names. The JSON form is that of the command line's page, section "Values".
"""

from __future__ import annotations

import dataclasses
import enum
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import itemgetter
from typing import Any, NoReturn, TypeVar

from .. import types as t
from ..ir import Json
from ..quick_dataclass import dataclass, field
from ..words import Sort
from .literal_texts import literal_class
from .opaques import text_class

K = TypeVar("K")
V = TypeVar("V")
EXACT = 2**53  # Integers beyond it are not exact in every JSON reader.
# The keys that tell the other objects from maps: no map is written as an object with one of them.
TAGS = frozenset({"$", "$int", "$opaque", "$tuple", "$set", "$map", "$changed"})


class FrozenMap(dict[K, V]):
    """A dict that is a value: hashable, and never changed after it is made."""

    __slots__ = ("_hash",)
    _hash: int

    def __hash__(self) -> int:  # type: ignore[override]  # dict says None; this one is a value
        try:
            return self._hash
        except AttributeError:
            self._hash = hash(frozenset(self.items()))
            return self._hash

    def _refuse(self, *_args: Any, **_more: Any) -> NoReturn:
        raise TypeError("a FrozenMap is never changed")

    __setitem__ = __delitem__ = _refuse
    clear = pop = popitem = _refuse

    def update(self, *_args: Any, **_more: Any) -> NoReturn:
        """Refused."""
        self._refuse()

    def setdefault(self, *_args: Any, **_more: Any) -> NoReturn:
        """Refused."""
        self._refuse()

    def __reduce__(self) -> tuple[type, tuple[dict[K, V]]]:
        return type(self), (dict(self),)


class FrozenBag(FrozenMap[K, int]):
    """An immutable bag; the count of an absent element is 0."""

    __slots__ = ()

    def __missing__(self, _key: K) -> int:
        return 0

    def total(self) -> int:
        """How many elements there are, repeats counted."""
        return sum(self.values())


@functools.total_ordering
@dataclass(frozen=True, slots=True)
class Token:
    """An opaque value where the real one is absent: explored, proved or read from a journal."""

    opaque: str
    id: int | str

    def __repr__(self) -> str:
        return f"{self.opaque}({self.id})"

    def __lt__(self, other: Token) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        mine: tuple[str, Any] = self.opaque, self.id
        return mine < (other.opaque, other.id)


class TextToken(Token):
    """An opaque value whose text stands for it in JSON (see `opaque_texts`)."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class World:
    """The Python classes of a machine's enums, records and sorts, by their names.

    `opaques`: the type of the numbers among opaque values, where it is another than int.
    `opaque_annotations`: the annotations by which opaque values are declared; nothing where the
    declaration's classes are not at hand. `encodable`: the types with an encoding that an opaque's
    annotations admit, which a frozen declaration keeps; where it is absent, all of them.
    """

    enums: Mapping[str, type[enum.Enum]]
    records: Mapping[str, type[Any]]
    sorts: Mapping[str, type[Any]]
    opaques: Mapping[str, type[Any]] = field(default_factory=dict[str, type[Any]])
    opaque_annotations: Mapping[str, tuple[Any, ...]] = field(
        default_factory=dict[str, tuple[Any, ...]]
    )
    encodable: Mapping[str, frozenset[type[Any]]] = field(
        default_factory=dict[str, frozenset[type[Any]]]
    )

    def elements(self, texts: Iterable[tuple[str, Iterable[str]]]) -> dict[str, tuple[Any, ...]]:
        """The elements of sorts with these texts, by the name of the sort."""
        return {sort: tuple(map(self.sorts[sort], each)) for sort, each in texts}

    @staticmethod
    def made_of(types: Iterable[t.Type]) -> World:
        """Classes made from the types alone; they behave as the declaration's do."""
        make: Any = enum.Enum  # Type checkers want the name of an enum written out.
        enums: dict[str, type[enum.Enum]] = {}
        records: dict[str, type[Any]] = {}
        sorts: dict[str, type[Any]] = {}
        for type_ in types:
            match type_:
                case t.Literal(name=name, members=members):
                    enums[name] = literal_class(members)
                case t.Enum(name=name, members=members):
                    enums[name] = make(name, {m: m for m in members})
                case t.Record(name=name, fields=fields):
                    records[name] = dataclasses.make_dataclass(
                        name, [field for field, _ in fields], frozen=True
                    )
                case t.Sort(name=name):
                    sorts[name] = _class(Sort, name)
                case _:
                    pass
        return World(enums, records, sorts)


def _class(base: type[Any], name: str) -> type[Any]:
    """A class made from a name alone, by its base's own metaclass."""
    meta: Any = type(base)
    made: type[Any] = meta(name, (base,), {"__slots__": ()})
    return made


def rank(encoded: Json) -> tuple[int, Any]:
    """A sort key over JSON forms: the same order in every process."""
    match encoded:
        case None:
            return 0, 0
        case bool():
            return 1, encoded
        case int() | float():
            return 2, encoded
        case str():
            return 3, encoded
        case _:
            import json  # An instance does not need it to begin with.

            return 4, json.dumps(encoded, sort_keys=True)


def encode(value: Any, type: t.Type) -> Json:
    """The JSON form of a value of this type.

    Parts are objects, timers whether they are armed; those that count ticks until they are due
    are that number, null while disarmed.
    """
    return encoder(type)(value)


Encoder = Callable[[Any], Json]
# By the identity of a type, which is kept with it: to hash a type takes longer than to encode.
_ENCODERS: dict[int, tuple[t.Type, Encoder]] = {}
MOST_ENCODERS = 4096


def encoder(type: t.Type) -> Encoder:
    """The function that makes the JSON forms of values of this type; see `encode`."""
    known = _ENCODERS.get(id(type))
    if known is None:
        if len(_ENCODERS) >= MOST_ENCODERS:
            _ENCODERS.clear()
        known = _ENCODERS[id(type)] = type, _encoder(type)
    return known[1]


def _encoder(type: t.Type) -> Encoder:
    match type:
        case t.Bool() | t.Nothing() | t.Text() | t.Float():
            return lambda value: value
        case t.Int() | t.Clock():
            return _number
        case t.Enum():
            return lambda value: str(value.name)
        case t.Sort():
            return str
        case t.Opaque(name=name):
            return lambda value: _opaque_form(value, name)
        case t.Timer(ticks=True):
            return lambda value: value
        case t.Timer():
            return lambda value: value is not None and value is not False
        case t.Record(name=name, fields=fields):
            return _record_encoder(name, [(f, encoder(of)) for f, of in fields])
        case t.Union():
            return lambda value: encode(value, chosen(value, type))
        case t.Tuple(items=items):
            several = [encoder(item) for item in items]
            return lambda value: {"$tuple": [of(v) for v, of in zip(value, several, strict=True)]}
        case _:
            return _container_encoder(type)


def _container_encoder(type: t.Type) -> Encoder:
    match type:
        case t.Seq(item=item, mutable=True):
            one = encoder(item)
            return lambda value: [one(v) for v in value]
        case t.Seq(item=item) | t.Iter(item=item):
            one = encoder(item)
            return lambda value: {"$tuple": [one(v) for v in value]}
        case t.Set(item=item):
            one, order = encoder(item), ranking(item)
            return lambda value: {"$set": order([one(v) for v in value])}
        case t.Bag(item=item):
            return lambda value: encoded_map(((k, _number(n)) for k, n in value.items() if n), item)
        case t.Map(key=key, value=of):
            one = encoder(of)
            return lambda value: encoded_map(((k, one(v)) for k, v in value.items()), key)
        case _:
            return lambda value: _no_form(type)


def _number(value: Any) -> Json:
    return int(value) if -EXACT <= value <= EXACT else {"$int": _texts().written(value)}


def _texts() -> Any:
    from .. import integer_texts  # Few integers are so large.

    return integer_texts


def _record_encoder(name: str, fields: list[tuple[str, Encoder]]) -> Encoder:
    def encoded(value: Any) -> Json:
        out: dict[str, Json] = {"$": name}
        for f, of in fields:
            out[f] = of(getattr(value, f))
        return out

    return encoded


def _no_form(type: t.Type) -> NoReturn:
    raise TypeError(f"no JSON form for {type}")


def ranking(type: t.Type) -> Callable[[list[Any]], list[Any]]:
    """The function that sorts JSON forms of values of this type by their rank, in place."""
    return _sorted_plainly if isinstance(type, PLAIN) else _sorted_by_rank


PLAIN = (t.Int, t.Enum, t.Sort, t.Text)  # Numbers and texts, whose order is that of their ranks.


def _sorted_plainly(forms: list[Any]) -> list[Any]:
    try:
        forms.sort()
    except TypeError:  # Some integers are not exact in every reader: their forms are objects.
        forms.sort(key=rank)
    return forms


def _sorted_by_rank(forms: list[Any]) -> list[Any]:
    forms.sort(key=rank)
    return forms


def encoded_map(items: Iterable[tuple[Any, Json]], key: t.Type) -> Json:
    """The JSON form of a map with keys of this type, from keys and the forms of their values."""
    one = encoder(key)
    rows = [(one(k), v) for k, v in items]
    try:
        rows.sort(key=_first if isinstance(key, PLAIN) else _rank_of_first)
    except TypeError:
        rows.sort(key=_rank_of_first)
    if isinstance(key, t.Enum | t.Sort | t.Text) and TAGS.isdisjoint(map(_first, rows)):
        return {str(k): v for k, v in rows}
    return {"$map": [[k, v] for k, v in rows]}


_first: Callable[[Any], Any] = itemgetter(0)


def _rank_of_first(row: tuple[Json, Json]) -> tuple[int, Any]:
    return rank(row[0])


def _opaque_form(value: Any, name: str) -> Json:
    return value.id if value.__class__ is TextToken else {"$opaque": name, "id": _identity(value)}


def _identity(value: Any) -> int | str:
    if isinstance(value, Token):
        return value.id
    from .opaque_texts import digest  # An instance does not need it to begin with.

    return digest(value)


def chosen(value: Any, type: t.Union) -> t.Type:
    """The alternative of the union that the value belongs to; TypeError if there is none."""
    name = value.__class__.__name__
    rest: t.Type | None = None
    for option in type.options:
        match option:
            case t.Nothing():
                if value is None:
                    return option
            case t.Record():
                if option.name == name:
                    return option
            case _:
                rest = option
    if rest is None or value is None:
        raise TypeError(f"{value!r} is not a {type}")
    return rest


def decode(data: Json, type: t.Type, world: World) -> Any:
    """The value of a JSON form; ValueError, with what was expected, for any other JSON.

    Containers become immutable values: frozenset, tuple, `FrozenMap`, `FrozenBag`; a timer becomes
    a bool.
    """
    try:
        return _decode(data, type, world)
    except (KeyError, TypeError, AttributeError, IndexError, OverflowError) as error:
        from .other_forms import another_form

        raise another_form(data, type) from error


def _decode(data: Any, type: t.Type, world: World) -> Any:
    match type:
        case t.Timer(ticks=True):
            return None if data is None else _natural(data)
        case t.Clock():
            return _natural(data)
        case t.Bool() | t.Timer():
            return _plain(data, bool)
        case t.Text():
            return _plain(data, str)
        case t.Nothing():
            return _plain(data, None.__class__)
        case t.Float():
            return float(_bad() if data.__class__ is bool else _plain(data, (int, float)))
        case t.Int():
            return _texts().read(data["$int"]) if data.__class__ is dict else _whole(data)
        case t.Enum(name=name):
            return world.enums[name][data]
        case t.Sort(name=name):
            return world.sorts[name](_plain(data, str))
        case t.Opaque(name=name):
            if data.__class__ is str and text_class(world.encodable.get(name)) is not None:
                return TextToken(name, data)
            return Token(name, data["id"]) if data["$opaque"] == name else _bad()
        case t.Record(name=name, fields=fields):
            if data["$"] != name:
                _bad()
            if len(data) != len(fields) + 1 or not all(name in data for name, _ in fields):
                from .other_forms import other_fields  # Few data are wrong.

                raise other_fields(data, type)
            return world.records[name](*(decode(data[f], ft, world) for f, ft in fields))
        case t.Union(options=options):
            return _decode(data, _alternative(data, options), world)
        case _:
            return _decode_container(data, type, world)


def _decode_container(data: Any, type: t.Type, world: World) -> Any:
    match type:
        case t.Tuple(items=items):
            values = data["$tuple"]
            if len(values) != len(items):
                _bad()
            return tuple(decode(v, i, world) for v, i in zip(values, items, strict=True))
        case t.Seq(item=item, mutable=mutable):
            values = _plain(data, list) if mutable else data["$tuple"]
            return tuple(decode(v, item, world) for v in values)
        case t.Set(item=item):
            return frozenset(decode(v, item, world) for v in data["$set"])
        case t.Bag(item=item):
            rows = _entries(data)
            return FrozenBag({decode(k, item, world): decode(n, t.INT, world) for k, n in rows})
        case t.Map(key=key, value=of):
            rows = _entries(data)
            return FrozenMap({decode(k, key, world): decode(v, of, world) for k, v in rows})
        case _:
            raise TypeError(f"no JSON form for {type}")


def _entries(data: Any) -> Iterator[tuple[Any, Any]]:
    if "$map" not in data and not TAGS.isdisjoint(data):
        _bad()
    rows = data["$map"] if "$map" in data else data.items()
    return ((k, v) for k, v in rows)


def _alternative(data: Any, options: tuple[t.Type, ...]) -> t.Type:
    tag = data.get("$") if data.__class__ is dict else None
    for option in options:
        if isinstance(option, t.Nothing):
            if data is None:
                return option
        elif isinstance(option, t.Record):
            if tag == option.name:
                return option
        elif data is not None:
            return option
    return _bad()


def _plain(data: Any, type: type[Any] | tuple[type[Any], ...]) -> Any:
    return data if isinstance(data, type) and type is not int else _bad()


def _whole(data: Any) -> int:
    return data if isinstance(data, int) and not isinstance(data, bool) else _bad()


def _natural(data: Any) -> int:
    number = _whole(data)
    return number if number >= 0 else _bad()


def _bad() -> NoReturn:
    raise TypeError("another form")
