"""The definitions of a module: one operator for each transition, helper and property in use.

A state of a machine, also of a part, is a record of its variables and parameters. It is the first
parameter of each operator. The value of a step is a record: see `Done` and `Stop` in
`prelude.HELPERS`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.callee import One, Several, Start, callee
from lawful.spec.analysis.effects import acts
from lawful.spec.analysis.headers import Becomes, Firing, Source, StaysAmong, entry, leaving
from lawful.spec.analysis.walk import everything
from lawful.spec.flat import Flat
from lawful.spec.values.time import clock_of, counted_by

from .bodies import Body, Continuations, Lines, indented
from .comprehensions import comprehension
from .kinds import NONE, both, within
from .names import CannotWrite, Names, quoted, word
from .operators import operation
from .prelude import HELPERS
from .terms import Check, Env, Expression, Fresh, Writer, unwritten
from .time import due

Params = tuple[tuple[str, t.Type], ...]


class Definitions:
    """The definitions of a module, each after those that it uses."""

    def __init__(self, flat: Flat) -> None:
        self.flat = flat
        self.whole = flat.machine
        self.counting = counted_by(self.whole) is not None
        self.texts: list[str] = []
        self.names = Names(None, [*HELPERS, NONE, "Unset"])
        machines = (self.whole, *self.whole.parts)
        self.machines = {m.name: m for m in machines}
        self.names.prefixes = tuple(f"{word(m.name)}_" for m in machines)
        self.stops: dict[
            str, frozenset[str]
        ] = {}  # For each operator the outcomes with which it may stop.
        self._known: dict[tuple[str, ...], tuple[str, bool]] = {}
        self._fields = {(m, v): kind for m, v, kind in flat.fields}

    def machine(self, name: str) -> ir.Machine:
        """The machine of that name."""
        return self.machines[name]

    def size(self, sort: str) -> int:
        """How many elements of a sort are explored."""
        return len(dict(self.flat.elements)[sort])

    def ticks(self, kind: t.Type, text: str) -> str:
        """The number of ticks after which a timer is due."""
        return due(self.flat, kind, text)

    def operation(self, w: Writer, e: ir.Op, env: Env) -> Expression:
        """The text of an operation."""
        return operation(w, e, env)

    def comprehension(self, w: Writer, e: ir.Comp, env: Env) -> Expression:
        """The text of a comprehension."""
        return comprehension(w, e, env)

    def body(self, machine: ir.Machine, around: Names | None = None) -> Body:
        """A writer for one operator; names in `around` are bound outside of its text."""
        return Body(self, machine, Names(around or self.names))

    def write(self, name: str, params: Sequence[str], lines: Lines) -> None:
        """Add a definition."""
        head = f"{name}({', '.join(params)})" if params else name
        self.texts.append("\n".join([f"{head} ==", *indented(lines)]))

    def _once(self, key: tuple[str, ...], make: Callable[[str], bool]) -> tuple[str, bool]:
        """The name of a definition and the value of `make`, which is called once for each key."""
        if key not in self._known:
            name = self.names.claim("_".join(map(word, key[1:])))
            self._known[key] = name, False
            self._known[key] = name, make(name)
        return self._known[key]

    # Steps.

    def entry(self, machine: str, name: str) -> str:
        """The operator of a transition, an event, a start or an ancestor's transition."""
        m = self.machines[machine]
        base = next((row for row in m.bases if row.name == name), None)
        if base is not None:
            return self.transition(m, base)
        match callee(m, name):
            case Start(function=start):
                return self._once((machine, machine, name), lambda at: self._start(at, m, start))[0]
            case One(transition=row):
                return self.transition(m, row)
            case Several() as event:
                key = ("event", machine, name)
                return self._once(key, lambda at: self._event(at, m, event))[0]

    def transition(self, m: ir.Machine, row: ir.Transition) -> str:
        """The operator of a transition, header and body."""

        def make(name: str) -> bool:
            b, params, env = self._begin(m, row.function.params)
            self.write(name, params, _Entered(b, row, env).lines())
            self.stops[name] = frozenset(b.stops)
            return False

        return self._once((m.name, m.name, row.name), make)[0]

    def _begin(
        self, m: ir.Machine, params: Params, own: bool = True
    ) -> tuple[Body, list[str], Env]:
        b = self.body(m)
        self_ = b.names.fresh("self") if own else NONE
        given = {name: b.names.fresh(name) for name, _ in params}
        env = Env(self_, given, present=self._present(m, self_ if own else None))
        return b, [*([self_] if own else []), *given.values()], env

    def _present(self, m: ir.Machine, self_: str | None) -> str | None:
        """The text of the present tick in a body of the machine; None where it has none."""
        clock = clock_of(m)
        if clock is not None and self_ is not None:
            return f"{self_}.{word(clock.name)}"
        return "0" if clock_of(self.whole) is None else None

    def _start(self, name: str, m: ir.Machine, function: ir.Function) -> bool:
        b, params, env = self._begin(m, function.params)
        self.write(name, params, b.block(function.body, env, _to_the_end()))
        self.stops[name] = frozenset(b.stops)
        return False

    def _event(self, name: str, m: ir.Machine, event: Several) -> bool:
        """The operator of an event: the enabled transition, or `ignore`, or a refusal."""
        b, params, env = self._begin(m, event.params)
        args = ", ".join(params)
        rows = [f"{self.transition(m, row)}({args})" for row in event.serving]
        names = [b.names.fresh("try") for _ in rows]
        lines = [f"LET {name_} == {row} IN" for name_, row in zip(names, rows, strict=True)]
        for i, one in enumerate(names):
            for other in names[i + 1 :]:
                lines.append(
                    f'IF ({one}.out # "refused") /\\ ({other}.out # "refused")'
                    ' THEN Stop("ambiguous") ELSE'
                )
        lines += [f'IF {one}.out # "refused" THEN {one} ELSE' for one in names]
        lines += self._ignores(b, m, event, env)
        self.write(name, params, [*lines, 'Stop("refused")'])
        inside = (self.stops[self.transition(m, row)] for row in event.serving)
        self.stops[name] = frozenset({"refused", "ambiguous"}).union(*inside)
        return False

    def _ignores(self, b: Body, m: ir.Machine, event: Several, env: Env) -> Lines:
        lines: Lines = []
        for row in event.ignores:
            tests: list[str] = []
            if row.source is not None:
                states = ", ".join(map(quoted, row.source))
                tests.append(f"({env.self}.state \\in {{{states}}})")
            if row.when is not None:
                when = replace(row.when, name=f"{row.name}_when")
                operator, plain = self.helper(m.name, when, True)
                if not plain:
                    raise unwritten(row, "`when=` that may be undefined")
                tests.append(f"{operator}({', '.join([env.self, *env.locals.values()])})")
            lines.append(f"IF {both(tests) or 'TRUE'} THEN Done({env.self}, {NONE}) ELSE")
        return lines

    # Helpers and properties.

    def helper(self, machine: str, function: ir.Function, own: bool) -> tuple[str, bool]:
        """The operator of a function, and whether its value is plain, not a record of a step."""
        m = self.machines[machine]

        def make(name: str) -> bool:
            plain = not acts(function)
            b, params, env = self._begin(m, function.params, own)
            continuations = (
                Continuations(lambda _: [NONE], lambda value, _: [value])
                if plain
                else _to_the_end()
            )
            lines = b.block(function.body, env, continuations)
            if plain and b.stops:
                b, params, env = self._begin(m, function.params, own)
                lines = b.block(function.body, env, _to_the_end())
                plain = False
            self.write(name, params, lines)
            self.stops[name] = frozenset(b.stops)
            return plain

        return self._once((machine if own else "", machine, function.name), make)

    def true(self, m: ir.Machine, function: ir.Function, args: Sequence[str]) -> str:
        """The condition that a property is defined and true."""
        operator, plain = self.helper(m.name, function, True)
        text = f"{operator}({', '.join(args)})"
        return text if plain else f'(({text}.out = "done") /\\ {text}.value)'

    def defined(self, m: ir.Machine, function: ir.Function, args: Sequence[str]) -> str | None:
        """The condition that a property is defined; None where it always is."""
        operator, plain = self.helper(m.name, function, True)
        return None if plain else f'({operator}({", ".join(args)}).out = "done")'

    # States.

    def fresh_state(self, machine: str) -> Fresh:
        """The operator that makes a state with the default values."""
        m = self.machines[machine]
        timed = self._timed(m)

        def make(name: str) -> bool:
            b = self.body(m)
            present = b.names.fresh("present") if timed else None
            given = [b.names.fresh(p.name) for p in m.parameters]
            firsts = [_first(b, v, Env("", present=present)) for v in m.variables]
            texts = [*(expression.text for expression in firsts), *given]
            names = [*(v.name for v in m.variables), *(p.name for p in m.parameters)]
            rows = [f"{word(n)} |-> {text}" for n, text in zip(names, texts, strict=True)]
            made = f"[{', '.join(rows)}]" if rows else "<<>>"
            checks = tuple(c for expression in firsts for c in expression.checks)
            lines = b.checked(checks, [f"Done({made}, {NONE})"]) if checks else [made]
            self.write(name, [*([] if present is None else [present]), *given], lines)
            return not checks

        name, plain = self._once(("fresh", machine, "fresh"), make)
        return Fresh(name, timed, plain)

    def _timed(self, m: ir.Machine) -> bool:
        """Whether a new state of the machine, or of its parts, contains the present tick."""
        made = {
            node.type.machine
            for v in m.variables
            if v.initial is not None
            for node in everything((v.initial,))
            if isinstance(node, ir.New) and isinstance(node.type, t.Part)
        }
        return clock_of(m) is not None or any(self._timed(self.machines[name]) for name in made)

    def assumption(self, machine: str, state: str) -> str | None:
        """The condition that the assumptions about the parameters are true in this state."""
        m = self.machines[machine]
        return both(self.true(m, p.function, [state]) for p in m.of_kind("assume"))

    def within(self, machine: str, *, scoped: bool) -> str | None:
        """The operator for a state within the bounds of its types, or of the scope with `scoped`;
        None where there are no bounds."""
        m = self.machines[machine]
        name = f"{word(machine)}_{'in_scope' if scoped else 'in_bounds'}"

        def part(of: str, text: str) -> str | None:
            inner = self.within(of, scoped=scoped)
            return None if inner is None else f"{inner}({text})"

        def make(at: str) -> bool:
            b, params, _ = self._begin(m, ())
            kinds = [
                (v.name, self._fields[machine, v.name] if scoped else v.type) for v in m.variables
            ]
            if not scoped and m is not self.whole:
                kinds += [(p.name, p.type) for p in m.parameters]
            rows = [
                within(f"{params[0]}.{word(n)}", kind, b.names.fresh, part) for n, kind in kinds
            ]
            found = both(rows)
            if found is not None:
                self.write(at, params, [found])
            return found is not None

        key = ("scope" if scoped else "bounds", machine, name.removeprefix(f"{word(machine)}_"))
        found, some = self._once(key, make)
        return found if some else None


