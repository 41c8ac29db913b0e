"""Making instances, and compiling a class: what all instances need with the first of them, the
method of an event when somebody looks it up first."""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Iterable, Mapping
from types import FunctionType
from typing import Any, NoReturn, TypeVar

from lawful.spec import types as t
from lawful.spec.analysis.growth import growing_sorts
from lawful.spec.resolve.resolver import ONE_AT_A_TIME, resolve
from lawful.spec.syntax.declare import Declared, slot
from lawful.spec.syntax.hints import defaults_of, hints_of
from lawful.spec.syntax.members import INHERITED, chain_of
from lawful.spec.words import header

from ..compile.compiler import Compiler
from ..elements import NO_ELEMENTS, Universe, elements_of
from ..kernel.commit import choose, judge_all
from ..kernel.dispatch import NO_VALUE, save, tree, undoing
from ..kernel.operators import breaks_bounds
from ..kernel.plan import Plan, Way
from ..kernel.signal_handlers import let_out
from ..kernel.state import PART, UNSTARTED, State, Watch
from ..kernel.views import viewer
from ..timers import REAL, SHARED_ENVIRONMENT, Clock, Environment, can_tell_time

M = TypeVar("M", bound=State)
Defaults = Mapping[str, Any]
GHOST = "is a ghost: erased when it runs"


def plan_of(cls: type[State]) -> Plan:
    """The plan of a class, compiled if need be; `DeclarationError` with everything wrong in it."""
    plan: Plan | None = vars(cls).get("__plan__")  # Not an ancestor's.
    if plan is not None:
        return plan
    with ONE_AT_A_TIME:
        plan = vars(cls).get("__plan__")
        return install(cls) if plan is None else plan


def bare(
    cls: type[M], universe: Universe | None, clock: Clock | None, given: Iterable[str] = ()
) -> M:
    """An instance without values, of which these parameters will be given."""
    made = cls.__new__(cls)
    equip(made, universe, clock, given)
    return made


def equip(
    machine: State, universe: Universe | None, clock: Clock | None, given: Iterable[str]
) -> Plan:
    """Give a new instance its watch and its environment; the plan of its class. The elements
    that the defaults of the parameters in `given` name do not count."""
    plan = plan_of(type(machine))
    machine.__watch__ = watching(plan)
    if plan.timed or plan.asserted or universe is not None or clock is not None:
        if not can_tell_time(clock):
            raise TypeError(f"{plan.name}: a clock has a method now(), which {clock!r} has not")
        elements = (
            NO_ELEMENTS
            if universe is None
            else elements_of(universe, plan.resolved.world.sorts, plan.name, plan.named(given))
        )
        machine.__environment__ = Environment(REAL if clock is None else clock, elements)
    else:
        machine.__environment__ = SHARED_ENVIRONMENT
    return plan


def watching(plan: Plan) -> Watch | None:
    """The watch of a new instance: None unless properties are asserted."""
    if plan.asserted is None:
        return None
    from .observers import Observed  # A bare instance has no use for it.

    return Observed(plan.asserted)


def part_of(cls: type[M], whole: State, parameters: Mapping[str, Any] | None) -> M:
    """A part of a whole, in its environment; without values where `parameters` is None."""
    plan_of(cls)
    made = cls.__new__(cls)
    made.__environment__ = whole.__environment__
    made.__watch__ = PART
    if parameters is not None:
        _begin_part(made, parameters)
    return made


def maker_of(cls: type[State]) -> Callable[..., Any] | None:
    """The compiled function that makes parts of this class; None where only `part_of` can.

    One part is judged here for all: initial values are the same, except of parts and of what the
    universe gives."""
    plan = plan_of(cls)
    if plan.maker is None or plan.families:
        return None
    made = cls.__new__(cls)
    made.__environment__ = Environment(REAL)
    plan.fresh(made)
    return None if breaks_bounds(made) else plan.maker()


def _begin_part(state: State, parameters: Mapping[str, Any]) -> None:
    """Like `begin`, inside a step of the whole, which checks the bounds at its end."""
    plan = state.__plan__
    plan.fresh(state)
    for name, value in parameters.items():
        setattr(state, slot(name), value)
    assume_own(state)


def begin(
    state: State, parameters: Mapping[str, Any], fresh: Callable[[State], None] | None = None
) -> None:
    """Give a new state its parameters and initial values, and evaluate the assumptions."""
    plan = state.__plan__
    if parameters and not parameters.keys() <= plan.parameters.keys():
        unknown = ", ".join(sorted(parameters.keys() - plan.parameters.keys()))
        known = ", ".join(plan.parameters) or "none"
        raise TypeError(f"{plan.name} has no parameter {unknown}; its parameters: {known}")
    for name in plan.required:
        if name not in parameters:
            raise TypeError(f"{plan.name} needs its parameter {name}")
    (fresh or plan.fresh)(state)
    for name, value in parameters.items():
        setattr(state, slot(name), plan.parameters[name](value, state.__environment__.universe))
    assume_own(state)
    if fresh is None and (plan.families or not plan.judged):
        judge_all(
            state
        )  # Once is enough: initial values are the same, except of parts, which depend on keys.
        plan.judged = True


