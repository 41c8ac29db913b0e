"""Which typed columns a replay with a mapping needs, and the arguments that they make.

    instance string, seq long, event short, raw binary, place string, then a column for each path
    of the mapping that an argument or the output is at

`event` is an index in `Layout.names`. A row is *regular* if the columns say all that the mapping
reads of it; then `raw` is null. Any other row has its line in `raw`, which the row fold parses, and
of the columns at most `instance` and `seq`. Both go by the same shuffle or sort. `place` says where
a row of no instance is.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.codec.as_json import is_object
from lawful.spec.ir import Json
from lawful.spec.values.time import clock_of
from lawful.spec.values.world import World, decode

from ..difference import exact
from ..mapping import TraceMapping
from ..preparation.instance_names import key_of
from ..preparation.record_paths import is_path, names_in
from ..program import ReplayProgram
from ..row_state import may_be_none
from ..rows import Rejected, Row, decoded
from ..sources import BLANK

INSTANCE, SEQ, EVENT, RAW, PLACE = "instance", "seq", "event", "raw", "place"
KEYS = (INSTANCE, SEQ, EVENT, RAW, PLACE)
# The types of columns, by their names in Spark; other engines have tables of their own.
LONG, STRING, BOOLEAN = "long", "string", "boolean"

# Types whose values are others in the reference engine than at run time.
HELD = (t.Seq, t.Set, t.Map, t.Bag, t.Tuple, t.Opaque)

Column = Sequence[Any]
Make = Callable[[Mapping[str, Column], int], Column]


class Untold:
    """In place of an output of which a row says nothing."""


UNTOLD = Untold()


class Unsupported(Exception):
    """There are no typed columns for this; the row fold replays it."""


@dataclass(frozen=True)
class Leaf:
    """The values of a column."""

    path: str
    kind: t.Type


@dataclass(frozen=True)
class Built:
    """Records, each field from a source of its own."""

    kind: t.Record
    of: tuple[Origin, ...]


@dataclass(frozen=True)
class Fixed:
    """One value of this type in all rows."""

    value: Any
    kind: t.Type


Origin = Leaf | Built | Fixed  # Of an argument.


@dataclass(frozen=True)
class Told:
    """A recorded output, at a path; a constant has none. Null is None if the output may be None;
    otherwise it says nothing. `origin`: what it is if it is not null; None if the output always is
    None."""

    path: str
    origin: Leaf | Fixed | None
    may_be_none: bool


@dataclass(frozen=True)
class EventColumns:
    """An event: the paths of its columns, and how to make its arguments of them.

    `make(columns, n)` gives a list of `n` values for each argument; KeyError where a text is no
    member of its enum. `output`: the values of the recorded outputs, where they are compared, with
    `UNTOLD` for those that say nothing. `origins` and `told` say the same for engines that do not
    make Python values. A regular row has a value at each of `needs`.
    """

    name: str
    paths: tuple[str, ...]
    needs: tuple[str, ...]
    arguments: tuple[Make, ...]
    output: Make | None
    origins: tuple[Origin, ...]
    told: Told | None


@dataclass(frozen=True)
class Layout:
    """The columns of a program with a mapping: `types` by path, `events` by the trace's names.

    Events that no row can be regular of are not among them. `skipped`: names that are not replayed.
    """

    mapping: TraceMapping
    types: Mapping[str, str]
    events: Mapping[str, EventColumns]
    skipped: frozenset[str] = field(default_factory=frozenset[str])

    @property
    def names(self) -> tuple[str, ...]:
        """The names of events in the trace; a row has the index of one."""
        return (*self.events, *sorted(self.skipped - self.events.keys()))

    @cached_property
    def codes(self) -> Mapping[str, int]:
        """The index of each name of an event."""
        return {name: code for code, name in enumerate(self.names)}

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths with a column, beside the keys; in the order of the columns."""
        return tuple(self.types)

    def needing(self, path: str) -> list[str]:
        """The names of the events whose regular rows have a value at this path."""
        events = self.events.items()
        return [n for n, each in events if path in each.needs and n not in self.skipped]

    def telling(self, path: str) -> list[str]:
        """The names of the events whose output is at this path."""
        return [name for name, told in self._outputs if told.path == path]

    def giving_none(self, path: str) -> list[str]:
        """Those of them whose output always is None: a regular row has no value there."""
        return [n for n, told in self._outputs if told.path == path and told.origin is None]

    @cached_property
    def _outputs(self) -> list[tuple[str, Told]]:
        events = self.events.items()
        return [(n, e.told) for n, e in events if e.told is not None and n not in self.skipped]

    def data(self, instance: str, seq: int, code: int, values: Mapping[str, Any]) -> Any:
        """The JSON object of a regular row, as far as the mapping reads it."""
        m = self.mapping
        event = self.names[code]
        known = None if event in self.skipped else self.events.get(event)
        rows = {m.instance: key_of(instance), m.seq: seq, m.event: event}
        rows.update({path: values[path] for path in (known.paths if known else ())})
        out: dict[str, Any] = {}
        for path, value in rows.items():
            *outer, last = names_in(path)
            inside = out
            for name in outer:
                inside = inside.setdefault(name, {})
            inside[last] = value
        return out

    def row_of_line(self, line: bytes) -> Row | Rejected | None:
        """The row in `raw`; None where it is none, such as a blank line."""
        if self.mapping.preparation is not None:
            row: Row | Rejected = pickle.loads(line)
            return row
        return decoded(line, self.mapping.row_of) if line.strip(BLANK) else None


