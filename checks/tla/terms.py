"""Expressions in TLA+: their text, and the conditions under which they are defined.

A `Check` is such a condition, with the outcome of the step where it is false: `undefined`, or
`refused` for a `needed`. Checks are in the order of evaluation; each may rely on those before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any, NamedTuple, Protocol

from lawful.spec import ir
from lawful.spec import types as t

from .kinds import NONE, integer, is_of, values
from .names import AND, OR, CannotWrite, Names, quoted, word

UNSET = "Unset"  # The value of a local before its first assignment.


class Check(NamedTuple):
    """A condition, and the outcome of the step where it is false."""

    text: str
    out: str


Checks = tuple[Check, ...]


class Expression(NamedTuple):
    """The text of an expression, with parentheses where needed, and its checks."""

    text: str
    checks: Checks = ()


@dataclass(frozen=True)
class Env:
    """The texts of `self` and of the locals of a body; those in `maybe` may be unassigned.

    `present` is the text of the current tick; None where it cannot be written.
    """

    self: str
    locals: Mapping[str, str] = field(default_factory=dict[str, str])
    maybe: frozenset[str] = frozenset()
    present: str | None = None

    def having(self, name: str, text: str) -> Env:
        """The environment after an assignment to a local."""
        return replace(self, locals={**self.locals, name: text}, maybe=self.maybe - {name})

    def being(self, text: str) -> Env:
        """The environment with another state of the machine."""
        return replace(self, self=text)


class Fresh(NamedTuple):
    """The operator that makes a state with the default values.

    Its parameters are the current tick, if `timed`, and those of the machine. Its value is the
    state, if `plain`, else the record of a step.
    """

    operator: str
    timed: bool
    plain: bool


class Operators(Protocol):
    """The operators of a TLA+ module, as the writer of an expression sees them.

    A definition is written when it is first asked for. Operations and comprehensions are written
    by modules that need `Writer`; `machine.Definitions`, which stands above them all, has them.
    """

    def operation(self, w: Writer, e: ir.Op, env: Env) -> Expression: ...

    def comprehension(self, w: Writer, e: ir.Comp, env: Env) -> Expression: ...

    def fresh_state(self, machine: str) -> Fresh: ...

    def assumption(self, machine: str, state: str) -> str | None: ...

    def entry(self, machine: str, name: str) -> str: ...

    def transition(self, m: ir.Machine, row: ir.Transition) -> str: ...

    def helper(self, machine: str, function: ir.Function, own: bool) -> tuple[str, bool]: ...

    def machine(self, name: str) -> ir.Machine: ...

    def size(self, sort: str) -> int: ...

    def ticks(self, kind: t.Type, text: str) -> str: ...

    @property
    def stops(self) -> Mapping[str, frozenset[str]]: ...

    @property
    def counting(self) -> bool: ...


class Writer:
    """Writes the expressions of one operator of a module."""

    def __init__(self, module: Operators, machine: ir.Machine, names: Names) -> None:
        self.module = module
        self.machine = machine
        self.names = names

    def expr(self, e: ir.Expr, env: Env) -> Expression:
        """The expression in TLA+. Raises CannotWrite for a construct that is not supported."""
        write = WRITE.get(e.__class__)
        if write is None:
            raise unwritten(e, REFUSED[e.__class__])
        return write(self, e, env)

    def all(self, args: Iterable[ir.Expr], env: Env) -> tuple[list[str], Checks]:
        """The texts of the expressions, and all their checks in order."""
        found = [self.expr(arg, env) for arg in args]
        return [expression.text for expression in found], tuple(
            c for expression in found for c in expression.checks
        )

    def stopped(self) -> str:
        """The value of a stopped timer."""
        return NONE if self.module.counting else "FALSE"


def unwritten(e: ir.Node, what: str) -> CannotWrite:
    """The exception for a construct that is not supported, with its place in the source."""
    where = f"{PurePath(e.place.file).name}:{e.place.line}"
    return CannotWrite(f"{where}: {what} is not written in TLA+")


def under(condition: str, checks: Checks) -> Checks:
    """The checks, made only if the condition is true."""
    return tuple(Check(f"({condition} => {c.text})", c.out) for c in checks)


def _const(w: Writer, e: ir.Const, env: Env) -> Expression:
    match e.type, e.value:
        case t.Enum(), value:
            return Expression(quoted(str(value)))
        case t.Sort(), value:
            return Expression(word(str(value)))
        case t.Timer(), _:
            return Expression(w.stopped())
        case _, None:
            return Expression(NONE)
        case _, bool() as value:
            return Expression("TRUE" if value else "FALSE")
        case t.Float(), int() | float() as value:
            return Expression(seconds(value))
        case t.Int(), int() as value:
            return Expression(integer(value))
        case _:
            raise unwritten(e, f"the constant {e.value!r}")


def seconds(value: float) -> str:
    """A number of seconds as a string: TLA+ has no floats, and seconds are only passed on."""
    return f'"{float(value)!r}"'


def _local(w: Writer, e: ir.Local, env: Env) -> Expression:
    if e.name not in env.locals:
        return Expression(UNSET, (Check("FALSE", "undefined"),))
    text = env.locals[e.name]
    maybe = e.name in env.maybe
    return Expression(text, (Check(f"({text} # {UNSET})", "undefined"),) if maybe else ())


def _field(w: Writer, e: ir.Field, env: Env) -> Expression:
    expression = w.expr(e.of, env)
    match e.of.type:
        case t.Clock():
            return expression
        case t.Timer():
            return (
                Expression(f"({expression.text} # {NONE})", expression.checks)
                if w.module.counting
                else expression
            )
        case _:
            return Expression(f"{expression.text}.{word(e.name)}", expression.checks)


def _item(w: Writer, e: ir.Item, env: Env) -> Expression:
    (of, key), checks = w.all((e.of, e.key), env)
    match e.of.type:
        case t.Map():
            if has_every_key(e.of.type):
                return Expression(f"{of}[{key}]", checks)
            return Expression(
                f"{of}[{key}]", (*checks, Check(f"({key} \\in DOMAIN {of})", "undefined"))
            )
        case t.Bag():
            return Expression(f"Count({of}, {key})", checks)
        case t.Tuple(items=items) if isinstance(e.key, ir.Const):
            at = e.key.value
            assert isinstance(at, int)
            return Expression(f"{of}[{at + 1 if at >= 0 else len(items) + at + 1}]", checks)
        case _:
            there = Check(f"HasAt({of}, {key})", "undefined")
            return Expression(f"{of}[At({of}, {key})]", (*checks, there))


def has_every_key(kind: t.Map) -> bool:
    """Whether the map has every key of its type."""
    return kind.total and isinstance(kind.key, t.Sort | t.Enum | t.Bool)


def _and(w: Writer, e: ir.And, env: Env) -> Expression:
    return _short(w, e.args, env, (AND, ""))


def _or(w: Writer, e: ir.Or, env: Env) -> Expression:
    return _short(w, e.args, env, (OR, "~"))


def _short(w: Writer, args: Sequence[ir.Expr], env: Env, how: tuple[str, str]) -> Expression:
    """Short-circuit evaluation: an argument's checks count where those before do not decide."""
    sign, but = how
    before: list[str] = []
    checks: list[Check] = []
    for arg in args:
        expression = w.expr(arg, env)
        given = f"({AND.join(before)})"
        checks.extend(under(given, expression.checks) if before else expression.checks)
        before.append(f"{but}{expression.text}")
    texts = [text.removeprefix(but) for text in before] if but else before
    return Expression(f"({sign.join(texts)})", tuple(checks))