def assume(state: State) -> None:
    """ValueError where an assumption of the machine or of a part is false of its parameters."""
    for each in tree(state):
        assume_own(each)


def assume_own(state: State) -> None:
    """The same of the machine alone."""
    plan = state.__plan__
    for name in plan.assumed:
        what = f"{plan.name}: the assumption {name}"
        try:
            holds = plan.functions[name](state)
        except NO_VALUE as error:
            let_out(error)
            raise ValueError(f"{what} has no value for these parameters: {error!r}") from error
        if not holds:
            raise ValueError(f"{what} is false of these parameters")


# Putting the compiled methods into the class.


def install(cls: type[State]) -> Plan:
    """Compile a class and replace its methods and variables by what was compiled.

    `__originals__` keeps what the class had under these names, INHERITED where it had nothing.
    """
    plan = Compiler(resolve(cls)).run()
    plan.cls = cls
    declared: Declared = vars(cls)["__declared__"]
    plan.abstract = declared.abstract
    plan.part_of, plan.maker_of = part_of, maker_of
    plan.compiled = functools.partial(_dressed, plan.compiled, cls)
    if growing_sorts(plan.machine):
        from .growth import ways_of_growth  # Few machines have such sorts.

        plan.growth = ways_of_growth(plan)
    members = dict(_members(cls, plan))
    originals = {name: vars(cls).get(name, INHERITED) for name in members}
    for name, member in {**members, "__originals__": originals, "__plan__": plan}.items():
        setattr(cls, name, member)
    return plan


def _members(cls: type[State], plan: Plan) -> list[tuple[str, Any]]:
    """The members of the compiled class, by name."""
    m = plan.machine
    late = {v.name for v in m.variables if v.initial is None}
    return [
        *(
            (name, _reader(name, plan.fields[name], begun=name not in late))
            for name in plan.variables
        ),
        *((name, _reader(name, t.NOTHING)) for name in plan.parameters),
        *((v.name, _absent(v.name, GHOST)) for v in m.variables if v.ghost),
        *((name, _absent(name, "is dropped")) for name in _dropped(cls, plan)),
        *((name, _asked(name, plan, cls)) for name in _readers(cls, plan)),
        *((way.name, _LateMethod(way, plan, cls)) for way in plan.ways.values()),
        *((start.name, _starter(start, cls)) for start in plan.starts.values()),
    ]


def _reader(name: str, kind: t.Type, *, begun: bool = True) -> property:
    """The read-only property of a variable or parameter; `begun`: it always has a value."""
    inside: Callable[[Any], Any] = operator.attrgetter(slot(name))
    view = viewer(kind)
    if not begun:
        inside = _begun_reader(name, inside)

    def refuse(self: State, *_: object) -> NoReturn:
        what = f"{type(self).__name__}.{name}"
        raise AttributeError(f"{what} is read-only: a machine changes by its transitions")

    if view is None:
        return property(inside, refuse, refuse)
    return property(lambda self: view(inside(self)), refuse, refuse)


