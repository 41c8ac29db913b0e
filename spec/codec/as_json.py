"""The IR and `Flat` as canonical JSON, and the three fingerprints of a machine.

    document := {"format": "lawful-ir", "version", "files": [path*], "types": [type*], "machine"}
              | {"format": "lawful-flat", ..., "flat"}
    node     := {"is": class, field: value*}      a field per dataclass field
    value    := plain | [value*] | node | {"@": index into "types"} | {"json": any}
    place    := [index into "files", line, column, end line, end column]

Both directions go by reflection over the frozen dataclasses of `ir`, `types` and `flat`, so that a
node added there needs no row here. Types are written once each: an expression names its type by
index.
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
import json
import types as python_types
import typing
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, NoReturn, TypeGuard

from .. import flat as flats
from .. import ir, sha256
from .. import types as t
from ..errors import NOWHERE, Place
from ..ir import Json
from ..quick_dataclass import dataclass
from ..words import Expect, Scope

FORMAT = "lawful-ir"
FLAT = "lawful-flat"
VERSION = 1
SHORT = 16  # Hex digits of a fingerprint: it stands in every row of a journal.
GROWING = "growing"  # Of a sort, written where it is true: older documents have no such field.


@dataclass(frozen=True, slots=True)
class Fingerprints:
    """Free of comments, docstrings, places, order of members, module and Python version.

    `shape` covers variables (ghosts, which no snapshot holds, aside), their types and the
    parameters; `behaviour` also what a step does; `whole` also properties and what is said
    about checking them.
    """

    shape: str
    behaviour: str
    whole: str


def to_json(machine: ir.Machine, places: bool = True) -> Json:
    """The machine as plain JSON; without `places` it tells nothing of where it was written."""
    return _document(FORMAT, "machine", machine, places)


def flat_to_json(flat: flats.Flat, places: bool = True) -> Json:
    """A machine within its scope as plain JSON."""
    return _document(FLAT, "flat", flat, places)


def _document(form: str, key: str, value: ir.Machine | flats.Flat, places: bool) -> Json:
    writer = _Writer(places)
    written = writer.value(value)
    return {
        "format": form,
        "version": VERSION,
        "files": list(writer.files),
        "types": writer.table,
        key: written,
    }


def from_json(data: Any) -> ir.Machine:
    """The machine that `to_json` wrote; ValueError, saying what is wrong, for anything else."""
    machine = _read(data, FORMAT, "machine")
    if not isinstance(machine, ir.Machine):
        _wrong('no Machine under "machine"')
    return machine


def flat_from_json(data: Any) -> flats.Flat:
    """What `flat_to_json` wrote; ValueError, saying what is wrong, for anything else."""
    flat = _read(data, FLAT, "flat")
    if not isinstance(flat, flats.Flat):
        _wrong('no Flat under "flat"')
    return flat


def _read(data: Any, form: str, key: str) -> Any:
    if not is_object(data) or data.get("format") != form:
        raise ValueError(f'not a machine: expected an object with "format": "{form}"')
    if data.get("version") != VERSION:
        found = data.get("version")
        raise ValueError(f"a machine of format version {found}; this lawful reads {VERSION}")
    return _Reader(data).value(data.get(key))


def canonical(data: Json) -> str:
    """The one text of these data: equal data give equal text in every process."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def digest(data: Json) -> str:
    """A short SHA-256 of the canonical text."""
    return sha256.hexdigest(canonical(data).encode())[:SHORT]


def is_object(data: Any) -> TypeGuard[dict[str, Any]]:
    """Whether these data are a JSON object."""
    return isinstance(data, dict)


def is_list(data: Any) -> TypeGuard[list[Any]]:
    """Whether these data are a JSON list."""
    return isinstance(data, list)


def is_tuple(value: Any) -> TypeGuard[tuple[Any, ...]]:
    """Whether this is a tuple."""
    return isinstance(value, tuple)


# Classes.

FLATS = flats.Flat | flats.Rule | flats.Plan