def layout_of(program: ReplayProgram) -> Layout | None:
    """The layout of a program; None where the row fold replays everything, and where records are
    prepared, which only `layout_of_prepared` has columns for."""
    mapping = program.mapping
    return None if mapping is not None and mapping.preparation else layout_of_prepared(program)


def layout_of_prepared(program: ReplayProgram) -> Layout | None:
    """The same, also of prepared records: the line of a row that is not regular is the row itself,
    pickled."""
    mapping = program.mapping
    stepper = None if mapping is None else program.steppers.get(mapping.machine)
    if mapping is None or stepper is None or program.anywhere or not _has_kernel(stepper.machine):
        return None
    if not mapping.columnar or program.resumable:
        return None
    if mapping.time is not None:
        return None  # The row fold sees that time goes back.
    if len({mapping.instance, mapping.seq, mapping.event}) < 3 or _overlap(mapping.paths):
        return None
    types: dict[str, str] = {}
    events: dict[str, EventColumns] = {}
    for event in stepper.machine.events:
        if event.choice:
            continue  # The row fold follows all that may have happened.
        maker = _Maker(mapping, stepper.world, dict(types))
        try:
            made = maker.event(event)
        except Unsupported:
            continue
        types = maker.types
        for theirs in _their_names(mapping, event.name):
            events[theirs] = made
    if any(each.told is not None and each.told.path for each in events.values()):
        types.setdefault(str(mapping.output), STRING)  # All outputs are None.
    return Layout(mapping, types, events, frozenset(mapping.not_judged)) if events else None


def _has_kernel(machine: ir.Machine) -> bool:
    """Whether the runtime's steps can replay the machine: it has no time, no parts, no `@initial`
    and no growing sort."""
    kinds = [v.type for v in machine.variables] + [p.type for p in machine.parameters]
    timed = any(t.contains(kind, t.Timer) for kind in kinds)
    unset = any(v.initial is None and not v.ghost for v in machine.variables)
    grows = any(isinstance(kind, t.Sort) and kind.growing for kind in machine.types)
    return not (machine.parts or machine.initials or unset or timed or grows or clock_of(machine))


def _overlap(paths: Sequence[str]) -> bool:
    """Whether one path is inside another, or another text for it."""
    told = [*map(names_in, paths)]
    return len({*told}) < len(told) or any(a != b and b[: len(a)] == a for a in told for b in told)


def _their_names(mapping: TraceMapping, name: str) -> list[str]:
    """What the trace calls an event of the machine."""
    theirs = [a for a, b in mapping.events.items() if b == name]
    return theirs if name in mapping.events else [*theirs, name]


def _reads(template: Json) -> bool:
    """Whether a template has a path in it."""
    if isinstance(template, list):
        return any(map(_reads, template))
    if is_object(template):
        return any(map(_reads, template.values()))
    return is_path(template)


