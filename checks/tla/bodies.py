"""Statements in TLA+: a body becomes one expression, in continuation-passing style.

    IF ~condition THEN Stop("refused") ELSE      a guard, or an expression that may be undefined
    LET self_1 == ... IN                         an assignment
    LET After_1(self_2, n_1) == ... IN           the statements after a branch that both arms reach
    LET RECURSIVE Round_1(_, _) ... IN           a loop
    Done(self_1, value)                          the end: the next state and the output

The statements after a branch or a loop are written once: as an operator (`After_1`) of the state
and of the locals that the branch may change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.places import local_of
from lawful.spec.analysis.walk import everything

from .collections import as_sequence, as_set, in_order, is_sequence
from .comprehensions import bind
from .names import Names
from .places import stored, updated
from .terms import UNSET, Check, Checks, Env, Expression, Operators, Writer, called
from .time import ticked

Lines = list[str]
Then = Callable[[Env], Lines]
INDENT = "  "


@dataclass(frozen=True)
class Continuations:
    """What follows a body: `then` after its last statement, `leave` at a `return`, `stop` at a
    `break`, `again` at a `continue`.

    `later` are the locals that may be read after the body.
    """

    then: Then
    leave: Callable[[str, Env], Lines]
    stop: Then | None = None
    again: Then | None = None
    later: frozenset[str] = frozenset()


class Body(Writer):
    """Writes the statements of one operator."""

    def __init__(self, module: Operators, machine: ir.Machine, names: Names) -> None:
        super().__init__(module, machine, names)
        self.stops: set[str] = set()  # The outcomes with which the body may stop before its end.

    def block(self, body: Sequence[ir.Stmt], env: Env, continuations: Continuations) -> Lines:
        """The statements and their continuation."""
        if not body:
            return continuations.then(env)
        first, rest = body[0], tuple(body[1:])

        def then(on: Env) -> Lines:
            return self.block(rest, on, continuations)

        after = replace(continuations, then=then, later=continuations.later | _locals(rest))
        return STATEMENTS[first.__class__](self, first, env, after)

    def checked(self, checks: Checks, lines: Lines) -> Lines:
        """The lines, behind the checks."""
        return [*(line for c in checks for line in self._check(c.text, c.out)), *lines]

    def _check(self, test: str, out: str) -> Lines:
        self.stops.add(out)
        return [f'IF ~{test} THEN Stop("{out}") ELSE']

    def assign(self, place: ir.Expr, expression: Expression, env: Env, then: Then) -> Lines:
        """An assignment to `place`, and its continuation."""
        root, text, checks = stored(self, place, expression.text, env)
        name = self.names.fresh(root or "self")
        after = env.having(root, name) if root else env.being(name)
        return self.checked(
            (*expression.checks, *checks), [f"LET {name} == {text} IN", *then(after)]
        )

    def into(self, place: ir.Expr | None, text: str, env: Env, then: Then) -> Lines:
        """An assignment of the value of a call to `place`, if there is one."""
        return then(env) if place is None else self.assign(place, Expression(text), env, then)


def _locals(nodes: Sequence[object]) -> frozenset[str]:
    return frozenset(node.name for node in everything(nodes) if isinstance(node, ir.Local))


def indented(lines: Lines) -> Lines:
    """The lines, indented by one level."""
    return [INDENT + line for line in lines]


def _assign(b: Body, s: ir.Assign, env: Env, continuations: Continuations) -> Lines:
    return b.assign(s.target, b.expr(s.value, env), env, continuations.then)


def _unpack(b: Body, s: ir.Unpack, env: Env, continuations: Continuations) -> Lines:
    expression, name = b.expr(s.value, env), b.names.fresh("row")
    after = env
    for i, each in enumerate(s.names, 1):
        after = after.having(each, f"{name}[{i}]")
    return b.checked(
        expression.checks, [f"LET {name} == {expression.text} IN", *continuations.then(after)]
    )


def _update(b: Body, s: ir.Update, env: Env, continuations: Continuations) -> Lines:
    made, gives, checks = updated(b, s, env)
    if s.into is None:
        return b.assign(s.target, Expression(made, checks), env, continuations.then)
    name = b.names.fresh("given")
    lines = b.assign(
        s.target,
        Expression(made),
        env,
        lambda after: b.into(s.into, name, after, continuations.then),
    )
    return b.checked(checks, [f"LET {name} == {gives} IN", *lines])


class _Join:
    """A join point: what follows a branch, as an operator of the state and of locals."""

    def __init__(
        self, b: Body, env: Env, continuations: Continuations, wanted: frozenset[str]
    ) -> None:
        self.b = b
        self.name = b.names.fresh("After")
        self.wanted = sorted(wanted)
        self.continuations = continuations
        self.unset: set[str] = set()
        self.calls = 0

    def call(self, env: Env) -> Lines:
        """A call of the operator: control reaches the join point from here."""
        self.calls += 1
        self.unset.update(n for n in self.wanted if n not in env.locals or n in env.maybe)
        return [f"{self.name}({', '.join(self.given(env))})"]

    def given(self, env: Env) -> list[str]:
        return [env.self, *(env.locals.get(name, UNSET) for name in self.wanted)]

    def params(self, env: Env) -> tuple[list[str], Env]:
        """The parameters of the operator, and the environment inside it."""
        names = [self.b.names.fresh("self"), *map(self.b.names.fresh, self.wanted)]
        inside = env.being(names[0])
        for wanted, name in zip(self.wanted, names[1:], strict=True):
            inside = inside.having(wanted, name)
        return names, replace(inside, maybe=(env.maybe - {*self.wanted}) | self.unset)


def _branch(b: Body, s: ir.Branch, env: Env, continuations: Continuations) -> Lines:
    test = b.expr(s.test, env)
    changed = {name for name in _assigned((*s.then, *s.other)) if name in continuations.later}
    join = _Join(b, env, continuations, frozenset(changed))
    arms = replace(continuations, then=join.call)
    then, other = b.block(s.then, env, arms), b.block(s.other, env, arms)
    if join.calls == 0:
        after = Lines()
    else:
        names, inside = join.params(env)
        after = [
            f"LET {join.name}({', '.join(names)}) ==",
            *indented(indented(continuations.then(inside))),
            "IN",
        ]
    chosen = [f"IF {test.text} THEN", *indented(then), "ELSE", *other]
    return b.checked(test.checks, [*after, *chosen])


def _assigned(body: Sequence[ir.Stmt]) -> frozenset[str]:
    """The locals that statements may assign."""
    found: set[str | None] = set()
    for node in everything(body):
        match node:
            case ir.Unpack(names=names) | ir.Loop(names=names):
                found.update(names)
            case ir.Assign(target=target) | ir.Update(target=target):
                found.add(local_of(target))
            case _:
                pass
        into = getattr(node, "into", None)
        if isinstance(into, ir.Expr):
            found.add(local_of(into))
    return frozenset(name for name in found if name is not None)


def _loop(b: Body, s: ir.Loop, env: Env, continuations: Continuations) -> Lines:
    """A loop over a sequence or a set.

    Over a set the order is left to TLC, unless the loop may stop in two ways, which the order
    could decide: then it has the order of the reference engine.
    """
    if is_sequence(s.over):
        over = as_sequence(b, s.over, env)
        return b.checked(over.checks, _rounds(b, s, env, continuations, over.text)[0])
    over = as_set(b, s.over, env)
    lines, stops = _rounds(b, s, env, continuations, f"{over.text} = {{}}")
    if len(stops) > 1:
        over = in_order(b, s.over, env)
        lines, _ = _rounds(b, s, env, continuations, over.text)
    return b.checked(over.checks, lines)


def _rounds(
    b: Body, s: ir.Loop, env: Env, continuations: Continuations, over: str
) -> tuple[Lines, frozenset[str]]:
    """The recursive operator of a loop, and the outcomes with which a round may stop.

    `over` is a sequence, or a set followed by ` = {}`.
    """
    items, ordered = over.removesuffix(" = {}"), not over.endswith(" = {}")
    changed = _assigned(s.body) & (continuations.later | _locals(s.body))
    changed = (changed - {*s.names}) | ({*s.names} & continuations.later)
    join = _Join(b, env, continuations, changed)
    join.name = b.names.fresh("Round")
    join.unset.update(n for n in join.wanted if n not in env.locals or n in env.maybe)
    left, one = b.names.fresh("left"), b.names.fresh("one")
    names, inside = join.params(env)
    rest = f"Tail({left})" if ordered else f"({left} \\ {{{one}}})"

    def again(after: Env) -> Lines:
        return [f"{join.name}({', '.join([rest, *join.given(after)])})"]

    out = _Join(
        b,
        env,
        continuations,
        frozenset(name for name in join.wanted if name in continuations.later),
    )
    out.unset.update(join.unset)
    outside, after = out.params(env)
    rounds = Continuations(
        again, continuations.leave, out.call, again, continuations.later | _locals(s.body)
    )
    outer, b.stops = b.stops, set()
    body = b.block(s.body, bind(inside, s.names, one), rounds)
    stops, b.stops = frozenset(b.stops), outer | b.stops
    first = f"Head({left})" if ordered else f"CHOOSE {b.names.fresh('any')} \\in {left} : TRUE"
    return [
        f"LET {out.name}({', '.join(outside)}) ==",
        *indented(indented(continuations.then(after))),
        "IN",
        f"LET RECURSIVE {join.name}({', '.join('_' for _ in range(len(names) + 1))})",
        f"    {join.name}({', '.join([left, *names])}) ==",
        *indented(
            indented(
                [
                    f"IF {left} = {'<<>>' if ordered else '{}'} THEN {out.call(inside)[0]} ELSE",
                    f"LET {one} == {first} IN",
                    *body,
                ]
            )
        ),
        "IN",
        f"{join.name}({', '.join([items, *join.given(env)])})",
    ], stops


def _break(b: Body, s: ir.Break, env: Env, continuations: Continuations) -> Lines:
    assert continuations.stop is not None
    return continuations.stop(env)


def _continue(b: Body, s: ir.Continue, env: Env, continuations: Continuations) -> Lines:
    assert continuations.again is not None
    return continuations.again(env)


def _return(b: Body, s: ir.Return, env: Env, continuations: Continuations) -> Lines:
    expression = Expression("None") if s.value is None else b.expr(s.value, env)
    return b.checked(expression.checks, continuations.leave(expression.text, env))


def _require(b: Body, s: ir.Require, env: Env, continuations: Continuations) -> Lines:
    expression = b.expr(s.test, env)
    return b.checked(
        (*expression.checks, *_stop(expression.text, "refused")), continuations.then(env)
    )


def _stop(test: str, out: str) -> Checks:
    return (Check(test, out),)


def _refuse(b: Body, s: ir.Refuse, env: Env, continuations: Continuations) -> Lines:
    b.stops.add("refused")
    return ['Stop("refused")']


def _assert(b: Body, s: ir.Assert, env: Env, continuations: Continuations) -> Lines:
    expression = b.expr(s.test, env)
    return b.checked(
        (*expression.checks, *_stop(expression.text, "asserts")), continuations.then(env)
    )


def _step(b: Body, s: ir.Step, env: Env, continuations: Continuations) -> Lines:
    assert isinstance(s.part.type, t.Part)
    args, checks = b.all((*s.args, s.part), env)
    operator = b.module.entry(s.part.type.machine, s.name)
    call = f"{operator}({', '.join([args[-1], *args[:-1]])})"
    return b.checked(checks, _taken(b, call, s.part, s.into, (env, continuations)))


def _base(b: Body, s: ir.Base, env: Env, continuations: Continuations) -> Lines:
    args, checks = b.all(s.args, env)
    operator = b.module.entry(b.machine.name, s.name)
    call = f"{operator}({', '.join([env.self, *args])})"
    whole = ir.Self(s.place, t.Part(b.machine.name))
    return b.checked(checks, _taken(b, call, whole, s.into, (env, continuations)))


def _do(b: Body, s: ir.Do, env: Env, continuations: Continuations) -> Lines:
    machine, function = called(b, s.call)
    assert s.call.of is not None
    args, checks = b.all((*s.call.args, s.call.of), env)
    operator, plain = b.module.helper(machine.name, function, True)
    call = f"{operator}({', '.join([args[-1], *args[:-1]])})"
    if plain:
        return b.checked(checks, b.into(s.into, call, env, continuations.then))
    return b.checked(checks, _taken(b, call, s.call.of, s.into, (env, continuations)))


def _taken(
    b: Body, call: str, place: ir.Expr, into: ir.Expr | None, at: tuple[Env, Continuations]
) -> Lines:
    """A nested step at `place`: where it stops, the whole step stops; else it changes the place."""
    env, continuations = at
    name = b.names.fresh("step")
    b.stops.update(b.module.stops[call.partition("(")[0]])
    then = b.assign(
        place,
        Expression(f"{name}.to"),
        env,
        lambda after: b.into(into, f"{name}.value", after, continuations.then),
    )
    return [f"LET {name} == {call} IN", f'IF {name}.out # "done" THEN {name} ELSE', *then]


def _tick(b: Body, s: ir.Tick, env: Env, continuations: Continuations) -> Lines:
    test, text = ticked(b, env.self)
    name = b.names.fresh("self")
    after = [f"LET {name} == {text} IN", *continuations.then(env.being(name))]
    return b.checked(() if test is None else _stop(test, "refused"), after)


STATEMENTS: dict[type[ir.Stmt], Callable[[Body, Any, Env, Continuations], Lines]] = {
    ir.Assign: _assign,
    ir.Update: _update,
    ir.Unpack: _unpack,
    ir.Branch: _branch,
    ir.Loop: _loop,
    ir.Break: _break,
    ir.Continue: _continue,
    ir.Return: _return,
    ir.Require: _require,
    ir.Refuse: _refuse,
    ir.Assert: _assert,
    ir.Step: _step,
    ir.Base: _base,
    ir.Do: _do,
    ir.Tick: _tick,
}
