"""The reference meaning of expressions: small, slow, obvious.

A machine's state is a tuple: its variables, then its parameters, in the order of the declaration;
a part is such a tuple inside it. While a step runs, machines are lists (`Box`), private to the
step; everything else is an immutable value: frozenset, tuple, `FrozenMap`, `FrozenBag`. A timer
is True while armed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from lawful.spec import ir, ops
from lawful.spec import types as t
from lawful.spec.values import FrozenBag, FrozenMap, World

Env = dict[str, Any]
SELF = ""  # The key of the machine itself in an environment: no local has this name.


class NoValue(Exception):
    """An operation without a value."""


class Guard(Exception):
    """A guard is false: `test` in `env`, or `why` alone."""

    def __init__(self, test: ir.Expr | None, why: ir.Expr | str | None, env: Env) -> None:
        self.test = test
        self.why = why
        self.env = env


class Box(list[Any]):
    """A machine's state while a step changes it."""


PARTIAL = (KeyError, IndexError, ZeroDivisionError, ValueError)


def freeze_bag(items: Any) -> FrozenBag[Any]:
    """A bag of an iterable's elements, or of a mapping's counts."""
    if isinstance(items, dict):
        return FrozenBag({k: n for k, n in items.items() if n})
    counts: dict[Any, int] = {}
    for item in items:
        counts[item] = counts.get(item, 0) + 1
    return FrozenBag(counts)


# The Python meaning of the operators, over immutable values.
NAMES: Mapping[str, Any] = {
    "set": frozenset,
    "list": tuple,
    "dict": FrozenMap,
    "Counter": freeze_bag,
    "sorted": lambda items: tuple(sorted(items)),
    "reversed": lambda items: tuple(reversed(items)),
}


class Meaning:
    """Evaluates expressions of one machine and its parts."""

    def __init__(self, machine: ir.Machine, world: World) -> None:
        self.machine = machine
        self.world = world
        self.machines = {m.name: m for m in (machine, *machine.parts)}
        self.layout = {
            name: {field: i for i, field in enumerate(fields_of(m))}
            for name, m in self.machines.items()
        }
        self.functions = {
            (name, f.name): f
            for name, m in self.machines.items()
            for f in (*m.functions, *(p.function for p in m.properties))
        }
        self._operators: dict[tuple[str, int], Callable[..., Any]] = {}
        self._constants: dict[int, Any] = {}
        self.domains: Callable[[t.Type], tuple[Any, ...]] = lambda _: ()

    def eval(self, e: ir.Expr, env: Env) -> Any:
        """The value; raises NoValue where there is none, Guard for a `needed` that is None."""
        return EVAL[e.__class__](self, e, env)

    def operator(self, op: str, arity: int) -> Callable[..., Any]:
        """The Python function of an operator."""
        key = op, arity
        if key not in self._operators:
            self._operators[key] = _special(op) or ops.meaning(op, arity, dict(NAMES))
        return self._operators[key]

    def constant(self, kind: t.Type, value: ir.Plain) -> Any:
        """The value of a literal."""
        match kind:
            case t.Enum(name=name):
                return self.world.enums[name][str(value)]
            case t.Sort(name=name):
                return self.world.sorts[name](value)
            case _:
                return value

    def bind(self, clause: ir.Clause, env: Env) -> Iterator[Env]:
        """The environments of one clause of a comprehension."""
        names = clause.names
        for item in self.eval(clause.over, env):
            inner = {**env, names[0]: item} if len(names) == 1 else _unpacked(env, names, item)
            if all(self.eval(c, inner) for c in clause.conditions):
                yield inner

    def clauses(self, clauses: tuple[ir.Clause, ...], env: Env) -> Iterator[Env]:
        """The environments of all clauses, inner loops inside outer ones."""
        if not clauses:
            yield env
            return
        for inner in self.bind(clauses[0], env):
            yield from self.clauses(clauses[1:], inner)

    def call(self, function: ir.Function, owner: Any, args: list[Any]) -> Any:
        """The value of a helper that changes nothing."""
        named = dict(zip((n for n, _ in function.params), args, strict=True))
        return self.call_named(function, owner, named)

    def call_named(self, function: ir.Function, owner: Any, args: Mapping[str, Any]) -> Any:
        """The value of a helper or property with its arguments by name."""
        if len(function.body) == 1 and isinstance(function.body[0], ir.Return):
            value = function.body[0].value
            return None if value is None else self.eval(value, {SELF: owner, **args})
        return self.run_pure(function.body, {SELF: owner, **args})

    def run_pure(self, body: tuple[ir.Stmt, ...], env: Env) -> Any:
        """Replaced by the stepper, which knows statements."""
        raise NotImplementedError

    def can(self, part: Any, kind: t.Type, name: str, args: list[Any]) -> bool:
        """Replaced by the stepper, which knows transitions."""
        raise NotImplementedError


def fields_of(machine: ir.Machine) -> tuple[str, ...]:
    """The names of a state's items: variables, then parameters."""
    return (*(v.name for v in machine.variables), *(p.name for p in machine.parameters))


def iterate(value: Any) -> Any:
    """What a loop over a value goes through, in an order that no hash seed decides."""
    if isinstance(value, frozenset):
        return sorted(value, key=order_key)
    return value


def order_key(value: Any) -> tuple[str, Any]:
    """A total order over values of mixed types: by type name, then by value or text."""
    if isinstance(value, int) and not isinstance(value, bool):
        return "int", value
    return value.__class__.__name__, repr(value)


def _unpacked(env: Env, names: tuple[str, ...], item: Any) -> Env:
    return {**env, **dict(zip(names, item, strict=True))}


