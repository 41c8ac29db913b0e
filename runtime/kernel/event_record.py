"""What observers and logs get of an event.

A record is made for each observed event, and most observers read little of it. So it holds what the
event had before and after it, as references, and works its fields out when they are read. A step
never changes a container in place that a record holds. If its own event changed one in place, the
record has what was there before.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, Protocol

from lawful.spec import types as t
from lawful.spec.analysis.callee import bind
from lawful.spec.outcomes import Reason, Refused

from .before_images import BeforeImage, Recorded, images, single_places
from .plan import Way
from .state import State
from .views import viewed

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    M_co = TypeVar("M_co", bound=State, covariant=True, default=Any)
else:  # A default is Python 3.13's; type checkers know it of every version.
    from typing import TypeVar

    M_co = TypeVar("M_co", covariant=True)

Changes = Mapping[str, tuple[Any, Any]]
Outcome = Literal["done", "refused", "ignored"]


class ChangedParts(Protocol):
    """What an event changed of the parts that a variable holds: `part_changes.PartsChange`."""

    put: list[Any]
    gone: list[Any]
    family: bool

    def __len__(self) -> int: ...

    def whole(self) -> Any: ...

    def part(self, key: Any) -> State: ...


class Fields(NamedTuple):
    """The fields of a `Stepped`, which documents them."""

    instance: Any
    event: str
    transition: str | None
    args: Mapping[str, Any]
    outcome: Outcome
    before: str | None
    after: str | None
    changed: Mapping[str, Any]
    output: Any
    reasons: tuple[Reason, ...]
    time: float


class Stepped(Generic[M_co]):
    """One event of one instance, which is an `M_co`; plain `Stepped` is of any machine. It is
    read-only.

    `transition`: the one that ran, or that was called by its own name; otherwise None. `args`: the
    arguments by name. `before` and `after`: names of the control state, None if the machine has
    none. `changed`: the variables whose values have changed, with their new values as code outside
    reads them (a part is a copy). `reasons`: the reasons of a refusal. `time`: seconds of the
    instance's clock.

    For the runtime's own use, `record` is a tuple: instance, way, arguments, the transition that
    ran, the control states before and after, output, refusal, time, the variables that may differ,
    their values before, those after, and the places that were changed in containers. `_moved`
    and `_parts` are there where parts may have changed; `_args`, `_changed` and `_inside` once they
    were read. A slot for each would take longer.
    """

    __slots__ = ("_args", "_changed", "_inside", "_moved", "_parts", "record")

    def __init__(self, of: Fields) -> None:
        params = tuple((name, t.NOTHING) for name in of.args)
        way = Way(of.transition or of.event, of.event, params, t.NOTHING, (), (), (), False)
        ran = of.transition if of.outcome == "done" else None
        refused = Refused("", of.event, "", of.reasons) if of.outcome == "refused" else None
        controls = SimpleNamespace(name=of.before), SimpleNamespace(name=of.after)
        known = way, tuple(of.args.values()), ran, *controls, of.output, refused, of.time
        self.record: tuple[Any, ...] = of.instance, *known, ()
        self._inside: Changes = {}
        self._changed = of.changed

    @classmethod
    def made(
        cls,
        state: Any,
        way: Way,
        given: tuple[Any, ...],
        *,
        ran: str | None,
        controls: tuple[Any, Any],
        values: tuple[Any, ...] = (),
        output: Any = None,
        refused: Refused | None = None,
    ) -> Stepped[Any]:
        """The record of an event that is over, at the present time of the instance. `values` are
        those of the way's variables before and then those after; none if none was changed."""
        done: Stepped[Any] = object.__new__(cls)
        now = state.__environment__.now()
        writes = way.writes if values else ()
        done.record = state, way, given, ran, *controls, output, refused, now, writes, *values
        return done

    def with_parts(self, parts: Mapping[str, ChangedParts], moved: Changes) -> Stepped[M_co]:
        """The record of an event that may have changed parts: they change where they stand, so
        what has changed is known from the start."""
        self._parts, self._moved = parts, moved
        return self

    @property
    def instance(self) -> M_co:
        instance: M_co = self.record[0]
        return instance

    @property
    def event(self) -> str:
        event: str = self.record[1].event
        return event

    @property
    def transition(self) -> str | None:
        _, way, _, ran, _, _, _, refused, *_ = self.record
        name: str | None = way.name if refused is not None and way.name != way.event else ran
        return name

    @property
    def args(self) -> Mapping[str, Any]:
        if not hasattr(self, "_args"):
            self._args = bind(self.record[1].params, self.record[2])
        return self._args

    @property
    def way(self) -> Way:
        """What was called; for the runtime's own use."""
        way: Way = self.record[1]
        return way

    @property
    def given(self) -> tuple[Any, ...]:
        """The arguments in the order of the way's parameters; for the runtime's own use."""
        given: tuple[Any, ...] = self.record[2]
        return given

    @property
    def outcome(self) -> Outcome:
        return "refused" if self.record[7] is not None else "done" if self.record[3] else "ignored"

    @property
    def before(self) -> str | None:
        return getattr(self.record[4], "name", None)

    @property
    def after(self) -> str | None:
        return getattr(self.record[5], "name", None)

    @property
    def changed(self) -> Mapping[str, Any]:
        if not hasattr(self, "_changed"):
            plan, inside, parts = self.instance.__plan__, self.inside, self.parts
            self._changed = {
                name: parts[name].whole()
                if name in parts
                else viewed(inside[name][1], plan.fields[name])
                for name in plan.variables
                if name in inside or name in parts
            }
        return self._changed

    @property
    def output(self) -> Any:
        return self.record[6]

    @property
    def reasons(self) -> tuple[Reason, ...]:
        refused: Refused | None = self.record[7]
        return () if refused is None else refused.reasons

    @property
    def time(self) -> float:
        time: float = self.record[8]
        return time

    @property
    def parts(self) -> Mapping[str, ChangedParts]:
        """The variables whose parts have changed; for the runtime's own use."""
        return getattr(self, "_parts", {})

    @property
    def inside(self) -> Changes:
        """The values before and after, as they are inside, of what has changed and is no part; for
        the runtime's own use."""
        if not hasattr(self, "_inside"):
            moved = self.moved.items()
            self._inside = {name: both for name, both in moved if both[0] != both[1]}
        return self._inside

    @property
    def rows(self) -> list[tuple[str, Any, Any, Recorded]]:
        """The same as rows (variable, value before, value after, place). Where an event did nothing
        to a container but change one place, the value before is the container, and `place` what was
        recorded there; else `place` is None. Not of an event that may have changed parts."""
        of = self.record
        writes: tuple[str, ...] = of[9]
        many = len(writes)
        half, end = 10 + many, 10 + 2 * many
        values = zip(writes, of[10:half], of[half:end])  # noqa: B905  # there are as many
        if len(of) == end:
            return [(name, was, now, None) for name, was, now in values if now is not was]
        single = single_places(writes, of[10:half], of[half:end], of[end:])
        if single is None:
            return [(name, *both, None) for name, both in self.moved.items()]
        get = single.get
        return [(n, was, now, get(n)) for n, was, now in values if now is not was or n in single]

    @property
    def moved(self) -> Changes:
        """The same, with values that are other objects and may be equal: nothing is compared. The
        value before is an image where the event changed a container in place."""
        if hasattr(self, "_moved"):
            return self._moved
        of = self.record
        writes: tuple[str, ...] = of[9]
        out: dict[str, tuple[Any, Any]] = {}
        at, many = 10, len(writes)
        places = of[at + 2 * many :]
        before: dict[str, BeforeImage] = {}
        if places:
            before = images(zip(writes, of[at : at + many], strict=True), places)
        for name in writes:
            was, now = of[at], of[at + many]
            if now is not was:
                out[name] = before[name].whole() if name in before else was, now
            elif name in before:
                out[name] = before[name], now
            at += 1
        return out

    def fields(self) -> Fields:
        """All fields, worked out."""
        return Fields(*(getattr(self, name) for name in Fields._fields))

    def __eq__(self, other: object) -> bool:
        if type(other) is not Stepped:
            return NotImplemented
        return self.fields() == other.fields()

    __hash__ = None  # type: ignore[assignment]  # it has dictionaries

    def __repr__(self) -> str:
        return f"Stepped({self.fields()})"

    def __reduce__(self) -> tuple[type[Stepped[Any]], tuple[Fields]]:
        return type(self), (self.fields(),)
