"""Types of generated machines: what is drawn, how it is written, how large it is, its values."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

from lawful.spec import types as t
from lawful.spec.values.world import FrozenBag, FrozenMap, World

MODE = t.Enum("Mode", ("IDLE", "BUSY", "OVER"))
COLOR = t.Enum("Color", ("RED", "BLUE"))
NODE = t.Sort("Node")
STEP = t.Sort("Step", ordered=True)
BLOB = t.Opaque("Blob")
TURN = t.serial(3)
WIDE = t.serial(16)
LOW = t.Int(-2, 1)
FEW = t.Int(0, 2)
OVER = t.Int(-1, None)
PING = t.Record("Ping", (("a", t.INT), ("b", t.BOOL)))
PONG = t.Record("Pong", (("n", NODE), ("a", t.INT)))
STAMP = t.Record("Stamp", (("at", TURN), ("wide", WIDE)))
SIZES = {"Node": 2, "Step": 2, "Blob": 2}
BLOBS = (b"p", b"q")
SCALARS: tuple[t.Type, ...] = (
    t.BOOL,
    t.INT,
    t.NAT,
    LOW,
    FEW,
    OVER,
    MODE,
    COLOR,
    NODE,
    STEP,
    BLOB,
    TURN,
)
KEYS: tuple[t.Type, ...] = (t.BOOL, COLOR, MODE, NODE, STEP, FEW, LOW)  # Small and finite.
GIVEN = 3  # Records that every module has.
RANGE = range(-2, 3)  # The integers of the scope.

# What a module of the generator begins with; further records are its own.
PRELUDE = """from annotated_types import Gt

class Mode(State):
    IDLE = "idle"
    BUSY = "busy"
    OVER = "over"

class Color(Enum):
    RED = 1
    BLUE = 2

class Node(Sort): ...

class Step(OrderedSort): ...

Blob = Annotated[bytes, Opaque("Blob")]
Low = Annotated[int, Interval(ge=-2, le=1)]
Few = Annotated[int, Interval(ge=0, lt=3)]
Over = Annotated[int, Gt(-2)]
Turn = Annotated[int, Serial(bits=3)]
Wide = Annotated[int, Serial(bits=16)]

class Ping(Record):
    a: int
    b: bool = False

class Pong(Record):
    n: Node
    a: int = 1

class Stamp(Record):
    at: Turn
    wide: Wide = 65535