def _special(op: str) -> Callable[..., Any] | None:
    displays: dict[str, Callable[..., Any]] = {
        "set": lambda *args: frozenset(args),
        "list": lambda *args: args,
        "tuple": lambda *args: args,
        "map": lambda *args: FrozenMap(zip(args[::2], args[1::2], strict=True)),
        "slice": lambda of, low, high: of[low:high],
        "union": lambda a, b: a | b,
    }
    return displays.get(op)


def _const(m: Meaning, e: ir.Const, env: Env) -> Any:
    if isinstance(e.type, t.Enum | t.Sort):
        known = m._constants.get(id(e))
        if known is None:
            known = m._constants[id(e)] = m.constant(e.type, e.value)
        return known
    return e.value


def _local(m: Meaning, e: ir.Local, env: Env) -> Any:
    try:
        return env[e.name]
    except KeyError as error:
        raise NoValue(f"{e.name} has no value yet") from error


def _field(m: Meaning, e: ir.Field, env: Env) -> Any:
    of = m.eval(e.of, env)
    kind = e.of.type
    if isinstance(kind, t.Part):
        return of[m.layout[kind.machine][e.name]]
    if isinstance(kind, t.Timer):
        return of
    return getattr(of, e.name)


def _item(m: Meaning, e: ir.Item, env: Env) -> Any:
    of, key = m.eval(e.of, env), m.eval(e.key, env)
    try:
        return of[key]
    except (KeyError, IndexError) as error:
        raise NoValue(f"there is no item {key!r}") from error


def _op(m: Meaning, e: ir.Op, env: Env) -> Any:
    args = [m.eval(arg, env) for arg in e.args]
    try:
        return m.operator(e.op, len(args))(*args)
    except PARTIAL as error:
        raise NoValue(str(error)) from error


def _and(m: Meaning, e: ir.And, env: Env) -> bool:
    return all(m.eval(arg, env) for arg in e.args)


def _or(m: Meaning, e: ir.Or, env: Env) -> bool:
    return any(m.eval(arg, env) for arg in e.args)


def _if(m: Meaning, e: ir.If, env: Env) -> Any:
    return m.eval(e.then if m.eval(e.test, env) else e.other, env)


def _make(m: Meaning, e: ir.Make, env: Env) -> Any:
    assert isinstance(e.type, t.Record)
    return m.world.records[e.type.name](*[m.eval(arg, env) for arg in e.args])


def _new(m: Meaning, e: ir.New, env: Env) -> Any:
    assert isinstance(e.type, t.Part)
    return m.fresh(e.type.machine, {n: m.eval(a, env) for n, a in e.args})  # type: ignore[attr-defined]  # the stepper has it


def _comp(m: Meaning, e: ir.Comp, env: Env) -> Any:
    inner = m.clauses(e.clauses, env)
    if e.kind == "map":
        assert e.key is not None
        return FrozenMap({m.eval(e.key, i): m.eval(e.element, i) for i in inner})
    if e.kind in ("all", "any") and all(t.ordered(c.over.type) for c in e.clauses):
        fold = all if e.kind == "all" else any
        return fold(m.eval(e.element, i) for i in inner)
    # Over what has no order, defined only if the evaluation for every element is.
    values = [m.eval(e.element, i) for i in inner]
    try:
        return FOLDS[e.kind](values)
    except ValueError as error:
        raise NoValue(f"{e.kind} of nothing") from error


FOLDS: dict[str, Callable[[list[Any]], Any]] = {
    "all": all,
    "any": any,
    "sum": sum,
    "min": min,
    "max": max,
    "set": frozenset,
    "list": tuple,
    "tuple": tuple,
}


def _is_a(m: Meaning, e: ir.IsA, env: Env) -> bool:
    value = m.eval(e.of, env)
    return any(_of_option(m, value, option) for option in e.options)


def _of_option(m: Meaning, value: Any, option: t.Type) -> bool:
    match option:
        case t.Nothing():
            return value is None
        case t.Record(name=name):
            return value.__class__.__name__ == name
        case _:
            return value is not None


def _needed(m: Meaning, e: ir.Needed, env: Env) -> Any:
    value = m.eval(e.of, env)
    if value is None:
        raise Guard(None, e.why, env)
    return value


def _call(m: Meaning, e: ir.Call, env: Env) -> Any:
    args = [m.eval(arg, env) for arg in e.args]
    if e.of is None:
        return m.call(m.functions[m.machine.name, e.function], None, args)
    assert isinstance(e.of.type, t.Part)
    return m.call(m.functions[e.of.type.machine, e.function], m.eval(e.of, env), args)


def _can(m: Meaning, e: ir.Can, env: Env) -> bool:
    args = [m.eval(arg, env) for arg in e.args]
    return m.can(m.eval(e.part, env), e.part.type, e.name, args)


def _domain(m: Meaning, e: ir.Domain, env: Env) -> tuple[Any, ...]:
    assert isinstance(e.type, t.Iter)
    return m.domains(e.type.item)


def _format(m: Meaning, e: ir.Format, env: Env) -> str:
    return "".join(str(m.eval(part, env)) for part in e.parts)


EVAL: dict[type[ir.Expr], Callable[[Meaning, Any, Env], Any]] = {
    ir.Const: _const,
    ir.Local: _local,
    ir.Self: lambda m, e, env: env[SELF],
    ir.Field: _field,
    ir.Item: _item,
    ir.Op: _op,
    ir.And: _and,
    ir.Or: _or,
    ir.If: _if,
    ir.Make: _make,
    ir.New: _new,
    ir.Comp: _comp,
    ir.IsA: _is_a,
    ir.Narrow: lambda m, e, env: m.eval(e.of, env),
    ir.Needed: _needed,
    ir.Can: _can,
    ir.Call: _call,
    ir.Domain: _domain,
    ir.Format: _format,
}