@cache
def _classes() -> dict[str, type[Any]]:
    found: dict[str, type[Any]] = {}
    for module in (ir, t, flats):
        for name, cls in vars(module).items():
            if inspect.isclass(cls) and issubclass(cls, ir.Node | t.Type | FLATS):
                # A type and a node may share a name (`Set`); types are read from their own table.
                found[f"type {name}" if issubclass(cls, t.Type) else name] = cls
    return found


Check = Callable[[Any], bool]


@cache
def _checks(name: str) -> dict[str, Check]:
    """What the fields of a class must be."""
    # `Json` is defined by itself; what is inside of it is not judged here.
    hints = typing.get_type_hints(_classes()[name], localns={"Json": object})
    return {field: _checker(hint) for field, hint in hints.items()}


PLAIN = frozenset({bool, int, float, str, type(None)})


FIELDS: dict[type[Any], tuple[tuple[str, bool], ...]] = {}


def fields_of(cls: type[Any]) -> tuple[tuple[str, bool], ...]:
    """The fields of a class by their names, and whether each counts for equality."""
    if cls not in FIELDS:
        FIELDS[cls] = tuple((f.name, f.compare) for f in dataclasses.fields(cls))
    return FIELDS[cls]


# Writing.


class _Writer:
    """Writes nodes, and collects the files and types that they refer to."""

    def __init__(self, places: bool) -> None:
        self.places = places
        self.files: dict[str, int] = {}
        self.types: dict[t.Type, int] = {}
        self.seen: dict[int, tuple[t.Type, int]] = {}  # By identity: hashing a type takes time.
        self.table: list[Json] = []

    def value(self, value: Any) -> Json:
        if value.__class__ in PLAIN:
            return value  # type: ignore[no-any-return]  # it is of one of these classes
        match value:
            case ir.Node() | flats.Flat() | flats.Rule() | flats.Plan():
                return self.node(value)
            case t.Type():
                return {"@": self.type(value)}
            case _ if is_tuple(value):
                return [self.value(each) for each in value]
            case _ if is_object(value) or is_list(value):
                return {"json": value}
            case _:
                raise TypeError(f"{value!r} does not belong into an IR")

    def node(self, node: Any) -> Json:
        out: dict[str, Json] = {"is": type(node).__name__}
        for name, _ in fields_of(node.__class__):
            if name != "place":
                out[name] = self.value(getattr(node, name))
            elif self.places:
                out["place"] = self.place(node.place)
        return out

    def type(self, type_: t.Type) -> int:
        known = self.seen.get(id(type_))
        if known is None:
            known = self.seen[id(type_)] = type_, self._numbered(type_)
        return known[1]

    def _numbered(self, type_: t.Type) -> int:
        if type_ not in self.types:
            row: dict[str, Json] = {"is": type(type_).__name__}
            for name, _ in fields_of(type_.__class__):
                row[name] = self.value(getattr(type_, name))
            if isinstance(type_, t.Sort) and not type_.growing:
                del row[GROWING]
            self.types[type_] = len(self.table)
            self.table.append(row)
        return self.types[type_]

    def place(self, place: Place) -> Json:
        file = self.files.setdefault(place.file, len(self.files))
        return [file, place.line, place.column, place.end_line, place.end_column]


# Reading.


