"""The vocabulary of a declaration: typed for mypy and pyright, without behaviour of its own.

These names only mark parts of a declaration. `parse` and `resolve` read their meaning from the
source, and the engines act on it. `Machine` itself is in `lawful.runtime.instance`, because its
instances run.
"""

from __future__ import annotations

import dataclasses
import enum
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import field
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Literal,
    NoReturn,
    ParamSpec,
    TypeVar,
    dataclass_transform,
    overload,
)

from .errors import misused, nearest
from .quick_dataclass import dataclass
from .sorting import in_order

if TYPE_CHECKING:  # Nobody but a type checker needs this module.
    from datetime import timedelta

T = TypeVar("T")
K = TypeVar("K")
P = ParamSpec("P")
F = TypeVar("F", bound=Callable[..., Any])
Judges = TypeVar("Judges", bound=Callable[..., bool])
Leads = TypeVar("Leads", bound=Callable[..., tuple[bool, bool]])
N = TypeVar("N", bound="OrderedSort")


@dataclass(frozen=True, slots=True)
class Mark:
    """The vocabulary's metadata in an `Annotated`."""

    word: str


Nat = Annotated[int, Mark("nat")]
Param = Annotated[T, Mark("param")]
Ghost = Annotated[T, Mark("ghost")]


@dataclass(frozen=True, slots=True)
class Opaque:
    """Marks a type whose values are only stored, copied, compared and returned."""

    name: str


@dataclass(frozen=True, slots=True)
class Serial:
    """Marks a wrapping serial number of so many bits (RFC 1982): `Annotated[int, Serial(bits=16)]`.

    It is an int from 0 to 2**bits - 1. `a + n` and `a - n` with any integer wrap; `a - b` of two
    is the distance from `b` forward to `a`. Two are compared with `==`, `!=` and `before(a, b)`:
    `<`, `min` and other arithmetic are refused. An int becomes a serial number as a constant in
    range, or added to one. When explored, `Scope(next=3)`, by the name of a field, gives the bits
    of all serial numbers of its width, `Scope(Serial=3)` those of all.
    """

    bits: int


class State(enum.Enum):
    """Base of the enums that are control states."""


class _SortMeta(type):
    def __iter__(cls: type[T]) -> Iterator[T]:
        raise TypeError(
            f"{cls.__name__} has elements only inside a method or a universe; a variable that has"
            " each of them begins as total(value)"
        )

    def __len__(cls) -> int:
        raise TypeError(f"{cls.__name__} has elements only inside a declaration or a universe")


class Sort(str, metaclass=_SortMeta):
    """Base of opaque identities: a `str` at run time, equal only within its own sort. With
    `growing=True` an instance may get more elements later: `lawful.grow(Node, "c")`."""

    __slots__ = ()
    __growing__: ClassVar[bool] = False

    def __init_subclass__(cls, *, growing: bool = False) -> None:
        super().__init_subclass__()
        cls.__growing__ = growing

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and str.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __bool__(self) -> bool:
        return True  # It is there; `if self.owner:` asks whether there is one.

    __hash__ = str.__hash__  # Itself, and no call of it: elements are looked up in every step.

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str.__repr__(self)})"


class OrderedSort(Sort):
    """Base of identities with an order: that of `universe=`, when explored that of the elements.

    In a declaration `<`, `min`, `max`, `sorted` go by it; outside, or without a universe, by text.
    """

    __slots__ = ()