class _Maker:
    """Makes values of columns; `types` has the columns, and gets those that an event adds."""

    def __init__(self, mapping: TraceMapping, world: World, types: dict[str, str]) -> None:
        self.mapping = mapping
        self.world = world
        self.types = types
        self.mine: dict[str, None] = {}

    def event(self, event: ir.Event) -> EventColumns:
        """The columns of an event; Unsupported where no column can hold its arguments."""
        template = self.mapping.args.get(event.name, {})
        if not is_object(template) or template.keys() != {name for name, _ in event.params}:
            raise Unsupported
        rows = tuple(self.value(template[name], kind) for name, kind in event.params)
        needs = tuple(self.mine)
        told = None if self.mapping.output is None else self.told(self.mapping.output, event.output)
        makes = tuple(self.make(each) for each in rows)
        output = None if told is None else self.outputs(told)
        paths = tuple(self.mine)
        return EventColumns(event.name, paths, needs, makes, output, rows, told)

    def told(self, path: str, kind: t.Type) -> Told:
        """How a recorded output is read of its column."""
        if not is_path(path):
            constant = self.value(path, kind)
            assert isinstance(constant, Fixed)  # It has no path in it.
            return Told("", constant, may_be_none=False)
        if isinstance(kind, t.Nothing):
            if path in (self.mapping.instance, self.mapping.seq, self.mapping.event):
                raise Unsupported
            self.mine[path] = None
            return Told(path, None, may_be_none=True)
        return Told(path, self.leaf(path, kind), may_be_none(kind))

    def outputs(self, told: Told) -> Make:
        """The function that makes the values of recorded outputs."""
        null, path = None if told.may_be_none else UNTOLD, told.path
        if told.origin is None:
            return lambda columns, n: [None] * n
        make = self.make(told.origin)
        if not path:
            return make

        def made(columns: Mapping[str, Column], n: int) -> Column:
            column = columns[path]
            known = [each for each in column if each is not None]
            if len(known) == n:
                return make(columns, n)
            values = iter(make({path: known}, len(known)))
            return [null if each is None else next(values) for each in column]

        return made

    def value(self, template: Json, kind: t.Type) -> Origin:
        """How the value of a template is made of columns."""
        if is_path(template):
            return self.leaf(template, kind)
        if is_object(template) and any(map(_reads, template.values())):
            return self.record(template, kind)
        held = any(isinstance(each, HELD) for each in t.inside(kind))
        if _reads(template) or held or not exact(template):
            raise Unsupported
        try:
            return Fixed(decode(template, kind, self.world), kind)
        except ValueError as error:
            raise Unsupported from error

    def leaf(self, path: str, kind: t.Type) -> Leaf:
        """The values of a column."""
        if isinstance(kind, t.Union):
            plain = [each for each in kind.options if not isinstance(each, t.Nothing)]
            if len(plain) != 1:
                raise Unsupported
            kind = plain[0]
        physical, _ = _physical(kind, self.world)
        m = self.mapping
        if path in (m.instance, m.seq, m.event):
            raise Unsupported
        if self.types.setdefault(path, physical) != physical:
            raise Unsupported
        self.mine[path] = None
        return Leaf(path, kind)

    def record(self, template: Mapping[str, Json], kind: t.Type) -> Built:
        """Records of columns."""
        options = kind.options if isinstance(kind, t.Union) else (kind,)
        for option in options:
            if isinstance(option, t.Record) and option.name == template.get("$"):
                names = [name for name, _ in option.fields]
                if set(template) != {"$", *names}:
                    raise Unsupported
                return Built(option, tuple(self.value(template[n], of) for n, of in option.fields))
        raise Unsupported

    def make(self, origin: Origin) -> Make:
        """The function that makes Python values of columns."""
        match origin:
            case Fixed(value=constant):
                return lambda columns, n: [constant] * n
            case Built(kind=kind, of=of):
                build = self.world.records[kind.name]
                fields = [self.make(each) for each in of]
                return lambda columns, n: [*map(build, *(each(columns, n) for each in fields))]
            case Leaf(path=path, kind=kind):
                _, known = _physical(kind, self.world)
                if known is None:
                    return lambda columns, n: columns[path]
                named = known
                return lambda columns, n: [*map(named, columns[path])]


def _physical(kind: t.Type, world: World) -> tuple[str, Callable[[Any], Any] | None]:
    """The type of a column, and the value of what is in it where that is another."""
    match kind:
        case t.Bool():
            return BOOLEAN, None
        case t.Serial():
            raise Unsupported
        case t.Int():
            return LONG, None
        case t.Sort(name=name):
            return STRING, world.sorts[name]
        case t.Enum(name=name):
            return STRING, world.enums[name].__members__.__getitem__
        case _:
            raise Unsupported