class _Reader:
    """Reads one document; its types only refer to types before them."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        files, rows = document.get("files"), document.get("types")
        if not is_list(files) or not is_list(rows):
            _wrong('no lists under "files" and "types"')
        self.files = files
        self.types: list[t.Type] = []
        for row in rows:
            self.types.append(self.object(row, "type "))

    def value(self, data: Any) -> Any:
        if is_list(data):
            return tuple(self.value(each) for each in data)
        if not is_object(data):
            return data
        if "json" in data:
            return data["json"]
        return self.known_type(data["@"]) if "@" in data else self.object(data, "")

    def known_type(self, index: object) -> t.Type:
        if type(index) is not int or not 0 <= index < len(self.types):
            _wrong(f"type {index!r}, where {len(self.types)} are known")
        return self.types[index]

    def object(self, data: Any, prefix: str) -> Any:
        data = data if is_object(data) else {"is": None}
        name = data.get("is")
        cls = _classes().get(f"{prefix}{name}") if isinstance(name, str) else None
        if cls is None:
            kind = prefix.strip() or "node"
            _wrong(f"the unknown {kind} {_shown(data if name is None else name)}")
        given: dict[str, Any] = {}
        if issubclass(cls, ir.Node):
            given["place"] = self.place(data["place"]) if "place" in data else NOWHERE
        names = {name for name, _ in fields_of(cls)} - {"place"}
        if cls is t.Sort:
            data = {GROWING: False, **data}
        if names | {"place", "is"} != data.keys() | {"place"}:
            _wrong(f"a {name} with the fields {sorted(data.keys() - {'is'})}, not {sorted(names)}")
        checks = _checks(f"{prefix}{name}")
        for field in names:
            given[field] = self.value(data[field])
            if not checks[field](given[field]):
                _wrong(f"{_shown(data[field])} as {field} of a {name}")
        return cls(**given)

    def place(self, data: Any) -> Place:
        whole = is_list(data) and len(data) == 5 and all(type(n) is int for n in data)
        if not whole or not 0 <= data[0] < len(self.files):
            _wrong(f"{_shown(data)} as a place")
        return Place(str(self.files[data[0]]), *data[1:])


def _checker(hint: Any) -> Check:
    """Whether a value is of an annotation, as far as those of `ir` and `types` go."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        return lambda value: value in args
    if origin in (typing.Union, python_types.UnionType):
        some = [_checker(arg) for arg in args]
        return lambda value: any(check(value) for check in some)
    if origin is tuple and args[-1] is Ellipsis:
        each = _checker(args[0])
        return lambda value: is_tuple(value) and all(each(v) for v in value)
    if origin is tuple:
        both = [_checker(arg) for arg in args]
        return lambda value: (
            is_tuple(value)
            and len(value) == len(both)
            and all(check(v) for check, v in zip(both, value, strict=True))
        )
    if hint in (int, bool, float, str):
        return lambda value: type(value) is hint
    if origin in (list, dict):
        return lambda value: isinstance(value, origin)
    if isinstance(hint, typing.NewType):
        return _checker(hint.__supertype__)
    return lambda value: isinstance(value, hint)


def _shown(data: object) -> str:
    return json.dumps(data, default=repr)[:60]


def _wrong(found: str) -> NoReturn:
    raise ValueError(f"not a machine that this lawful knows: found {found}")


# Fingerprints.


def fingerprints(machine: ir.Machine, settings: Any = None) -> Fingerprints:
    """The three fingerprints; `settings` are those of checking: scopes, expectations."""
    machines = _machines(machine)
    salt: list[Json] = [FORMAT, VERSION, machine.name]
    shape: list[Json] = [*salt, *_with_types(_Essence(machines), _shape, machines)]
    return Fingerprints(digest(shape), behaviour(machine), whole(machine, settings))


def behaviour(machine: ir.Machine) -> str:
    """The one that journals are held against."""
    machines = _machines(machine)
    rows = _with_types(_Essence(machines), _behaviour, machines)
    return digest([FORMAT, VERSION, machine.name, *rows])


def whole(machine: ir.Machine, settings: Any) -> str:
    """The one of everything that is declared, `settings` of checking included."""
    machines = _machines(machine)
    rows = _with_types(_Essence((*machines, *machine.abstracts)), _whole, machines)
    return digest([FORMAT, VERSION, machine.name, *rows, _settings(settings)])


def _machines(machine: ir.Machine) -> tuple[ir.Machine, ...]:
    return machine, *sorted(machine.parts, key=lambda part: part.name)


