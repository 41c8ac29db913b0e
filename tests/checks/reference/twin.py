"""Python itself as the judge: a declaration's own methods, run as Python runs them.

A twin is a plain object with ordinary values. Its methods are the declaration's, with the words
replaced: `require` and `needed` raise, `can` tries a copy. Nothing of the engines is used.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from lawful.checks.reference import Reference
from lawful.checks.reference.states import freeze
from lawful.spec import ir, words
from lawful.spec import types as t
from lawful.spec.analysis.named_elements import explored, named_elements
from lawful.spec.resolve import Resolved, resolve
from lawful.spec.syntax.hints import defaults_of
from lawful.spec.syntax.members import chain_of, vars_before
from lawful.spec.values.bounds import Values, breach
from lawful.spec.values.literal_texts import member
from lawful.spec.values.world import FrozenBag, FrozenMap, chosen
from tests.checks.reference import shims
from tests.checks.reference.shims import Armed, Clock, Counting, Wrapping, copied, tick
from tests.checks.reference.sorts import elements
from tests.checks.reference.stops import (
    FAULTS,
    UNDEFINED,
    Counted,
    OutOfTarget,
    Several,
    Stop,
    undefined_by,
)


def _within(
    real: types.FunctionType, around: dict[str, Any], cells: tuple[types.CellType, ...] | None
) -> types.FunctionType:
    """The function with other globals and other cells."""
    made = types.FunctionType(real.__code__, around, real.__name__, real.__defaults__, cells)
    made.__kwdefaults__ = real.__kwdefaults__
    return made


def _globals(real: Mapping[str, Any], makers: Mapping[Any, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name, value in real.items():
        if isinstance(value, type) and value in makers:
            out[name] = makers[value]
        elif isinstance(value, types.ModuleType) and value.__name__ == "lawful":
            out[name] = shims.Words(value)
        elif isinstance(value, types.FunctionType) and value.__module__ == real.get("__name__"):
            out[name] = _within(value, out, value.__closure__)
        else:
            out[name] = shims.shim(value)
    return out


def _parts(resolved: Resolved) -> Iterator[tuple[str, type[Any]]]:
    """The classes of the parts, and of theirs."""
    names = {part.name for part in resolved.machine.parts}
    for name, part in resolved.parts.items():
        if name not in names:
            continue
        yield name, part
        yield from _parts(resolve(part))


def _told(kind: t.Type) -> bool:
    """Whether a value of another class of Python may stand for something in it."""
    return t.contains(kind, t.Serial) or t.contains(kind, t.Text)


class Twin:
    """The twin classes of a machine and its parts, and one step of an instance."""

    def __init__(self, cls: type[Any], sizes: Mapping[str, int], machine: ir.Machine) -> None:
        self.resolved: Resolved = resolve(cls)
        self.machine = machine
        named = named_elements(machine)
        sorts = [kind.name for kind in machine.types if isinstance(kind, t.Sort)]
        self.known = {name: explored(name, sizes[name], named) for name in sorts}
        self.machines = {m.name: m for m in (self.machine, *self.machine.parts)}
        self.unset = {
            name: {
                v.name
                for v in m.variables
                if v.initial is None and t.immutable(v.type) and not t.fits(t.NOTHING, v.type)
            }
            for name, m in self.machines.items()
        }
        self.kinds: dict[str, list[tuple[str, t.Type]]] = {}
        ticks = [v.type.tick for v in self.machine.variables if isinstance(v.type, t.Clock)]
        self.tick = ticks[0] if ticks else None
        self.reference = Reference(self.machine, self.resolved.world)
        self.reference.domains = Values(
            self.resolved.world, dict(sizes), self.resolved.world.elements(self.known.items())
        ).of
        kinds = (k for k in self.machine.types if isinstance(k, t.Record))
        self.wrapping = {k.name: k for k in kinds if t.contains(k, t.Serial)}
        parts = dict(_parts(self.resolved))
        # What it refines is no part: it is made as it is.
        own = {name: part for name, part in parts.items() if name in self.machines}
        self.makers = {part: self._maker(name) for name, part in own.items()}
        self.classes: dict[str, type[Any]] = {self.machine.name: self._twin(cls)}
        for name, part in own.items():
            self.classes[name] = self._twin(part)

    def _maker(self, name: str) -> Callable[..., Any]:
        """Makes a twin of a part from its defaults, as its class would a part."""

        def make(**parameters: Any) -> Any:
            made = self.instance(name, freeze(self.reference.fresh(name, parameters)))
            for p in self.machines[name].of_kind("assume"):
                if not getattr(made, p.name)():
                    raise ValueError(p.name)
            return made

        return make

    def _twin(self, cls: type[Any]) -> type[Any]:
        made: type[Any] = object
        ignored: dict[str, words.Ignored] = {}
        for owner in chain_of(cls):
            made = type(owner.__name__, (made,), {"__deepcopy__": copied})
            for name, real in vars_before(owner).items():
                if isinstance(real, types.FunctionType) and not name.startswith("__"):
                    setattr(made, name, self._method(real, made))
                elif isinstance(real, property) and isinstance(real.fget, types.FunctionType):
                    setattr(made, name, property(self._method(real.fget, made)))
                elif isinstance(real, staticmethod):
                    setattr(made, name, staticmethod(self._method(getattr(cls, name), made)))
                elif not name.startswith("_") and not isinstance(real, words.Scope):
                    setattr(made, name, real)
                ignored.pop(name, None)
                if isinstance(real, words.Ignored):
                    ignored[name] = real
        machine = resolve(cls).machine
        named = [row.name for row in machine.transitions if hasattr(made, row.name)]
        rows = {name: getattr(made, name) for name in named}
        made.__rows__ = rows
        for event in machine.events:
            several = [rows[row.name] for row in machine.serving(event.name) if row.name in rows]
            others = [row for row in ignored.values() if row.event == event.name]
            if len(several) != 1 or others or event.name not in rows:
                setattr(made, event.name, self._dispatch(event.name, several, others))
        serials = {n: k for n, k in self._fields(machine.name) if isinstance(k, t.Serial)}
        if serials:
            made.__setattr__ = self._keeping(serials)
        return made

    def _keeping(self, serials: Mapping[str, t.Type]) -> Any:
        """How a twin is assigned to: what is declared as a serial number is one."""

        def keep(twin: Any, name: str, value: Any) -> None:
            kind = serials.get(name)
            object.__setattr__(twin, name, value if kind is None else self.thawed(value, kind))

        return keep

    def _around(self, real: Mapping[str, Any]) -> dict[str, Any]:
        """What a function of the declaration sees of its module."""
        found = _globals(real, self.makers)
        for name, value in found.items():
            if isinstance(value, words.Record) and type(value).__name__ in self.wrapping:
                found[name] = self.thawed(value, self.wrapping[type(value).__name__])
        return found

    def _method(self, real: types.FunctionType, made: type[Any]) -> Any:
        head = words.header(real)
        cells: list[types.CellType] = []
        for name, cell in zip(real.__code__.co_freevars, real.__closure__ or (), strict=True):
            cells.append(types.CellType(made) if name == "__class__" else cell)
        function = _within(real, self._around(real.__globals__), tuple(cells))
        if head is None or head.kind != "transition":
            return function
        return _transition(function, head)

    def _dispatch(
        self, name: str, rows: list[Callable[..., Any]], ignored: list[words.Ignored]
    ) -> Callable[..., Any]:
        """An event: the one transition that is enabled, a faulty one too; else what ignores it."""

        def run(twin: Any, *args: Any) -> Any:
            taken: list[tuple[Any, Any, Exception | None]] = []
            for row in rows:
                trial = copied(twin)
                try:
                    taken.append((row(trial, *args), trial, None))
                except Stop:
                    continue
                except FAULTS as fault:
                    taken.append((None, trial, fault))
            if len(taken) > 1:
                raise Several
            if taken:
                output, trial, stopped = taken[0]
                if stopped is not None:
                    raise stopped
                twin.__dict__.update(trial.__dict__)
                return output
            for other in ignored:
                at = shims.control_of(twin, other.source)
                here = other.source is None or getattr(twin, at) in other.source
                when: Any = other.when
                if here and (when is None or self._unmarked(when)(twin, *args)):
                    return None
            raise Stop

        run.__name__ = name
        return run

    def _unmarked(self, function: types.FunctionType) -> Callable[..., Any]:
        """The function with the words replaced."""
        return _within(function, self._around(function.__globals__), function.__closure__)

    # Values in and out.

    def thawed(self, value: Any, kind: t.Type) -> Any:
        """The mutable value of a field for an immutable one."""
        match kind:
            case t.Part(machine=name):
                return self.instance(name, value)
            case t.Timer():
                return Armed(value) if self.tick is None else Counting(value, self.tick)
            case t.Clock():
                return Clock(value)
            case t.Literal():
                return str(value)
            case t.Serial(bits=bits):
                return Wrapping.of(value, bits)
            case t.Set(item=item, mutable=True):
                return {self.thawed(v, item) for v in value}
            case t.Seq(item=item, mutable=True):
                return [self.thawed(v, item) for v in value]
            case t.Map(key=key, value=of, mutable=True):
                return {self.thawed(k, key): self.thawed(v, of) for k, v in value.items()}
            case t.Bag(item=item):
                return Counted({self.thawed(k, item): n for k, n in value.items()})
            case t.Record(fields=fields) if t.contains(kind, t.Serial):
                given = {name: self.thawed(getattr(value, name), of) for name, of in fields}
                return dataclasses.replace(value, **given)
            case _ if value is not None and t.contains(kind, t.Serial):
                return self._inside(value, kind)
            case _:
                return value

    def _inside(self, value: Any, kind: t.Type) -> Any:
        """The value of an immutable type with the serial numbers in it as such."""
        match kind:
            case t.Union():
                return self.thawed(value, chosen(value, kind))
            case t.Tuple(items=items):
                return tuple(self.thawed(v, of) for v, of in zip(value, items, strict=True))
            case t.Seq(item=item):
                return tuple(self.thawed(v, item) for v in value)
            case t.Set(item=item):
                return frozenset(self.thawed(v, item) for v in value)
            case t.Map(key=key, value=of):
                rows = value.items()
                return FrozenMap({self.thawed(k, key): self.thawed(v, of) for k, v in rows})
            case _:
                return value

    def frozen(self, value: Any, kind: t.Type) -> Any:
        """The immutable value of a field."""
        match kind:
            case t.Part(machine=name):
                return self.state(name, value)
            case t.Timer():
                return value.value
            case t.Clock():
                return value.now
            case t.Literal(members=texts):
                return member(texts, value)
            case t.Serial():
                return int(value)
            case t.Text():
                return str.__str__(value)  # Of a member that is text, its text.
            case t.Set(item=item):
                return frozenset(self.frozen(v, item) for v in value)
            case t.Seq(item=item):
                return tuple(self.frozen(v, item) for v in value)
            case t.Map(key=key, value=of):
                rows = value.items()
                return FrozenMap({self.frozen(k, key): self.frozen(v, of) for k, v in rows})
            case t.Bag(item=item):
                return FrozenBag({self.frozen(k, item): n for k, n in value.items() if n})
            case t.Record(fields=fields) if _told(kind):
                given = {name: self.frozen(getattr(value, name), of) for name, of in fields}
                return dataclasses.replace(value, **given)
            case t.Union() if isinstance(value, str) and t.TEXT in t.options(kind):
                return self.frozen(value, t.TEXT)
            case t.Union() if value is not None and _told(kind):
                return self.frozen(value, chosen(value, kind))
            case t.Tuple() if _told(kind):
                return self._plain(value, kind)
            case _:
                return value

    def _plain(self, value: Any, kind: t.Tuple) -> Any:
        return tuple(self.frozen(v, of) for v, of in zip(value, kind.items, strict=True))

    def _fields(self, machine: str) -> list[tuple[str, t.Type]]:
        if machine not in self.kinds:
            m = self.machines[machine]
            rows = [(v.name, v.type) for v in m.variables]
            self.kinds[machine] = rows + [(p.name, p.type) for p in m.parameters]
        return self.kinds[machine]

    def instance(self, machine: str, state: tuple[Any, ...]) -> Any:
        """A twin in that state."""
        made = self.classes[machine]()
        for (name, kind), value in zip(self._fields(machine), state, strict=True):
            if value is None and name in self.unset[machine]:
                continue  # What only an `@initial` assigns has no value yet.
            setattr(made, name, self.thawed(value, kind))
        return made

    def state(self, machine: str, twin: Any) -> tuple[Any, ...]:
        """The state of a twin."""
        return tuple(self.frozen(getattr(twin, n), k) for n, k in self._fields(machine))

    def step(
        self, state: tuple[Any, ...], name: str, args: tuple[Any, ...]
    ) -> tuple[str, Any, Any]:
        """("done", state, output), or the kind of failure with None and None."""
        if name == "tick" and self.tick is not None:
            return self._ended(state, lambda twin: tick(twin, self._fields, self.machine.name))
        function = self.machine.transition(name).function
        given = self._all_given(function, args)
        rows: dict[str, Callable[..., Any]] = self.classes[self.machine.name].__rows__
        return self._ended(state, lambda twin: rows[name](twin, *given), function.output)

    def start(
        self, state: tuple[Any, ...], function: ir.Function, args: tuple[Any, ...]
    ) -> tuple[str, Any, Any]:
        """The same of an `@initial`, from the state that the defaults give."""
        given = self._all_given(function, args)
        return self._ended(state, lambda twin: getattr(twin, function.name)(*given))

    def _all_given(self, function: ir.Function, args: tuple[Any, ...]) -> tuple[Any, ...]:
        kinds = (kind for _, kind in function.params)
        return tuple(self._given(v, k) for v, k in zip(args, kinds, strict=True))

    def _ended(
        self, state: tuple[Any, ...], run: Callable[[Any], Any], kind: t.Type = t.NOTHING
    ) -> tuple[str, Any, Any]:
        """What comes of it in a twin in this state; `kind` is that of the output."""
        twin = self.instance(self.machine.name, state)
        clocks = [v.name for v in self.machine.variables if isinstance(v.type, t.Clock)]
        self.reference.present = getattr(twin, clocks[0]).now if clocks else 0
        with elements(self.known):
            try:
                output = run(twin)
            except Stop:
                return "refused", None, None
            except AssertionError:
                return "asserts", None, None
            except OutOfTarget:
                return "bounds", None, None
            except Several:
                return "ambiguous", None, None
            except UNDEFINED as error:
                return undefined_by(error), None, None
        after = self.state(self.machine.name, twin)
        if self._breach(self.machine.name, after):
            return "bounds", None, None
        if output is not None:
            output = self.frozen(output, kind)
            if breach(output, kind):
                return "bounds", None, None
        return "done", after, output

    def _given(self, value: Any, kind: t.Type) -> Any:
        """An argument: plain, but for serial numbers and the state after a step."""
        plain = not t.contains(kind, t.Serial) and not isinstance(kind, t.Part)
        return value if plain else self.thawed(value, kind)

    def _breach(self, machine: str, state: tuple[Any, ...]) -> bool:
        rows: list[tuple[t.Type, Any]] = []
        for (_, kind), value in zip(self._fields(machine), state, strict=True):
            part = t.part_of(kind)
            if part is None:
                rows.append((kind, value))
                continue
            members = value.values() if isinstance(kind, t.Map) else (value,)
            if any(self._breach(part.machine, member) for member in members):
                return True
            if isinstance(kind, t.Map):
                rows += [(kind.key, key) for key in value]
        return any(breach(value, kind) is not None for kind, value in rows)

    def holds(self, name: str, state: tuple[Any, ...], *more: Any) -> Any:
        """The value of a property, or "undefined"."""
        twin = self.instance(self.machine.name, state)
        row = next(p for p in self.machine.properties if p.name == name)
        given = self._all_given(row.function, more)
        with elements(self.known):
            try:
                return getattr(twin, name)(*given)
            except UNDEFINED as error:
                return undefined_by(error)


def _transition(function: types.FunctionType, head: words.Header) -> Callable[..., Any]:
    """The method with its header: source, timer, body, target."""
    code = function.__code__
    params = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]

    def place(self: Any, args: tuple[Any, ...], text: str) -> Any:
        try:
            return eval(f"self.{text}", {}, {"self": self, **dict(zip(params, args, strict=True))})
        except UNDEFINED as error:
            raise Stop from error

    def run(self: Any, *args: Any, **words_: Any) -> Any:
        named = {**defaults_of(function), **words_}
        args = (*args, *(named[p] for p in params[len(args) :]))
        of = shims.control_of(self, head.source or head.target, head.of)
        if head.of is not None:
            place(self, args, of)  # A key that is missing refuses, also without a source.
        if head.source is not None and place(self, args, of) not in head.source:
            raise Stop
        if head.timer is not None:
            timer = place(self, args, head.timer)
            if not timer.due():
                raise Stop
            timer.stop()
        output = function(self, **dict(zip(params, args, strict=True)))
        if head.target is not None and len(head.target) == 1:
            given = {"self": self, "_value": head.target[0]}
            try:
                exec(f"self.{of} = _value", {}, given | dict(zip(params, args, strict=True)))
            except UNDEFINED as error:
                raise Stop from error
        elif head.target is not None and place(self, args, of) not in head.target:
            raise OutOfTarget
        return output

    run.__name__ = function.__name__
    return run
