"""Instances: the class runs as it stands."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

from lawful.spec import types as t
from lawful.spec.declare import Declaration
from lawful.spec.members import chain_of
from lawful.spec.resolve import resolve
from lawful.spec.words import header

from . import persist, support
from .access import Access as Access
from .access import Door
from .compile import Compiler
from .observed import PART, UNSTARTED
from .persist import Kept
from .plan import Plan, State, Way
from .timers import REAL, Clock, Time
from .views import viewer

Universe = Mapping[type[Any], Any]


class Machine(Declaration):
    """Base of every declaration; see the language page.

    An instance is made with the machine's parameters by keyword. `universe` maps sorts to their
    elements (needed where the machine iterates a sort), `clock` tells the time (by default the
    operating system's monotonic clock). From outside it is read-only: it changes by its events.
    Errors: TypeError for unknown or missing parameters and for values of another type,
    ValueError for values out of bounds and where an `@assume` is false.
    """

    __slots__ = ("_s",)
    _s: State
    lawful: ClassVar[Door] = Door()

    def __init__(
        self, *, universe: Universe | None = None, clock: Clock | None = None, **parameters: Any
    ) -> None:
        plan = self._plan_of_class()
        if plan.abstract:
            raise TypeError(f"{plan.name} is abstract: make an instance of what inherits from it")
        state = plan.state()
        _set_state(self, state)
        state._time = Time(clock if clock is not None else REAL)
        state._universe = _elements(universe)
        state._watch = UNSTARTED if plan.starts else None
        _begin(self, state, parameters)

    # What the runtime itself makes.

    @classmethod
    def _plan_of_class(cls) -> Plan:
        plan = vars(cls).get("_plan")
        return plan if isinstance(plan, Plan) else install(cls)

    @classmethod
    def _bare(cls, universe: Universe | None, clock: Clock | None) -> Self:
        """An instance without values."""
        made = cls.__new__(cls)
        state = cls._plan_of_class().state()
        _set_state(made, state)
        state._time = Time(clock if clock is not None else REAL)
        state._universe = _elements(universe)
        state._watch = state._note = None
        state._odd = False
        return made

    @classmethod
    def _as_part(cls, whole: State, parameters: Mapping[str, Any] | None) -> Self:
        """A part of a whole, on its clock; without values where `parameters` is None."""
        made = cls._bare(None, None)
        state = made._s
        state._time, state._universe, state._watch = whole._time, whole._universe, PART
        if parameters is not None:
            _begin(made, state, parameters)
        return made

    if not TYPE_CHECKING:  # For type checkers fields are plain attributes, and the only ones.

        def __setattr__(self, name: str, value: object) -> None:
            raise AttributeError(_read_only(self, name))

        def __delattr__(self, name: str) -> None:
            raise AttributeError(_read_only(self, name))

    def __eq__(self, other: object) -> bool:
        """Same machine, parameters and variables; of timers, whether they are armed."""
        if type(other) is not type(self):
            return NotImplemented
        return _compared(self) == _compared(other)

    __hash__ = None  # type: ignore[assignment]  # it changes

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(_shown(self))})"

    def __copy__(self) -> Self:
        return self.__deepcopy__({})

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Another instance on the same clock, without observers."""
        made = self._bare(None, self._s._time.clock)
        made._s._universe = self._s._universe
        persist.fill(made, persist.keep(self, 0.0), 0.0)
        if self._s._watch is UNSTARTED:
            made._s._watch = UNSTARTED
        return made

    def __reduce__(self) -> tuple[Callable[..., Machine], tuple[Any, ...]]:
        """By its class and values; it comes back on the real clock, without observers."""
        kept = persist.keep(self, self._s._time.now())
        return _unpickled, (kept, dict(self._s._universe), self._s._watch is UNSTARTED)


_set_state: Callable[[Machine, State], None] = vars(Machine)["_s"].__set__


def _unpickled(kept: Kept, universe: dict[str, Any], unstarted: bool) -> Machine:
    made = kept.cls._bare(None, None)
    made._s._universe = universe
    persist.fill(made, kept, made._s._time.now())
    if unstarted:
        made._s._watch = UNSTARTED
    return made


def _read_only(machine: Machine, name: str) -> str:
    what = f"{type(machine).__name__}.{name}"
    return f"{what} is read-only: a machine changes by its transitions"


def _elements(universe: Universe | None) -> dict[str, tuple[Any, ...]]:
    """The elements of each sort by its name; text is taken for the name of an element."""
    given = (universe or {}).items()
    return {s.__name__: tuple(e if isinstance(e, s) else s(e) for e in all) for s, all in given}


def _begin(machine: Machine, state: State, parameters: Mapping[str, Any]) -> None:
    """Parameters, initial values, assumptions."""
    plan = state._plan
    state._odd = False
    state._note = None
    if parameters and not parameters.keys() <= plan.parameters.keys():
        unknown = ", ".join(sorted(parameters.keys() - plan.parameters.keys()))
        known = ", ".join(plan.parameters) or "none"
        raise TypeError(f"{plan.name} has no parameter {unknown}; its parameters: {known}")
    for name, check in plan.parameters.items():
        if name in parameters:
            setattr(state, name, check(parameters[name]))
        elif name in plan.defaults:
            setattr(state, name, plan.defaults[name])
        else:
            raise TypeError(f"{plan.name} needs its parameter {name}")
    plan.fresh(state)
    for name in plan.assumed:
        if not plan.functions[name](state):
            raise ValueError(f"{plan.name}: the assumption {name} is false of these parameters")


# Putting the compiled methods into the class.


def install(cls: type[Machine]) -> Plan:
    """Compile a class and put the result in its place; `_originals` keeps what was there."""
    resolved = resolve(cls)
    plan = Compiler(resolved).run()
    plan.cls = cls
    plan.abstract = cls._declared.abstract
    members: dict[str, Any] = {}
    for name in plan.variables:
        members[name] = _reader(name, plan.fields[name])
    for name in plan.parameters:
        members[name] = property(operator.attrgetter(f"_s.{name}"))
    for variable in plan.machine.variables:
        if variable.ghost:
            members[variable.name] = _ghost(variable.name)
    for name, gone in _dropped(cls, plan):
        members[name] = gone
    for way in plan.ways.values():
        members[way.name] = _dressed(way, cls)
    for start in plan.starts.values():
        members[start.name] = _starter(start, cls)
    originals = {name: vars(cls)[name] for name in members if name in vars(cls)}
    cls._originals = originals  # type: ignore[attr-defined]  # `members.gather` reads it
    for name, member in members.items():
        setattr(cls, name, member)
    cls._plan = plan  # type: ignore[attr-defined]  # the declarer never sees it
    return plan


def _reader(name: str, kind: t.Type) -> property:
    """How a variable is read from outside."""
    inside = operator.attrgetter(f"_s.{name}")
    view = viewer(kind)
    if view is None:
        return property(inside)
    return property(lambda self: view(inside(self)))


def _ghost(name: str) -> property:
    def read(self: Machine) -> Any:
        raise AttributeError(f"{type(self).__name__}.{name} is a ghost: erased when it runs")

    return property(read)


def _dropped(cls: type[Machine], plan: Plan) -> list[tuple[str, property]]:
    """What ancestors have and this machine has not."""
    gone: list[tuple[str, property]] = []
    for owner in chain_of(cls):
        for name, value in vars(owner).items():
            head = header(value)
            event = head is not None and head.kind in ("transition", "event", "initial")
            if event and name not in plan.ways and name not in plan.starts:
                gone.append((name, _absent(name)))
    return gone


def _absent(name: str) -> property:
    def read(self: Machine) -> Any:
        raise AttributeError(f"{type(self).__name__} has no {name}: it is dropped")

    return property(read)


def _dressed(way: Way, cls: type[Machine]) -> Any:
    """The method, with the name, documentation and annotations that the user wrote."""
    made = way.method
    assert made is not None
    _dress(made, way.name, cls)
    return made


def _dress(made: Any, name: str, cls: type[Machine]) -> None:
    for owner in reversed(chain_of(cls)):
        original = vars(owner).get("_originals", {}).get(name, vars(owner).get(name))
        if callable(original):
            made.__doc__ = original.__doc__
            made.__annotations__ = original.__annotations__
            made.__lawful__ = header(original)
            return


def _starter(start: Way, cls: type[Machine]) -> Any:
    """An `@initial` as a method."""

    def begin(self: Machine, *args: Any) -> None:
        state = self._s
        if state._watch is not UNSTARTED:
            raise RuntimeError(f"{type(self).__name__}.{start.name}: it has started")
        given = tuple(check(arg) for check, arg in zip(start.checks, args, strict=True))
        support.choose(state, start, given)
        state._watch = None

    begin.__name__ = start.name
    _dress(begin, start.name, cls)
    return begin


def _compared(machine: Machine) -> list[Any]:
    state = machine._s
    return [
        _armed(getattr(state, name, support.UNSET), kind)
        for name, kind in state._plan.fields.items()
    ]


def _armed(value: Any, kind: t.Type) -> Any:
    match kind:
        case t.Timer():
            return value is not None
        case t.Map(value=t.Timer()):
            return {k: v is not None for k, v in value.items()}
        case _:
            return value


def _shown(machine: Machine) -> list[str]:
    state = machine._s
    out: list[str] = []
    for name, kind in state._plan.fields.items():
        value = getattr(state, name, support.UNSET)
        if value is not support.UNSET:
            timer = isinstance(kind, t.Timer)
            text = ("armed" if value is not None else "stopped") if timer else repr(value)
            out.append(f"{name}={text}")
    return out
