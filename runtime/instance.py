"""Instances: the class runs as it stands."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable
from typing import Any, ClassVar, Self

from lawful.spec import types as t
from lawful.spec.declare import Declaration, declared, slot
from lawful.spec.representation import shown

from . import persist
from .access import Door
from .choice import UNSET
from .helpers import Untold
from .make import Universe, bare, begin, equip
from .observed import UNSTARTED, Closed
from .persist import Kept
from .plan import State
from .timers import ALL_AROUND, REAL, Around, Clock


class Machine(Declaration, State):
    """Base of every declaration; see the language page.

    An instance is made with the machine's parameters by keyword. `universe` maps sorts to their
    elements (needed where the machine iterates a sort), `clock` tells the time (by default the
    operating system's monotonic clock). From outside it is read-only: it changes by its events.
    Errors: TypeError for unknown or missing parameters and for values of another type,
    ValueError for values out of bounds and where an `@assume` is false.
    """

    __slots__ = ()
    lawful: ClassVar[Door] = Door()

    def __init__(
        self, *, universe: Universe | None = None, clock: Clock | None = None, **parameters: Any
    ) -> None:
        cls = type(self)
        new = "__plan__" not in vars(cls) and not declared(cls).abstract
        if new and universe is None and _in_class_statement(self):
            # A part that a class statement declares is only a mark: its whole makes its own. Its
            # class is compiled then, or when somebody prints the mark.
            self.__watch__ = Mark(clock, parameters)
            return
        try:
            _begin(self, universe, clock, parameters)
        except Untold:
            if universe is not None or not _in_class_statement(self):
                raise

    def __eq__(self, other: object) -> bool:
        """Same machine, parameters and variables; of timers, whether they are armed.

        What a `Clock` shows is no difference: it goes on by itself.
        """
        if type(other) is not type(self):
            return NotImplemented
        return _compared(self) == _compared(other)

    __hash__ = None  # type: ignore[assignment]  # it changes, so it is no key

    def __repr__(self) -> str:
        watch = getattr(self, "__watch__", None)
        if isinstance(watch, Mark):
            with contextlib.suppress(Untold):
                _begin(self, None, watch.clock, watch.parameters)
        return f"{type(self).__name__}({', '.join(_shown(self))})"

    def __copy__(self) -> Self:
        return self.__deepcopy__({})

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Another instance on the same clock, without observers."""
        around = self.__around__
        made = bare(type(self), None, None)
        if around is not ALL_AROUND:
            made.__around__ = Around(around.clock, around.universe)
        persist.fill(made, persist.keep(self, 0.0), 0.0)
        if self.__watch__ is UNSTARTED:
            made.__watch__ = UNSTARTED
        return made

    def __reduce__(self) -> tuple[Callable[..., Machine], tuple[Any, ...]]:
        """By its class and values; it comes back on the real clock, without observers."""
        around = self.__around__
        kept = persist.keep(self, around.now())
        return _unpickled, (kept, dict(around.universe), self.__watch__ is UNSTARTED)


class Mark(Closed):
    """What stands before a part that a class statement declares: no instance of its own."""

    def __init__(self, clock: Clock | None, parameters: dict[str, Any]) -> None:
        super().__init__("it is a part that a class declares, and no instance")
        self.clock = clock
        self.parameters = parameters


def _begin(
    machine: Machine, universe: Universe | None, clock: Clock | None, parameters: dict[str, Any]
) -> None:
    """Make of a new object an instance, with its initial values."""
    plan = equip(machine, universe, clock)
    if plan.abstract:
        raise TypeError(f"{plan.name} is abstract: make an instance of what inherits from it")
    begin(machine, parameters)
    if plan.starts:
        machine.__watch__ = UNSTARTED
        return
    if plan.asserted is not None:
        plan.asserted.but_of_steps().judge(machine, "initial")
    elif universe is None and plan.judged and not plan.plain:
        plan.plain = not (plan.required or plan.assumed or plan.families)
        if plan.plain:
            plan.cls.__init__ = plan.constructor(Machine.__init__)


def _in_class_statement(machine: Machine) -> bool:
    """Whether an instance is made where a class is being declared."""
    frame = inspect.currentframe()
    frame = None if frame is None else frame.f_back
    while frame is not None and frame.f_locals.get("self") is machine:
        frame = frame.f_back
    return frame is not None and "__qualname__" in frame.f_locals


def _unpickled(kept: Kept, universe: dict[str, Any], unstarted: bool) -> Machine:
    made = bare(kept.cls, None, None)
    if universe:
        made.__around__ = Around(REAL, universe)
    persist.fill(made, kept, made.__around__.now())
    if unstarted:
        made.__watch__ = UNSTARTED
    return made


def _compared(machine: Machine) -> list[Any]:
    fields = machine.__plan__.fields
    return [_armed(getattr(machine, slot(name), UNSET), kind) for name, kind in fields.items()]


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
    out: list[str] = []
    for name, kind in machine.__plan__.fields.items():
        value = getattr(machine, slot(name), UNSET)
        if value is not UNSET:
            timer = isinstance(kind, t.Timer)
            text = ("armed" if value is not None else "stopped") if timer else shown(value)
            out.append(f"{name}={text}")
    return out
