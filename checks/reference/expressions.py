"""The meaning of expressions in the reference engine: small, slow, obvious.

A machine's state is a tuple: its variables, then its parameters, in the order of the declaration;
a part is such a tuple inside it. While a step runs, machines are lists (`WorkingCopy`), private to
the step; all else is an immutable value: frozenset, tuple, `FrozenMap`, `FrozenBag`. A timer is
True while armed; beside the step `tick`, the ticks until it is due, or None. A clock is its tick.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from lawful.spec import ir, ops
from lawful.spec import types as t
from lawful.spec.analysis.callee import bind
from lawful.spec.text.reasons import spoken
from lawful.spec.values.text import repr_of
from lawful.spec.values.time import counted_by
from lawful.spec.values.world import FrozenMap, World

from .missing_values import PARTIAL, NoValue
from .operators import operator
from .ordering import first, folded, ranked
from .states import WorkingCopy
from .time import any_time, armed_by, ticks_left

Env = dict[str, Any]
Code = Callable[[Env], Any]
SELF = ""  # The key of the machine itself in an environment: no local has this name.


Said = tuple[str, dict[str, ir.Json]]


class Guard(Exception):
    """A guard is false: the expression `test` in `env`, or the text `why`; for a guard of a header,
    `says` is the text of the clause."""

    def __init__(
        self,
        test: ir.Expr | None,
        why: ir.Expr | None,
        env: Env,
        says: Callable[[], Said] | None = None,
    ) -> None:
        self.test = test
        self.why = why
        self.env = env
        self.says = says


class Meaning:
    """Evaluates expressions of one machine and its parts.

    An expression is compiled once to a Python function of its environment, from the functions of
    its operands.
    """

    def __init__(self, machine: ir.Machine, world: World) -> None:
        self.machine = machine
        self.world = world
        self.machines = {m.name: m for m in (machine, *machine.parts, *machine.abstracts)}
        self.layout = {
            name: {field: i for i, field in enumerate(fields_of(m))}
            for name, m in self.machines.items()
        }
        self.functions = {
            (name, f.name): f
            for name, m in self.machines.items()
            for f in (*m.functions, *(p.function for p in m.properties))
        }
        # A function of a module has the same name in every machine that uses it.
        self.module_functions = {f.name: f for m in self.machines.values() for f in m.functions}
        self.domains: Callable[[t.Type], tuple[Any, ...]] = lambda _: ()
        self.counting = counted_by(machine) is not None
        self.stopped: Any = None if self.counting else False  # The value of a stopped timer,
        self.armed: Callable[[float], Any] = armed_by(machine)  # and of one that was started.
        self.left: Callable[[Any], str] = ticks_left if self.counting else any_time
        # The elements of a sort in their order; None where they are not known.
        self.in_rank: Callable[[t.Type], tuple[Any, ...] | None] = self.elements
        # Called in each round of each loop; raises an exception to stop the evaluation.
        self.ask: Callable[[], None] = _go_on
        self._codes: dict[int, tuple[ir.Expr, Code]] = {}

    def eval(self, e: ir.Expr, env: Env) -> Any:
        """The value; raises NoValue where there is none, Guard for a `needed` that is None."""
        return self.code(e)(env)

    def code(self, e: ir.Expr) -> Code:
        """The compiled function of the expression, from environment to value."""
        known = self._codes.get(id(e))
        if known is None:
            # The expression is kept with its code, so that its id stays its own.
            known = self._codes[id(e)] = e, CODE[e.__class__](self, e)
        return known[1]

    def elements(self, kind: t.Type) -> tuple[Any, ...]:
        """Every value of a sort, enum or bool; `domains` may be set after the engine is made."""
        return self.domains(kind)

    def constant(self, kind: t.Type, value: ir.Plain) -> Any:
        """The value of a literal."""
        match kind:
            case t.Enum(name=name):
                return self.world.enums[name][str(value)]
            case t.Sort(name=name):
                return self.world.sorts[name](value)
            case t.Timer():
                return self.stopped
            case _:
                return value

    def clauses(self, clauses: tuple[ir.Clause, ...], env: Env) -> Iterator[Env]:
        """The environments of a comprehension's clauses, inner loops inside outer ones.

        All are the same object, changed in place: read each before you ask for the next.
        """
        first, names = clauses[0], clauses[0].names
        conditions = [self.code(c) for c in first.conditions]
        inner = dict(env)
        ask = self.ask
        for item in self.eval(first.over, env):
            ask()
            if len(names) == 1:
                inner[names[0]] = item
            else:
                inner.update(zip(names, item, strict=True))
            if not all(condition(inner) for condition in conditions):
                continue
            if len(clauses) == 1:
                yield inner
            else:
                yield from self.clauses(clauses[1:], inner)

    def asked(self, items: Iterable[Any]) -> Iterator[Any]:
        """The items; before each, `ask` may stop the evaluation."""
        for item in items:
            self.ask()
            yield item

    def call(self, function: ir.Function, owner: Any, args: list[Any]) -> Any:
        """The value of a helper that changes nothing."""
        return self.call_named(function, owner, bind(function.params, args))

    def call_named(self, function: ir.Function, owner: Any, args: Mapping[str, Any]) -> Any:
        """The value of a helper or property with its arguments by name."""
        if len(function.body) == 1 and isinstance(function.body[0], ir.Return):
            value = function.body[0].value
            return None if value is None else self.eval(value, {SELF: owner, **args})
        return self.run(function.body, {SELF: owner, **args})

    def run(self, body: tuple[ir.Stmt, ...], env: Env) -> Any:
        """Replaced by the stepper, which knows statements."""
        raise NotImplementedError

    def block(self, body: tuple[ir.Stmt, ...], env: Env) -> None:
        """Replaced by the stepper, which knows statements."""
        raise NotImplementedError

    def can(self, part: Any, kind: t.Type, name: str, args: list[Any]) -> bool:
        """Replaced by the stepper, which knows transitions."""
        raise NotImplementedError

    def enabled(self, state: Any, event: str, args: list[Any]) -> bool:
        """Replaced by the stepper, which knows transitions."""
        raise NotImplementedError

    def fresh(self, machine: str, given: Mapping[str, Any]) -> WorkingCopy:
        """Replaced by the stepper, which makes states."""
        raise NotImplementedError


def _go_on() -> None:
    """The default of `ask`: no limit."""


def fields_of(machine: ir.Machine) -> tuple[str, ...]:
    """The names of a state's items: variables, then parameters."""
    return (*(v.name for v in machine.variables), *(p.name for p in machine.parameters))