@dataclass_transform(frozen_default=True)
class Record:
    """Base of frozen records; a subclass's annotated fields are its values, in their order."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name in ("__eq__", "__hash__"):
            if name in vars(cls):
                raise TypeError(
                    f"{cls.__name__}.{name}: records are equal where all their fields are; compare"
                    " the fields that count instead"
                )
        dataclasses.dataclass(frozen=True)(cls)

    def replace(self: T, **changes: Any) -> T:
        """A copy with these fields changed."""
        record: Any = self
        copy: T = dataclasses.replace(record, **changes)
        return copy


@dataclass(slots=True)
class Timer:
    """A timer: declared as `Timer()`, started and stopped in bodies.

    `armed` tells whether it runs; `deadline` is the instant it is due, in the clock's seconds.
    `urgent`: where the machine has a `Clock` and is explored, no time passes while it is due.
    """

    urgent: bool = False
    deadline: float | None = None

    @property
    def armed(self) -> bool:
        """Whether the timer runs."""
        return self.deadline is not None

    def start(self, seconds: float | timedelta) -> None:
        """Only inside a transition: arm the timer, due after so many seconds, or after a constant
        span of time."""
        raise RuntimeError("a timer is started inside a transition")

    def stop(self) -> None:
        """Only inside a transition: disarm the timer."""
        raise RuntimeError("a timer is stopped inside a transition")


@dataclass(slots=True)
class Clock:
    """Discrete time, at most one in a machine: declared as `Clock(tick=0.5)`, in seconds.

    `now` is in whole ticks since the instance was made, and never decreases. Explored, a step
    `tick` adds 1, up to the scope.
    """

    tick: float = 1.0

    @property
    def now(self) -> int:
        """The present tick; it does not change inside a step."""
        _inside("Clock")


# What the class statement leaves on a function or in the class body.


@dataclass(frozen=True, slots=True)
class Header:
    """The arguments of a method's decorator; `kind` is the decorator's name."""

    kind: str
    event: str | None = None
    source: tuple[ControlState, ...] | None = None
    target: tuple[ControlState, ...] | None = None
    of: str | None = None
    timer: str | None = None
    fair: Literal["weak", "strong"] | None = None
    choice: bool = False
    refines: type[Any] | None = None


@dataclass(frozen=True, slots=True)
class Ignored:
    """An `ignore(...)` in a class body."""

    event: str
    source: tuple[ControlState, ...] | None
    when: Callable[..., bool] | None
    otherwise: bool
    because: str


@dataclass(frozen=True, slots=True)
class Dropped:
    """A `drop(...)` in a class body: the ancestor's member of that name is left out."""

    name: str


def header(function: object) -> Header | None:
    """The header that a decorator left on a function, if any."""
    found = getattr(function, "__lawful__", None)
    return found if isinstance(found, Header) else None


def _mark(function: F, head: Header) -> F:
    function.__lawful__ = head  # type: ignore[attr-defined]  # functions take attributes
    return function


ControlState = enum.Enum | str  # A member of an enum, or a text of a `Literal`.
States = ControlState | Iterable[ControlState]
Named = str | Callable[..., Any]  # An event or a member: its name, or the method itself.


def _several(word: str, states: States | None) -> tuple[ControlState, ...] | None:
    if states is None or isinstance(states, enum.Enum | str):
        return None if states is None else (states,)
    try:
        return tuple(states)
    except TypeError:
        expected = "a state, or several: (S.A, S.B)"
        raise misused(None, f"{word}={states!r}", expected, again=1) from None


def _name(word: str, given: Named) -> str:
    """The name that is given as a text, or as the method of that name."""
    if not isinstance(given, str) and header(given) is None:
        raise misused(None, f"{word}={given!r}", f'{word}="name"', again=1)
    return given if isinstance(given, str) else given.__name__


HEADER_WORDS = ("source", "target", "event", "of", "timer", "fair")
HEADER = f"the words {', '.join(HEADER_WORDS)}"
TARGETS = ("dest", "to", "destination")  # What other libraries call it.