def _first(b: Body, v: ir.Variable, env: Env) -> Expression:
    """The initial value of a variable."""
    if isinstance(v.type, t.Clock):
        assert env.present is not None
        return Expression(env.present)
    return Expression(NONE) if v.initial is None else b.expr(v.initial, env)


def _to_the_end() -> Continuations:
    def leave(value: str, env: Env) -> Lines:
        return [f"Done({env.self}, {value})"]

    return Continuations(lambda env: leave(NONE, env), leave)


class _Entered:
    """Writes the operator of one transition: header and body."""

    def __init__(self, b: Body, row: ir.Transition, env: Env) -> None:
        self.b = b
        self.row = row
        self.env = env

    def lines(self) -> Lines:
        """Source, timer, body, target."""
        return self._enter(tuple(entry(self.row)), self.env)

    def _enter(self, asked: tuple[Source | Firing, ...], env: Env) -> Lines:
        """What the header asks, in order, then the body."""
        b = self.b
        match asked:
            case (Source(control, states), *rest):
                text, checks = self._header(control, env)
                if states is not None:
                    checks = (*checks, Check(_among(text, states), "refused"))
                return b.checked(checks, self._enter(tuple(rest), env))
            case (Firing(timer), *rest):
                text, checks = self._header(timer, env)
                due_ = Check(f"({text} = 0)" if b.module.counting else text, "refused")
                stopped = Expression(b.stopped())
                lines = b.assign(timer, stopped, env, lambda on: self._enter(tuple(rest), on))
                return b.checked((*checks, due_), lines)
            case _:
                return self._body(env)

    def _header(self, place: ir.Expr, env: Env) -> Expression:
        """A place in the header; where a key is missing, the event is refused."""
        expression = self.b.expr(place, env)
        return Expression(
            expression.text, tuple(Check(c.text, "refused") for c in expression.checks)
        )

    def _body(self, env: Env) -> Lines:
        continuations = Continuations(lambda after: self._leave(NONE, after), self._leave)
        return self.b.block(self.row.function.body, env, continuations)

    def _leave(self, value: str, env: Env) -> Lines:
        b = self.b
        # The header uses the arguments, not locals that the body assigned.
        at = replace(self.env, self=env.self)
        match leaving(self.row):
            case Becomes(control, state):
                target = Expression(quoted(state))
                return b.assign(control, target, at, lambda on: [f"Done({on.self}, {value})"])
            case StaysAmong(control, states):
                text, checks = b.expr(control, at)
                kept = Check(_among(text, states), "bounds")
                return b.checked((*checks, kept), [f"Done({env.self}, {value})"])
            case None:
                return [f"Done({env.self}, {value})"]


def _among(text: str, states: Sequence[str]) -> str:
    """The condition that a control state is one of these."""
    return f"({text} \\in {{{', '.join(map(quoted, states))}}})"


__all__ = ["CannotWrite", "Definitions"]