def _if(w: Writer, e: ir.If, env: Env) -> Expression:
    test, then, other = (w.expr(part, env) for part in (e.test, e.then, e.other))
    checks = (*test.checks, *under(test.text, then.checks), *under(f"~{test.text}", other.checks))
    return Expression(f"(IF {test.text} THEN {then.text} ELSE {other.text})", checks)


def _make(w: Writer, e: ir.Make, env: Env) -> Expression:
    assert isinstance(e.type, t.Record)
    texts, checks = w.all(e.args, env)
    names = [word(name) for name, _ in e.type.fields]
    rows = [f"{name} |-> {text}" for name, text in zip(names, texts, strict=True)]
    return Expression(f"[{', '.join([f'is |-> {quoted(e.type.name)}', *rows])}]", checks)


def _new(w: Writer, e: ir.New, env: Env) -> Expression:
    assert isinstance(e.type, t.Part)
    machine = e.type.machine
    texts, checks = w.all([arg for _, arg in e.args], env)
    given = dict(zip([name for name, _ in e.args], texts, strict=True))
    fresh, args = w.module.fresh_state(machine), list[str]()
    if fresh.timed:
        if env.present is None:
            raise unwritten(e, "a part with a clock, made where no clock is at hand,")
        args.append(env.present)
    for p in w.module.machine(machine).parameters:
        expression = Expression(given[p.name]) if p.name in given else _default(w, p)
        args.append(expression.text)
        checks = (*checks, *expression.checks)
    made = f"{fresh.operator}({', '.join(args)})" if args else fresh.operator
    if not fresh.plain:
        checks = (*checks, Check(f'({made}.out = "done")', "undefined"))
        made = f"{made}.to"
    assumed = w.module.assumption(machine, made)
    return Expression(made, (*checks, *(() if assumed is None else (Check(assumed, "undefined"),))))


