"""The types of the language, as the IR knows them.

    Type   := Bool | Int | Serial | Enum | Literal | Sort | Opaque | Float | Text | Nothing
            | Record | Union | Tuple | Seq | Set | Map | Bag | Iter
            | Timer | Clock | Part

`Union` holds records and at most one `Nothing`. `Seq` is a `list[T]` when mutable and a
`tuple[T, ...]` otherwise. `Iter` is what can only be iterated (`range`, `items()`); `Text`
occurs in reasons and outputs; a `Part` is a machine inside a machine. A `Clock` counts ticks.
"""

from __future__ import annotations

from collections.abc import Iterator

from .quick_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Type:
    """Base of all types; equal types are the same type."""


@dataclass(frozen=True, slots=True)
class Bool(Type):
    def __str__(self) -> str:
        return "bool"


@dataclass(frozen=True, slots=True)
class Int(Type):
    """Integers from `low` to `high` inclusive, None being unbounded; `name` is `Nat` or `int`."""

    low: int | None = None
    high: int | None = None
    name: str = "int"

    def __str__(self) -> str:
        if self.high is None and (self.low is None or self.name == "Nat"):
            return self.name
        return f"{self.name}[{self.low}..{self.high}]"


@dataclass(frozen=True, slots=True)
class Serial(Int):
    """Wrapping serial numbers (RFC 1982), made by `serial`.

    Engines see the bounded integers that they are; in bodies they fit no other integer.
    """

    @property
    def modulus(self) -> int:
        """How many numbers there are: one more than the greatest."""
        return (self.high or 0) + 1

    @property
    def bits(self) -> int:
        return self.modulus.bit_length() - 1

    def __str__(self) -> str:
        return f"Serial(bits={self.bits})"


@dataclass(frozen=True, slots=True)
class Enum(Type):
    """An `Enum` class by its name; `members` are the members' names in their order."""

    name: str
    members: tuple[str, ...]

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Literal(Enum):
    """Some texts, a `Literal` of Python: each is a member, in the order of texts. Their values are
    `spec.values.literal_texts`, which are equal to the texts."""

    def __str__(self) -> str:
        return f"Literal[{', '.join(map(repr, self.members))}]"


@dataclass(frozen=True, slots=True)
class Sort(Type):
    """Opaque identities; elements of an ordered sort have ranks, a growing one may get more."""

    name: str
    ordered: bool = False
    growing: bool = False

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Opaque(Type):
    """Values that are only stored, copied and compared; `name` is the key in the scope."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Float(Type):
    def __str__(self) -> str:
        return "float"


@dataclass(frozen=True, slots=True)
class Text(Type):
    def __str__(self) -> str:
        return "str"


@dataclass(frozen=True, slots=True)
class Nothing(Type):
    def __str__(self) -> str:
        return "None"


@dataclass(frozen=True, slots=True)
class Record(Type):
    """A frozen record; `fields` are (name, type) in their order."""

    name: str
    fields: tuple[tuple[str, Type], ...]

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Union(Type):
    """A value of one of `options`: records, and `Nothing` at most once."""

    options: tuple[Type, ...]

    def __str__(self) -> str:
        return " | ".join(str(option) for option in self.options)


@dataclass(frozen=True, slots=True)
class Tuple(Type):
    items: tuple[Type, ...]

    def __str__(self) -> str:
        return f"tuple[{', '.join(str(item) for item in self.items)}]"


@dataclass(frozen=True, slots=True)
class Seq(Type):
    """`list[T]` where mutable, `tuple[T, ...]` otherwise; `most` is `MaxLen`, if given."""

    item: Type
    mutable: bool
    most: int | None = None

    def __str__(self) -> str:
        return f"list[{self.item}]" if self.mutable else f"tuple[{self.item}, ...]"


@dataclass(frozen=True, slots=True)
class Set(Type):
    item: Type
    mutable: bool

    def __str__(self) -> str:
        return f"{'set' if self.mutable else 'frozenset'}[{self.item}]"


@dataclass(frozen=True, slots=True)
class Map(Type):
    """`dict[K, V]` where mutable, `Mapping[K, V]` otherwise; a total map has every key."""

    key: Type
    value: Type
    mutable: bool
    total: bool = False

    def __str__(self) -> str:
        return f"{'dict' if self.mutable else 'Mapping'}[{self.key}, {self.value}]"


@dataclass(frozen=True, slots=True)
class Bag(Type):
    """`collections.Counter[T]`: an element with count 0 is absent; `most` bounds the total."""

    item: Type
    most: int | None = None

    def __str__(self) -> str:
        return f"Counter[{self.item}]"


@dataclass(frozen=True, slots=True)
class Iter(Type):
    """A value that can only be iterated: `range`, `items()`, `values()`, `sorted`."""

    item: Type
    ordered: bool

    def __str__(self) -> str:
        return f"Iterable[{self.item}]"


@dataclass(frozen=True, slots=True)
class Timer(Type):
    """A timer; with `ticks` (exploration with a clock) it counts the ticks until it is due."""

    urgent: bool = False
    ticks: bool = False

    def __str__(self) -> str:
        return "Timer"


@dataclass(frozen=True, slots=True)
class Clock(Type):
    """Discrete time in ticks of so many seconds; `most` is the scope's last tick."""

    tick: float = 1.0
    most: int | None = None

    def __str__(self) -> str:
        return "Clock" if self.most is None else f"Clock[0..{self.most}]"