"""
ALIASES: dict[t.Type, str] = {
    LOW: "Low",
    FEW: "Few",
    OVER: "Over",
    BLOB: "Blob",
    TURN: "Turn",
    WIDE: "Wide",
}

# The constructors that a nesting is counted by.
OUTER = (
    "Record",
    "Optional",
    "Union",
    "Tuple",
    "tuple",
    "list",
    "set",
    "frozenset",
    "dict",
    "total",
    "Mapping",
    "Counter",
)
INNER = (
    "bool",
    "int",
    "Nat",
    "Interval",
    "Serial",
    "Enum",
    "Sort",
    "OrderedSort",
    "Opaque",
    "Record",
    "Optional",
    "Union",
    "Tuple",
    "tuple",
    "frozenset",
    "Mapping",
)
MUTABLE = ("list", "set", "dict", "total", "Counter")
# Mutable containers stand in what is itself changed in place; timers in maps alone.
# Of a union the alternatives are records, and of an optional value one alternative is None.
NESTINGS: tuple[tuple[str, str], ...] = (
    *(
        (outer, inner)
        for outer in OUTER
        for inner in INNER
        if (outer != "Optional" or inner not in ("Optional", "Union"))
        and (outer != "Union" or inner == "Record")
    ),
    *(
        (outer, inner)
        for outer in ("list", "dict", "total")
        for inner in MUTABLE
        if inner != "total"
    ),
    ("dict", "Timer"),
    ("total", "Timer"),
)


def constructor(kind: t.Type) -> str:
    """The name by which a type is counted."""
    match kind:
        case t.Serial():
            return "Serial"
        case t.Int(low=None, high=None):
            return "int"
        case t.Int(name="Nat", high=None):
            return "Nat"
        case t.Int():
            return "Interval"
        case t.Sort(ordered=True):
            return "OrderedSort"
        case t.Union(options=options):
            several = sum(not isinstance(o, t.Nothing) for o in options) > 1
            return "Union" if several else "Optional"
        case t.Seq(mutable=mutable):
            return "list" if mutable else "tuple"
        case t.Set(mutable=mutable):
            return "set" if mutable else "frozenset"
        case t.Map(mutable=False):
            return "Mapping"
        case t.Map(total=total):
            return "total" if total else "dict"
        case t.Bag():
            return "Counter"
        case t.Bool():
            return "bool"
        case _:
            return type(kind).__name__


def inside(kind: t.Type) -> tuple[t.Type, ...]:
    """The types that stand directly inside one."""
    match kind:
        case t.Record(fields=fields):
            return tuple(of for _, of in fields)
        case t.Union(options=items) | t.Tuple(items=items):
            return items
        case t.Seq(item=item) | t.Set(item=item) | t.Bag(item=item):
            return (item,)
        case t.Map(key=key, value=value):
            return (key, value)
        case _:
            return ()


def nestings(kind: t.Type) -> list[tuple[str, str]]:
    """Each pair of a constructor and one directly inside it, anywhere in a type."""
    found: list[tuple[str, str]] = []
    for each in inside(kind):
        found += [(constructor(kind), constructor(each)), *nestings(each)]
    return found


class Kinds:
    """Draws types; remembers the records that it made, for the module to declare."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.records: list[t.Record] = [PING, PONG, STAMP]
        self.parents: dict[str, str] = {}  # Of records that inherit.

    def some(self, depth: int = 2, mutable: bool = False) -> t.Type:
        """Any type that is immutable, or one that may stand in a variable of its own."""
        rng = self.rng
        if depth == 0 or rng.random() < 0.4:
            return rng.choice(SCALARS)
        name = rng.choice((*OUTER, *MUTABLE)) if mutable else rng.choice(OUTER[:9])
        if not mutable and name in MUTABLE:
            name = "Mapping"
        return self.made(name, self.some(depth - 1))

    def of(self, name: str) -> t.Type:
        """A type with that constructor."""
        plain: dict[str, tuple[t.Type, ...]] = {
            "bool": (t.BOOL,),
            "int": (t.INT,),
            "Nat": (t.NAT,),
            "Interval": (LOW, FEW, OVER),
            "Serial": (TURN, WIDE),
            "Enum": (COLOR, MODE),
            "Sort": (NODE,),
            "OrderedSort": (STEP,),
            "Opaque": (BLOB,),
            "Record": tuple(self.records),
            "Timer": (t.Timer(),),
        }
        if name in plain:
            return self.rng.choice(plain[name])
        return self.made(name, self.rng.choice(SCALARS))

    def made(self, outer: str, inner: t.Type) -> t.Type:
        """A type with the outer constructor round `inner`."""
        rng = self.rng
        match outer:
            case "Record":
                fields = [("f", inner), ("g", rng.choice((t.INT, t.BOOL, COLOR)))]
                return self._recorded(tuple(fields))
            case "Optional":
                return t.union((inner, t.NOTHING))
            case "Union":
                first = inner if isinstance(inner, t.Record) else rng.choice(self.records)
                kin = set(self.family(first))
                rest = [r for r in self.records if r != first and kin & set(self.family(r))]
                if not rest or rng.random() < 0.5:
                    rest = [r for r in self.records if r != first]
                extra = (t.NOTHING,) if rng.random() < 0.5 else ()
                return t.union((first, rng.choice(rest), *extra))
            case "Tuple":
                return t.Tuple((inner, rng.choice(SCALARS)))
            case "tuple":
                return t.Seq(inner, mutable=False)
            case "list":
                return t.Seq(inner, mutable=True, most=rng.choice((None, 3)))
            case "set" | "frozenset":
                return t.Set(inner, mutable=outer == "set")
            case "dict":
                key = inner if t.immutable(inner) and rng.random() < 0.4 else rng.choice(SCALARS)
                value = rng.choice(SCALARS) if key is inner else inner
                return t.Map(key, value, mutable=True)
            case "total" | "Mapping":
                small = t.immutable(inner) and inner in KEYS and rng.random() < 0.4
                key, value = (inner, rng.choice(SCALARS)) if small else (rng.choice(KEYS), inner)
                return t.Map(key, value, mutable=outer == "total", total=True)
            case _:
                return t.Bag(inner, most=rng.choice((None, 3)))

    def _recorded(self, fields: tuple[tuple[str, t.Type], ...]) -> t.Record:
        """A record with these fields, which may come after those of one that it inherits from."""
        parents = [r for r in self.records[GIVEN:] if len(r.fields) < 4]
        name = f"R{len(self.records)}"
        if parents and self.rng.random() < 0.3:
            parent = self.rng.choice(parents)
            self.parents[name] = parent.name
            at = len(parent.fields)
            fields = (*parent.fields, *((f"{field}{at}", of) for field, of in fields))
        record = t.Record(name, fields)
        self.records.append(record)
        return record

    def family(self, record: t.Record) -> tuple[str, ...]:
        """The names of a record and of all that it inherits from."""
        names = [record.name]
        while names[-1] in self.parents:
            names.append(self.parents[names[-1]])
        return tuple(names)

    def narrowed(self, kind: t.Type, name: str) -> t.Type:
        """What a value of a type can be where it is an instance of that record."""
        found = [o for o in t.options(kind) if isinstance(o, t.Record)]
        return t.union(tuple(o for o in found if name in self.family(o)))

    def own(self, record: t.Record) -> tuple[tuple[str, t.Type], ...]:
        """The fields of a record that its ancestor has not."""
        above = [r for r in self.records if r.name == self.parents.get(record.name)]
        return record.fields[len(above[0].fields) if above else 0 :]