def _const(m: Meaning, e: ir.Const) -> Code:
    value = m.constant(e.type, e.value)
    return lambda env: value


def _local(m: Meaning, e: ir.Local) -> Code:
    name = e.name

    def code(env: Env) -> Any:
        try:
            return env[name]
        except KeyError as error:
            raise NoValue(f"{name} has no value yet", e) from error

    return code


def _field(m: Meaning, e: ir.Field) -> Code:
    of, name = m.code(e.of), e.name
    kind = e.of.type
    if isinstance(kind, t.Clock):
        return of
    if isinstance(kind, t.Timer):
        stopped = m.stopped
        return lambda env: of(env) is not stopped
    if not isinstance(kind, t.Part):
        return lambda env: getattr(of(env), name)
    at = m.layout[kind.machine][name]
    if isinstance(e.of, ir.Self):
        return lambda env: env[SELF][at]
    return lambda env: of(env)[at]


def _item(m: Meaning, e: ir.Item) -> Code:
    of, key = m.code(e.of), m.code(e.key)

    def code(env: Env) -> Any:
        held, at = of(env), key(env)
        try:
            return held[at]
        except (KeyError, IndexError) as error:
            raise NoValue(f"there is no item {repr_of(at)}", e) from error

    return code


class Asked:
    """An iterable of possibly many items that calls `ask` before each, in every iteration."""

    def __init__(self, m: Meaning, items: Callable[[Any], Iterable[Any]], of: Any) -> None:
        self._m, self._items, self._of = m, items, of

    def __iter__(self) -> Iterator[Any]:
        return self._m.asked(self._items(self._of))


# Operators whose value is only iterated, and operators that iterate an operand.
LAZY = ("reversed", "subsets")
ITERATE = frozenset(name for name, row in ops.TABLE.items() if row.iterates)


def _iterated(m: Meaning, e: ir.Expr) -> Code:
    """An operand to iterate; an iterable that is no collection calls `ask` before each item."""
    of = m.code(e)
    if not isinstance(e.type, t.Iter):
        return of
    return lambda env: m.asked(of(env))


def _op(m: Meaning, e: ir.Op) -> Code:
    by_rank = ranked(e, m.elements, m.in_rank)
    function = by_rank or operator(e.op, len(e.args))
    codes = [_iterated(m, arg) if e.op in ITERATE else m.code(arg) for arg in e.args]
    if e.op in LAZY:
        return lambda env: Asked(m, function, codes[0](env))
    if by_rank is None and (e.op not in ops.TABLE or not ops.TABLE[e.op].partial):
        if len(codes) == 2:
            first, second = codes
            return lambda env: function(first(env), second(env))
        return lambda env: function(*[code(env) for code in codes])

    def code(env: Env) -> Any:
        args = [code(env) for code in codes]
        try:
            return function(*args)
        except PARTIAL as error:
            raise NoValue.of(error, e) from error

    return code


def _and(m: Meaning, e: ir.And) -> Code:
    codes = [m.code(arg) for arg in e.args]
    return lambda env: all(code(env) for code in codes)


def _or(m: Meaning, e: ir.Or) -> Code:
    codes = [m.code(arg) for arg in e.args]
    return lambda env: any(code(env) for code in codes)