def _default(w: Writer, p: ir.Parameter) -> Expression:
    if p.default is None:
        raise unwritten(p, f"a part without a value of {p.name}")
    return w.expr(p.default, Env(""))


def _is_a(w: Writer, e: ir.IsA, env: Env) -> Expression:
    text, checks = w.expr(e.of, env)
    if t.NOTHING in e.options:
        none = f"({text} = {NONE})"
        others = [is_of(text, option) for option in e.options if option != t.NOTHING]
        found = " \\/ ".join([none, *others])
        return Expression(f"({found})", checks)
    found = " \\/ ".join(is_of(text, option) for option in e.options)
    optional = t.NOTHING in t.options(e.of.type)
    return Expression(f"({text} # {NONE} /\\ ({found}))" if optional else f"({found})", checks)


def _needed(w: Writer, e: ir.Needed, env: Env) -> Expression:
    text, checks = w.expr(e.of, env)
    return Expression(text, (*checks, Check(f"({text} # {NONE})", "refused")))


def _can(w: Writer, e: ir.Can, env: Env) -> Expression:
    assert isinstance(e.part.type, t.Part)
    texts, checks = w.all((e.part, *e.args), env)
    operator = w.module.entry(e.part.type.machine, e.name)
    return Expression(f'({operator}({", ".join(texts)}).out # "refused")', checks)


def _enabled(w: Writer, e: ir.Enabled, env: Env) -> Expression:
    texts, checks = w.all(e.args, env)
    args = ", ".join((env.self, *texts))
    rows = w.machine.serving(e.event)
    taken = [f'({w.module.transition(w.machine, row)}({args}).out # "refused")' for row in rows]
    return Expression(f"({OR.join(taken)})" if taken else "FALSE", checks)


def _call(w: Writer, e: ir.Call, env: Env) -> Expression:
    machine, function = called(w, e)
    texts, checks = w.all((*(() if e.of is None else (e.of,)), *e.args), env)
    operator, plain = w.module.helper(machine.name, function, e.of is not None)
    text = f"{operator}({', '.join(texts)})" if texts else operator
    if plain:
        return Expression(text, checks)
    stops = [
        Check(f"({text}.out # {quoted(out)})", out) for out in sorted(w.module.stops[operator])
    ]
    return Expression(f"{text}.value", (*checks, *stops))


def called(w: Writer, e: ir.Call) -> tuple[ir.Machine, ir.Function]:
    """The machine and the function that a call names; see `ir.Call`."""
    machine = w.machine
    if e.of is not None:
        assert isinstance(e.of.type, t.Part)
        machine = w.module.machine(e.of.type.machine)
    rows = (*machine.functions, *(p.function for p in machine.properties))
    return machine, next(f for f in rows if f.name == e.function)


def _domain(w: Writer, e: ir.Domain, env: Env) -> Expression:
    assert isinstance(e.type, t.Iter)
    item = e.type.item
    if e.type.ordered and isinstance(item, t.Sort):
        return Expression(f"{word(item.name)}_order")
    if e.type.ordered and isinstance(item, t.Enum):
        return Expression(f"<<{', '.join(map(quoted, item.members))}>>")
    if e.type.ordered:
        raise unwritten(e, f"the order of {item}")
    return Expression(values(item))


WRITE: dict[type[ir.Expr], Callable[[Writer, Any, Env], Expression]] = {
    ir.Const: _const,
    ir.Local: _local,
    ir.Self: lambda w, e, env: Expression(env.self),
    ir.Field: _field,
    ir.Item: _item,
    ir.Op: lambda w, e, env: w.module.operation(w, e, env),
    ir.And: _and,
    ir.Or: _or,
    ir.If: _if,
    ir.Make: _make,
    ir.New: _new,
    ir.Comp: lambda w, e, env: w.module.comprehension(w, e, env),
    ir.IsA: _is_a,
    ir.Narrow: lambda w, e, env: w.expr(e.of, env),
    ir.Needed: _needed,
    ir.Can: _can,
    ir.Enabled: _enabled,
    ir.Call: _call,
    ir.Domain: _domain,
}

REFUSED: dict[type[ir.Expr], str] = {
    ir.View: "a state of an abstract machine",
    ir.Format: "text",
}