def _begun_reader(name: str, inside: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Reads a variable that only an `@initial` sets; AttributeError that says so before."""

    def read(self: State) -> Any:
        try:
            return inside(self)
        except AttributeError as error:
            raise _without_value(self, name) from error

    return read


def _without_value(state: State, name: str) -> AttributeError:
    starts = " or ".join(state.__plan__.starts)
    return AttributeError(
        f"{type(state).__name__}.{name} has no value yet: {starts} has to be called first",
        name=name,
        obj=state,
    )


class _absent:  # it is used as a descriptor and shows nowhere
    """A name that the class has lost: reading it raises AttributeError with the reason."""

    def __init__(self, name: str, why: str) -> None:
        self.name = name
        self.why = why

    def __get__(self, instance: object, owner: type[Any]) -> Any:
        raise AttributeError(f"{owner.__name__}.{self.name} {self.why}")


def _dropped(cls: type[State], plan: Plan) -> list[str]:
    """The events that ancestors have and this machine has not."""
    return [
        name
        for owner in chain_of(cls)
        for name, value in vars(owner).items()
        if name not in plan.ways and name not in plan.starts
        if (head := header(value)) is not None
        if head.kind in ("transition", "event", "initial")
    ]


def _readers(cls: type[State], plan: Plan) -> list[str]:
    """The properties and helpers that only read; compiled, they can also iterate sorts."""
    m = plan.machine
    names = [*(p.name for p in m.properties), *(f.name for f in m.functions)]
    own = [name for name in names if isinstance(getattr(cls, name, None), FunctionType)]
    return [name for name in own if plan.only_reads(name)]


def _asked(name: str, plan: Plan, cls: type[State]) -> Callable[..., Any]:
    """A property or helper as a method."""

    original, params = _original(name, cls), _params(plan, name)
    of = params, defaults_of(original)

    def ask(self: State, *args: Any, **named: Any) -> Any:
        given = _completed(name, args, named, of)
        try:
            return self.__plan__.functions[name](self, *given)
        except AttributeError as error:
            unset = [each for each in plan.variables if slot(each) == error.name]
            if not unset or error.obj is not self:
                raise
            raise _without_value(self, unset[0]) from error

    ask.__name__ = name
    _dress(ask, name, cls)
    return ask


def _dressed(compiled: Callable[[str], Any], cls: type[State], name: str) -> Any:
    """The method of an event, with the documentation and annotations that the user wrote."""
    made = compiled(name)
    _dress(made, name, cls)
    return made


class _LateMethod:  # it is used as a descriptor and shows nowhere
    """The method of an event until it is looked up first: it is compiled then and takes this place.

    It is compiled before the call begins, so that the call has the frames of any other.
    """

    def __init__(self, way: Way, plan: Plan, cls: type[State]) -> None:
        self.way, self.plan, self.cls = way, plan, cls
        self.__lawful__ = header(_original(way.name, cls))

    def __get__(self, instance: State | None, owner: type[Any]) -> Any:
        method: Any = self.plan.method(self.way)
        if vars(self.cls).get(self.way.name) is self:  # Nobody has put another one there.
            setattr(self.cls, self.way.name, method)
        return method.__get__(instance, owner)


def _params(plan: Plan, name: str) -> tuple[str, ...]:
    """The names of a property's or helper's parameters."""
    m = plan.machine
    functions = [*(p.function for p in m.properties), *m.functions]
    return next(tuple(n for n, _ in f.params) for f in functions if f.name == name)


def _original(name: str, cls: type[State]) -> FunctionType | None:
    """The function that the user wrote under this name."""
    for owner in reversed(chain_of(cls)):
        original = vars(owner).get("__originals__", {}).get(name, vars(owner).get(name))
        if isinstance(original, FunctionType):
            return original
    return None


def _dress(made: Any, name: str, cls: type[State]) -> None:
    original = _original(name, cls)
    if original is None:
        return
    made.__doc__ = original.__doc__
    made.__annotations__ = dict(hints_of(original))
    made.__lawful__ = header(original)
    plain = inspect.unwrap(made)
    if plain.__code__.co_flags & inspect.CO_VARARGS == 0:  # Others complete their arguments.
        code, given = plain.__code__, defaults_of(original)
        names = code.co_varnames[1 : code.co_argcount]
        plain.__defaults__ = tuple(given[name] for name in names if name in given) or None


def _completed(
    what: str, args: tuple[Any, ...], named: dict[str, Any], of: tuple[tuple[str, ...], Defaults]
) -> tuple[Any, ...]:
    """The arguments in order: those by position, by name, and the defaults of those left out."""
    names, defaults = of
    if len(args) == len(names) and not named:
        return args
    left = names[len(args) :]
    wrong = [name for name in named if name not in left]
    if wrong:
        raise TypeError(f"{what}: an unexpected argument {wrong[0]}")
    both = {**defaults, **named}
    return (*args, *(both[name] for name in left if name in both))


def _starter(start: Way, cls: type[State]) -> Callable[..., None]:
    """An `@initial` as a method."""

    original = _original(start.name, cls)
    of = tuple(name for name, _ in start.params), defaults_of(original)

    def begin(self: State, *given_args: Any, **named: Any) -> None:
        if self.__watch__ is not UNSTARTED:
            raise RuntimeError(f"{cls.__name__}.{start.name}: it has started")
        args = _completed(start.name, given_args, named, of)
        if len(args) != len(start.params):
            raise TypeError(f"{start.name} takes {len(start.params)} arguments, not {len(args)}")
        both = zip(start.checks, args, strict=True)
        given = tuple(check(arg, self.__environment__.universe) for check, arg in both)
        asserted = self.__plan__.asserted
        watch = watching(self.__plan__)
        undo = undoing(save(self, start))
        try:
            choose(self, start, given)
            if asserted is not None:
                from .enforcement import judge  # Few services enforce properties.

                judge(asserted.invariants(), self, start.name)
        except BaseException:
            _ = [*undo]
            raise
        self.__watch__ = watch

    begin.__name__ = start.name
    _dress(begin, start.name, cls)
    return begin