@dataclass(frozen=True, slots=True)
class Part(Type):
    """A machine inside a machine, by the key of `ir.Machine.parts`."""

    machine: str

    def __str__(self) -> str:
        return self.machine


@dataclass(frozen=True, slots=True)
class Unknown(Type):
    """The type of what was refused: it fits everywhere, so that one mistake gives one problem."""

    def __str__(self) -> str:
        return "what was refused"


NAT = Int(0, None, "Nat")
INT = Int()
BOOL = Bool()
NOTHING = Nothing()
TEXT = Text()
FLOAT = Float()
LEAST_BITS, MOST_BITS = 2, 128  # Bits of serial numbers: with one, none comes before another.


def serial(bits: int) -> Serial:
    """The serial numbers of so many bits."""
    return Serial(0, 2**bits - 1, "Serial")


def options(type: Type) -> tuple[Type, ...]:
    """The alternatives of a union, or the type alone."""
    return type.options if isinstance(type, Union) else (type,)


def union(members: tuple[Type, ...]) -> Type:
    """The union of `members`: flattened, without repeats; the one member where only one is left."""
    flat: list[Type] = []
    for member in members:
        flat.extend(option for option in options(member) if option not in flat)
    return flat[0] if len(flat) == 1 else Union(tuple(flat))


def part_of(type: Type) -> Part | None:
    """The machine that a variable of this type is, or that each member of its family is."""
    of = type.value if isinstance(type, Map) else type
    return of if isinstance(of, Part) else None


def proper_union(type: Type) -> bool:
    """Whether values show their alternative: records, or one other type, and None."""
    some = [option for option in options(type) if not isinstance(option, Nothing | Unknown)]
    return len(some) <= 1 or all(isinstance(option, Record) for option in some)


def element(type: Type) -> Type | None:
    """What iterating over a value of this type yields, or None if it cannot be iterated."""
    match type:
        case Set(item=item) | Seq(item=item) | Bag(item=item) | Iter(item=item):
            return item
        case Map(key=key):
            return key
        case Tuple(items=items) if items:
            return union(tuple(map(widened, items)))
        case _:
            return None


def ordered(type: Type) -> bool:
    """Whether iterating over a value of this type has an order of its own."""
    return isinstance(type, Seq | Tuple) or (isinstance(type, Iter) and type.ordered)


def immutable(type: Type) -> bool:
    """Whether values of this type can be stored in records, sets and keys."""
    match type:
        case Seq(mutable=True) | Set(mutable=True) | Map(mutable=True) | Bag():
            return False
        case Timer() | Clock() | Part():
            return False
        case Iter():
            return True
        case _:
            return all(map(immutable, children(type)))