def annotation(kind: t.Type) -> str:
    """The type as it is written in a declaration."""
    if kind in ALIASES:
        return ALIASES[kind]
    match kind:
        case t.Int():
            return kind.name
        case t.Seq(item=item, mutable=mutable, most=most):
            text = f"list[{annotation(item)}]" if mutable else f"tuple[{annotation(item)}, ...]"
            return text if most is None else f"Annotated[{text}, MaxLen({most})]"
        case t.Set(item=item, mutable=mutable):
            return f"{'set' if mutable else 'frozenset'}[{annotation(item)}]"
        case t.Map(key=key, value=value, mutable=mutable):
            return f"{'dict' if mutable else 'Mapping'}[{annotation(key)}, {annotation(value)}]"
        case t.Bag(item=item, most=most):
            text = f"Counter[{annotation(item)}]"
            return text if most is None else f"Annotated[{text}, MaxLen({most})]"
        case t.Tuple(items=items):
            return f"tuple[{', '.join(map(annotation, items))}]"
        case t.Union(options=options):
            return " | ".join(map(annotation, options))
        case _:
            return str(kind)


def widened(kind: t.Type) -> t.Type:
    """The type that an expression of this type is drawn for: bounds left out at the top."""
    return t.INT if isinstance(kind, t.Int) else kind


def edges(kind: t.Serial) -> tuple[int, ...]:
    """The first serial numbers, those half round, and the last."""
    half = kind.modulus // 2
    return 0, 1, 2, half - 1, half, half + 1, kind.modulus - 1


class Some:
    """Draws values of a type, in its bounds, small; the first ones are the least."""

    def __init__(self, rng: Random, world: World, known: Mapping[str, tuple[Any, ...]]) -> None:
        """`known` are the elements of sorts."""
        self.rng = rng
        self.world = world
        self.known = known

    def few(self) -> int:
        """How many members a family has."""
        return self.rng.randint(0, 2)

    def of(self, kind: t.Type) -> Any:
        """One value, immutable."""
        rng = self.rng
        match kind:
            case t.Timer(ticks=True):
                return rng.choice((None, None, 0, 1, 2))
            case t.Bool() | t.Timer():
                return rng.random() < 0.5
            case t.Clock():
                return rng.randint(0, 3)
            case t.Serial():
                return rng.choice(edges(kind))
            case t.Int(low=low, high=high):
                return rng.randint(-2 if low is None else low, 3 if high is None else high)
            case t.Float():
                return rng.choice((0.0, 0.3, 0.5, 1.5, 2.25, -1.0))
            case t.Text():
                return rng.choice(("", "a", "{x}"))
            case t.Nothing():
                return None
            case t.Enum(name=name, members=members):
                return self.world.enums[name][rng.choice(members)]
            case t.Sort(name=name):
                return rng.choice(self.known[name])
            case t.Opaque():
                return rng.choice(BLOBS)
            case t.Record(name=name, fields=fields):
                return self.world.records[name](*(self.of(of) for _, of in fields))
            case t.Union(options=options):
                return self.of(rng.choice(options))
            case t.Tuple(items=items):
                return tuple(self.of(item) for item in items)
            case _:
                return self._container(kind)

    def _container(self, kind: t.Type) -> Any:
        rng = self.rng
        match kind:
            case t.Seq(item=item, most=most):
                length = rng.randint(0, 3 if most is None else min(3, most))
                return tuple(self.of(item) for _ in range(length))
            case t.Set(item=item):
                return frozenset([self.of(item) for _ in range(rng.randint(0, 3))])
            case t.Bag(item=item):
                held = {self.of(item): 1 for _ in range(rng.randint(0, 2))}
                if held and (kind.most is None or len(held) < kind.most) and rng.random() < 0.5:
                    held[next(iter(held))] = 2
                return FrozenBag(held)
            case t.Map(key=key, value=value, total=True):
                return FrozenMap({k: self.of(value) for k in self.every(key)})
            case t.Map(key=key, value=value):
                held = {self.of(key): self.of(value) for _ in range(rng.randint(0, 3))}
                return FrozenMap(held)
            case _:
                raise AssertionError(kind)

    def every(self, kind: t.Type) -> list[Any]:
        """All values of a type that is a key of total maps."""
        match kind:
            case t.Bool():
                return [False, True]
            case t.Int(low=int() as low, high=int() as high):
                return list(range(low, high + 1))
            case t.Enum(name=name):
                return list(self.world.enums[name])
            case t.Sort(name=name):
                return list(self.known[name])
            case _:
                raise AssertionError(kind)