def _if(m: Meaning, e: ir.If) -> Code:
    test, then, other = m.code(e.test), m.code(e.then), m.code(e.other)
    return lambda env: then(env) if test(env) else other(env)


def _make(m: Meaning, e: ir.Make) -> Code:
    assert isinstance(e.type, t.Record)
    make, codes = m.world.records[e.type.name], [m.code(arg) for arg in e.args]
    return lambda env: make(*[code(env) for code in codes])


def _new(m: Meaning, e: ir.New | ir.View) -> Code:
    assert isinstance(e.type, t.Part)
    machine, codes = e.type.machine, [(name, m.code(arg)) for name, arg in e.args]
    assumed = m.machines[machine].of_kind("assume") if isinstance(e, ir.New) else ()

    def code(env: Env) -> Any:
        made = m.fresh(machine, {name: code(env) for name, code in codes})
        for p in assumed:
            if not m.call(p.function, made, []):
                raise NoValue(f"the assumption {p.name} of {machine} is false", e)
        return made

    return code


def _comp(m: Meaning, e: ir.Comp) -> Code:
    element, clauses, kind = m.code(e.element), e.clauses, e.kind
    if kind == "map":
        assert e.key is not None
        key = m.code(e.key)
        return lambda env: FrozenMap({key(i): element(i) for i in m.clauses(clauses, env)})
    fold = folded(e, FOLDS[kind], m.in_rank)
    if kind in ("all", "any", "first") and all(t.ordered(c.over.type) for c in clauses):
        return lambda env: fold(element(i) for i in m.clauses(clauses, env))

    def code(env: Env) -> Any:
        # If the collection has no order, defined only if the evaluation for every element is.
        values = [element(i) for i in m.clauses(clauses, env)]
        try:
            return fold(values)
        except ValueError as error:
            raise NoValue(f"{kind} of nothing", e) from error

    return code


FOLDS: dict[str, Callable[[Iterable[Any]], Any]] = {
    "all": all,
    "any": any,
    "sum": sum,
    "min": min,
    "max": max,
    "set": frozenset,
    "list": tuple,
    "tuple": tuple,
    "first": first,
}


def _is_a(m: Meaning, e: ir.IsA) -> Code:
    of, options = m.code(e.of), e.options
    return lambda env: _one_of(of(env), options)


def _one_of(value: Any, options: tuple[t.Type, ...]) -> bool:
    for option in options:
        match option:
            case t.Nothing():
                found = value is None
            case t.Record(name=name):
                found = value.__class__.__name__ == name
            case _:
                found = value is not None
        if found:
            return True
    return False


def _needed(m: Meaning, e: ir.Needed) -> Code:
    of = m.code(e.of)

    def code(env: Env) -> Any:
        value = of(env)
        if value is None:
            raise Guard(None, e.why, env)
        return value

    return code


def _call(m: Meaning, e: ir.Call) -> Code:
    codes = [m.code(arg) for arg in e.args]
    if e.of is None:
        plain = m.module_functions[e.function]
        return lambda env: m.call(plain, None, [code(env) for code in codes])
    assert isinstance(e.of.type, t.Part)
    function, of = m.functions[e.of.type.machine, e.function], m.code(e.of)
    return lambda env: m.call(function, of(env), [code(env) for code in codes])


def _can(m: Meaning, e: ir.Can) -> Code:
    part, codes = m.code(e.part), [m.code(arg) for arg in e.args]
    return lambda env: m.can(part(env), e.part.type, e.name, [code(env) for code in codes])


def _enabled(m: Meaning, e: ir.Enabled) -> Code:
    codes = [m.code(arg) for arg in e.args]
    return lambda env: m.enabled(env[SELF], e.event, [code(env) for code in codes])


def _domain(m: Meaning, e: ir.Domain) -> Code:
    assert isinstance(e.type, t.Iter)
    item = e.type.item
    return lambda env: m.domains(item)


def _format(m: Meaning, e: ir.Format) -> Code:
    codes = [(m.code(part), part.type) for part in e.parts]
    return lambda env: "".join(spoken(code(env), kind) for code, kind in codes)


CODE: dict[type[ir.Expr], Callable[[Meaning, Any], Code]] = {
    ir.Const: _const,
    ir.Local: _local,
    ir.Self: lambda m, e: lambda env: env[SELF],
    ir.Field: _field,
    ir.Item: _item,
    ir.Op: _op,
    ir.And: _and,
    ir.Or: _or,
    ir.If: _if,
    ir.Make: _make,
    ir.New: _new,
    ir.View: _new,
    ir.Comp: _comp,
    ir.IsA: _is_a,
    ir.Narrow: lambda m, e: m.code(e.of),
    ir.Needed: _needed,
    ir.Can: _can,
    ir.Enabled: _enabled,
    ir.Call: _call,
    ir.Domain: _domain,
    ir.Format: _format,
}