class _Essence(_Writer):
    """Writes what a machine means; what a call reaches is written behind what calls it."""

    def __init__(self, machines: Iterable[ir.Machine]) -> None:
        super().__init__(places=False)
        self.machines = {machine.name: machine for machine in machines}
        self.reached: dict[tuple[str, str], int] = {}
        self.within = ""

    def node(self, node: ir.Node) -> Json:
        # What does not count for equality (place, docstring) does not count here.
        out: dict[str, Json] = {"is": type(node).__name__}
        for name, counts in fields_of(node.__class__):
            if counts:
                out[name] = self.value(getattr(node, name))
        if isinstance(node, ir.Call):
            out["function"] = self.reach(node)
        return out

    def reach(self, call: ir.Call) -> int:
        """The number of the called function: the name of a module's function tells its module."""
        of = None if call.of is None else call.of.type
        owner = of.machine if isinstance(of, t.Part) else self.within
        return self.reached.setdefault((owner, call.function), len(self.reached))

    def rows(self, machine: ir.Machine, rows: Iterable[ir.Node]) -> Json:
        """The rows in the order of their names: moving a member is no change."""
        self.within = machine.name
        named = sorted(rows, key=lambda row: str(getattr(row, "name", "")))
        return [self.value(row) for row in named]

    def functions(self) -> Json:
        """Every function reached, and what these reach in turn."""
        out: list[Json] = []
        while len(out) < len(self.reached):
            owner, name = list(self.reached)[len(out)]
            self.within = owner
            function = _function(self.machines[owner], name)
            body = self.value(dataclasses.replace(function, name=name.rpartition(".")[2]))
            out.append([owner, body])
        return out


def _function(machine: ir.Machine, name: str) -> ir.Function:
    functions = (*machine.functions, *(p.function for p in machine.properties))
    return next(function for function in functions if function.name == name)


def _with_types(essence: _Essence, read: Any, machines: tuple[ir.Machine, ...]) -> list[Json]:
    rows: list[Json] = [read(essence, machine) for machine in machines]
    return [rows, essence.functions(), essence.table]


def _shape(essence: _Essence, machine: ir.Machine) -> Json:
    # By name: a type's number depends on what was written before it.
    kinds = {("variable", v.name): v.type for v in machine.variables if not v.ghost}
    kinds.update({("parameter", p.name): p.type for p in machine.parameters})
    fields: list[Json] = [[*name, essence.value(kinds[name])] for name in sorted(kinds)]
    return [machine.name, fields]


def _behaviour(essence: _Essence, machine: ir.Machine) -> Json:
    return [
        machine.name,
        *(
            essence.rows(machine, rows)
            for rows in (
                machine.variables,
                machine.parameters,
                machine.transitions,
                machine.events,
                machine.ignores,
                machine.initials,
                machine.bases,
            )
        ),
    ]


def _whole(essence: _Essence, machine: ir.Machine) -> Json:
    properties = essence.rows(machine, machine.properties)
    fairness = sorted((essence.value(group) for group in machine.fairness), key=canonical)
    out: list[Json] = [_behaviour(essence, machine), properties, machine.deadlock_ok, fairness]
    abstracts = sorted(machine.abstracts, key=lambda abstract: abstract.name)
    for abstract in abstracts:
        assumed = essence.rows(abstract, abstract.of_kind("assume"))
        out.append([_behaviour(essence, abstract), assumed])
    return out


def _settings(settings: Any) -> Json:
    """Scopes and expectations as JSON; their values are those of the vocabulary."""
    content = settings  # Its type is one that no pattern below narrows.
    match settings:
        case enum.Enum():
            return {"enum": type(settings).__name__, "name": settings.name}
        case bool() | int() | float() | str() | None:
            return settings
        case range():
            return {"range": [settings.start, settings.stop, settings.step]}
        case tuple() | list():
            return [_settings(each) for each in content]
        case set() | frozenset():
            return {"set": sorted((_settings(each) for each in content), key=canonical)}
        case Mapping():
            pairs: list[Json] = [[_settings(k), _settings(v)] for k, v in content.items()]
            return {"map": sorted(pairs, key=canonical)}
        case Scope():
            return {"scope": _settings(settings.bounds), "expects": _settings(settings.expects)}
        case Expect():
            return {"expect": _settings(settings.verdicts)}
        case _ if dataclasses.is_dataclass(settings):
            named = {f.name: getattr(settings, f.name) for f in dataclasses.fields(settings)}
            return {"is": type(settings).__name__, "fields": _settings(named)}
        case _:
            raise TypeError(f"{settings!r} does not belong into a scope")
