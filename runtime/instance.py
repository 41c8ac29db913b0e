"""Instances: the class runs as it stands."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Self

from lawful.spec import types as t
from lawful.spec.declare import Declaration, declared
from lawful.spec.representation import shown

from . import persist
from .access import Door
from .arguments import NO_ELEMENTS
from .choice import UNSET
from .helpers import Untold
from .make import REAL_TIME, Universe, bare, begin, equip, plan_of
from .observed import UNSTARTED
from .persist import Kept
from .plan import Plan, State
from .timers import REAL, Clock, Time


class Machine(Declaration):
    """Base of every declaration; see the language page.

    An instance is made with the machine's parameters by keyword. `universe` maps sorts to their
    elements (needed where the machine iterates a sort), `clock` tells the time (by default the
    operating system's monotonic clock). From outside it is read-only: it changes by its events.
    Errors: TypeError for unknown or missing parameters and for values of another type,
    ValueError for values out of bounds and where an `@assume` is false.
    """

    __slots__ = ("__state__",)
    __state__: State
    __plan__: ClassVar[Plan | None] = None
    lawful: ClassVar[Door] = Door()

    def __init__(
        self, *, universe: Universe | None = None, clock: Clock | None = None, **parameters: Any
    ) -> None:
        plan = type(self).__plan__
        plain = plan is not None and plan.plain and plan.cls is type(self)
        if plan is not None and plain and universe is None and clock is None and not parameters:
            # As `equip` and `begin`, without the calls: these were most of what an instance cost.
            state = plan.state()
            HOLD(self, state)
            state.__time__ = Time(REAL) if plan.timed else REAL_TIME
            state.__universe__ = NO_ELEMENTS
            state.__watch__ = state.__note__ = None
            state.__odd__ = False
            plan.fresh(state)
            return
        new = (plan is None or plan.cls is not type(self)) and not declared(type(self)).abstract
        if new and universe is None and _in_class_statement():
            # A part that a class statement declares is only a mark: its whole makes its own. Its
            # class is compiled then, or when somebody prints the mark. (That nothing else looks
            # for a missing state is on purpose: with `__getattr__` every event would be slower.)
            object.__setattr__(self, "_mark", (clock, parameters))
            return
        try:
            self._begin(universe, clock, parameters)
        except Untold:
            if universe is not None or not _in_class_statement():
                raise

    def _begin(
        self, universe: Universe | None, clock: Clock | None, parameters: dict[str, Any]
    ) -> None:
        plan = plan_of(type(self))
        if plan.abstract:
            raise TypeError(f"{plan.name} is abstract: make an instance of what inherits from it")
        state = equip(self, universe, clock)
        begin(state, parameters)
        if plan.starts:
            state.__watch__ = UNSTARTED
            return
        if plan.asserted is not None:
            plan.asserted.but_of_steps().judge(self, "initial")
        elif universe is None and plan.judged:
            plan.plain = not (plan.required or plan.assumed or plan.families)

    if not TYPE_CHECKING:  # For type checkers fields are plain attributes, and the only ones.

        def __setattr__(self, name: str, value: object) -> None:
            raise AttributeError(_read_only(self, name))

        def __delattr__(self, name: str) -> None:
            raise AttributeError(_read_only(self, name))

    def __eq__(self, other: object) -> bool:
        """Same machine, parameters and variables; of timers, whether they are armed.

        What a `Clock` shows is no difference: it goes on by itself.
        """
        if type(other) is not type(self):
            return NotImplemented
        return _compared(self) == _compared(other)

    __hash__ = None  # type: ignore[assignment]  # it changes, so it is no key

    def __repr__(self) -> str:
        mark = self.__dict__.pop("_mark", None)
        if mark is not None:
            with contextlib.suppress(Untold):
                self._begin(None, *mark)
        return f"{type(self).__name__}({', '.join(_shown(self))})"

    def __copy__(self) -> Self:
        return self.__deepcopy__({})

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Another instance on the same clock, without observers."""
        mine = self.__state__
        made = bare(type(self), None, mine.__time__.clock)
        made.__state__.__universe__ = mine.__universe__
        persist.fill(made, persist.keep(self, 0.0), 0.0)
        if mine.__watch__ is UNSTARTED:
            made.__state__.__watch__ = UNSTARTED
        return made

    def __reduce__(self) -> tuple[Callable[..., Machine], tuple[Any, ...]]:
        """By its class and values; it comes back on the real clock, without observers."""
        state = self.__state__
        kept = persist.keep(self, state.__time__.now())
        return _unpickled, (kept, dict(state.__universe__), state.__watch__ is UNSTARTED)


def _in_class_statement() -> bool:
    """Whether an instance is made where a class is being declared."""
    frame = inspect.currentframe()
    for _ in range(2):
        frame = None if frame is None else frame.f_back
    return frame is not None and "__qualname__" in frame.f_locals


def _unpickled(kept: Kept, universe: dict[str, Any], unstarted: bool) -> Machine:
    made = bare(kept.cls, None, None)
    state = made.__state__
    state.__universe__ = universe
    persist.fill(made, kept, state.__time__.now())
    if unstarted:
        state.__watch__ = UNSTARTED
    return made


def _read_only(machine: Machine, name: str) -> str:
    what = f"{type(machine).__name__}.{name}"
    return f"{what} is read-only: a machine changes by its transitions"


def _compared(machine: Machine) -> list[Any]:
    state = machine.__state__
    return [
        _armed(getattr(state, name, UNSET), kind) for name, kind in state.__plan__.fields.items()
    ]


def _armed(value: Any, kind: t.Type) -> Any:
    match kind:
        case t.Timer():
            return value is not None
        case t.Clock():
            return None
        case t.Map(value=t.Timer()):
            return {k: v is not None for k, v in value.items()}
        case _:
            return value


def _shown(machine: Machine) -> list[str]:
    state = machine.__state__
    out: list[str] = []
    for name, kind in state.__plan__.fields.items():
        value = getattr(state, name, UNSET)
        if value is not UNSET:
            timer = isinstance(kind, t.Timer)
            text = ("armed" if value is not None else "stopped") if timer else shown(value)
            out.append(f"{name}={text}")
    return out


HOLD = vars(Machine)["__state__"].__set__  # The slot's own, past `__setattr__`.