@overload
def transition(function: F, /) -> F: ...
@overload
def transition(
    *,
    source: States | None = None,
    target: States | None = None,
    event: Named | None = None,
    of: str | None = None,
    timer: str | None = None,
    fair: Literal["weak", "strong"] | None = None,
) -> Callable[[F], F]: ...
def transition(
    function: F | None = None,
    /,
    *others: object,
    source: States | None = None,
    target: States | None = None,
    event: Named | None = None,
    of: str | None = None,
    timer: str | None = None,
    fair: Literal["weak", "strong"] | None = None,
    **unknown: object,
) -> F | Callable[[F], F]:
    """The method is a transition; see the language page, "What a step is"."""
    for word in unknown:
        mend = "target=..." if word in TARGETS else nearest(word, HEADER_WORDS, "leave it out")
        raise misused(None, f"@transition({word}=...)", HEADER, mend)
    if others or not (function is None or callable(function)):
        mend = "write @transition(source=..., target=...)"
        raise misused(None, "@transition with a value that has no word", HEADER, mend)
    places: dict[str, object] = {"of": of, "timer": timer}
    for word, place in places.items():
        if not (place is None or isinstance(place, str)):
            what = f"the place of a {'timer' if word == 'timer' else 'part'} as a text"
            raise misused(None, f"{word}={place!r}", what, f'write {word}="name"')
    if fair not in (None, "weak", "strong"):
        raise misused(None, f"fair={fair!r}", 'fair="weak" or fair="strong"')
    name = None if event is None else _name("event", event)
    head = Header(
        "transition", name, _several("source", source), _several("target", target), of, timer, fair
    )
    return _mark(function, head) if function is not None else lambda f: _mark(f, head)


@overload
def event(function: F, /) -> F: ...
@overload
def event(*, choice: bool = False) -> Callable[[F], F]: ...
def event(function: F | None = None, /, *, choice: bool = False) -> F | Callable[[F], F]:
    """The method, without a body, is the typed way in to an event of several transitions."""
    head = Header("event", choice=choice)
    return _mark(function, head) if function is not None else lambda f: _mark(f, head)


def _property(kind: str) -> Callable[[F], F]:
    def mark(function: F | None = None, *others: object) -> F:
        if others or not callable(function):
            raise misused(None, f"@{kind}(...)", f"@{kind}")
        return _mark(function, Header(kind))

    return mark


def _judging(kind: str) -> Callable[[Judges], Judges]:
    return _property(kind)


def _leading(kind: str) -> Callable[[Leads], Leads]:
    return _property(kind)


initial = _property("initial")
invariant = _judging("invariant")
step_property = _judging("step_property")
reachable = _judging("reachable")
recoverable = _judging("recoverable")
eventually = _judging("eventually")
eventually_always = _judging("eventually_always")
infinitely_often = _judging("infinitely_often")
leads_to = _leading("leads_to")
terminal = _judging("terminal")
assume = _judging("assume")
constraint = _judging("constraint")


# It takes the machine and at most four parameters. It is written out, because checkers infer a
# lambda's types from it.
When = (
    Callable[[Any], bool]
    | Callable[[Any, Any], bool]
    | Callable[[Any, Any, Any], bool]
    | Callable[[Any, Any, Any, Any], bool]
    | Callable[[Any, Any, Any, Any, Any], bool]
)


def ignore(
    event: Named,
    *,
    source: States | None = None,
    when: When | None = None,
    otherwise: bool = False,
    because: str,
) -> Ignored:
    """In a class body: the event is accepted there and nothing changes."""
    return Ignored(_name("event", event), _several("source", source), when, otherwise, because)


def drop(name: Named) -> Dropped:
    """In a class body: leave out the ancestor's transition, property or ignore of that name."""
    return Dropped(_name("name", name))


def _inside(word: str) -> NoReturn:
    raise RuntimeError(
        f"{word} means something only inside a declaration. If a method of a machine calls it:"
        " the method was taken from the class (Machine.event) before the class had an instance;"
        " call it on the instance (machine.event(...))"
    )


# What counts as true or false; of text that is no question.
Condition = int | list[Any] | tuple[Any, ...] | AbstractSet[Any] | Mapping[Any, Any] | Record | None


def require(condition: Condition, why: str = "", /) -> None:
    """A guard: where the condition does not count as true the event is refused with `why`."""
    _inside("require")


def refuse(why: str, /) -> NoReturn:
    """A guard that is false: the event is refused with `why`."""
    _inside("refuse")