def fits(value: Type, place: Type) -> bool:
    """Whether a value of type `value` fits a declared type `place`; bounds are ignored."""
    match value, place:
        case (Unknown(), _) | (_, Unknown()):
            return True
        case (Serial(), Int() | Float()) | (Int(), Serial()):
            return value == place
        case Int(), Int():
            return True
        case Int(), Float():
            return True
        case Union(options=members), _:
            return all(fits(member, place) for member in members)
        case _, Union(options=members):
            return any(fits(value, member) for member in members)
        case Tuple(items=mine), Tuple(items=theirs):
            return len(mine) == len(theirs) and all(map(fits, mine, theirs))
        case Tuple(items=mine), Seq(item=item, mutable=False):
            return all(fits(each, item) for each in mine)
        case Seq(item=mine), Seq(item=theirs):
            return value.mutable == place.mutable and fits(mine, theirs)
        case Set(item=mine), Set(item=theirs):
            return value.mutable == place.mutable and fits(mine, theirs)
        case Map(), Map():
            same = (value.mutable or not place.mutable) and value.total >= place.total
            return same and fits(value.key, place.key) and fits(value.value, place.value)
        case Bag(item=mine), Bag(item=theirs):
            return fits(mine, theirs)
        case _:
            return value == place


def finite(type: Type) -> bool:
    """Whether a type has finitely many values without a bound given by a scope on integers."""
    match type:
        case Int(low=low, high=high):
            return low is not None and high is not None
        case Seq(most=None) | Bag(most=None):
            return False
        case Float() | Text() | Iter() | Timer() | Clock() | Part() | Unknown():
            return False
        case _:
            return all(map(finite, children(type)))


def orderable(type: Type) -> bool:
    """Whether values of this type have an order: integers, ordered sorts, tuples of them."""
    match type:
        case Serial():
            return False
        case Int() | Sort(ordered=True) | Unknown():
            return True
        case Tuple(items=items):
            return all(map(orderable, items))
        case _:
            return False


def by_rank(type: Type) -> bool:
    """Whether values that have an order have it by the ranks of elements in them."""
    return orderable(type) and contains(type, Sort)


def alike(left: Type, right: Type) -> bool:
    """Whether some value could be of both types, so that comparing them means something."""
    match left, right:
        case Set(item=mine), Set(item=theirs):
            return alike(mine, theirs)
        case (Map(value=Timer() | Part()), _) | (_, Map(value=Timer() | Part())):
            return False
        case (Seq(), Seq()) | (Map(), Map()) | (Bag(), Bag()) | (Tuple(), Tuple()):
            return fits(left, right) or fits(right, left)
        case (Iter() | Timer() | Clock() | Part(), _) | (_, Iter() | Timer() | Clock() | Part()):
            return False
        case _:
            return any(fits(a, b) or fits(b, a) for a in options(left) for b in options(right))


def widened(kind: Type) -> Type:
    """Values in the middle of a body are plain integers."""
    match kind:
        case Serial():
            return kind
        case Int():
            return INT
        case Tuple(items=items):
            return Tuple(tuple(map(widened, items)))
        case Union(options=options):
            return union(tuple(map(widened, options)))
        case _:
            return kind


def children(type: Type) -> tuple[Type, ...]:
    """The types directly inside a type: of elements, keys, values and fields; none for a part."""
    match type:
        case Seq(item=item) | Set(item=item) | Bag(item=item) | Iter(item=item):
            return (item,)
        case Map(key=key, value=value):
            return (key, value)
        case Tuple(items=inner) | Union(options=inner):
            return inner
        case Record(fields=fields):
            return tuple(of for _, of in fields)
        case _:
            return ()


def inside(kind: Type) -> Iterator[Type]:
    """The type, and every type in it, outer before inner; not into parts."""
    yield kind
    for each in children(kind):
        yield from inside(each)


def contains(found: Type, kind: type[Type]) -> bool:
    """Whether a type is, or has inside it, one of that kind."""
    waiting = [found]
    while waiting:
        each = waiting.pop()
        if isinstance(each, kind):
            return True
        waiting += children(each)
    return False