def needed(value: T | None, why: str, /) -> T:
    """The value; where it is None the event is refused with `why`."""
    _inside("needed")


def can(transition: Callable[P, object], /, *args: P.args, **named: P.kwargs) -> bool:
    """Whether calling that transition of a part would not be refused."""
    _inside("can")


def implies(a: bool, b: bool, /) -> bool:
    """`not a or b`, with `b` evaluated only where `a` is true (in a declaration)."""
    return not a or b


def total(value: T | Callable[[K], T], /) -> dict[K, T]:
    """In a default: the map that has this value, or this function's value, at every key.

    The class statement evaluates it before the keys are known; the map it gives is only a mark.
    """
    return {}


def rank(element: OrderedSort, /) -> int:
    """In a declaration: the position in `universe=` of an element of an ordered sort, from 0."""
    _inside("rank")


def successor(element: N, /) -> N:
    """In a declaration: the next element of an ordered sort; of the last one the first."""
    _inside("successor")


def predecessor(element: N, /) -> N:
    """In a declaration: the element before one of an ordered sort; of the first one the last."""
    _inside("predecessor")


def before(a: int, b: int, /) -> bool:
    """In a declaration: whether one serial number comes before another (RFC 1982).

    It does if the other is less than half the way round ahead; exactly half the way round, where
    the RFC leaves it open, neither does.
    """
    _inside("before")


def subsets(of: Iterable[T], /) -> Iterable[frozenset[T]]:
    """Every subset of a set, or of all elements of a sort, in no order that means anything."""
    elements = tuple(in_order(of))
    sizes = (itertools.combinations(elements, size) for size in range(len(elements) + 1))
    return map(frozenset, itertools.chain.from_iterable(sizes))


def refines(abstract: type[Any], /) -> Callable[[F], F]:
    """The method gives the abstract machine's state, `Abstract.lawful.state(...)`: where the
    machine starts the abstract one can start, and each step is one of its steps or none."""
    return lambda function: _mark(function, Header("refines", refines=abstract))


class Scope:
    """Bounds for exploration: the keywords are types, fields or parameters; the values are ranges,
    sizes, or the values to try. Names with a dot go into the mapping that is given first."""

    def __init__(
        self,
        dotted: Mapping[str, object] | None = None,
        /,
        expects: Expect | None = None,
        **bounds: object,
    ) -> None:
        self.expects = expects
        self.bounds: dict[str, object] = {**(dotted or {}), **bounds}
        self.inherited = frozenset[str]()  # Keys of an ancestor, of which an heir may drop some.

    def widened(self, changes: Mapping[str, object], heir: frozenset[str] = frozenset()) -> Scope:
        """This scope with some bounds replaced; keys in `heir` are an ancestor's."""
        made = Scope({**self.bounds, **changes}, expects=self.expects)
        made.inherited = (self.inherited - changes.keys()) | heir
        return made

    def __repr__(self) -> str:
        return f"Scope({', '.join(f'{k}={v}' for k, v in self.bounds.items())})"


Expected = str | tuple[str, int]


class Expect:
    """Expected verdicts by property; ("violated", n) fixes the shortest trace's length, too."""

    def __init__(self, **verdicts: Expected) -> None:
        self.verdicts: dict[str, Expected] = dict(verdicts)


@dataclass(frozen=True, slots=True)
class Group:
    """One fairness group: the union of the named transitions."""

    strength: Literal["weak", "strong"]
    names: tuple[str, ...]
    each: tuple[str, ...] | None = field(default=None)


def Weak(*names: str, each: tuple[str, ...] | None = None) -> Group:  # a word of the language
    """Weak fairness: the group is not enabled for ever without being taken."""
    return Group("weak", names, each)


def Strong(*names: str, each: tuple[str, ...] | None = None) -> Group:  # a word of the language
    """Strongly fair: not infinitely often enabled without being taken infinitely often."""
    return Group("strong", names, each)


class Fairness:
    """The fairness that the liveness properties assume."""

    def __init__(self, *groups: Group) -> None:
        self.groups = groups
