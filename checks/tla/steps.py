"""The steps of the whole: for each transition what comes of it, an action, and its fairness."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from lawful.spec import ir
from lawful.spec.flat import Flat, Plan, Rule

from .bodies import Lines
from .collections import as_set
from .constants import constant
from .kinds import NONE, both, values, within
from .machine import Definitions
from .names import OR, CannotWrite, Names, word
from .terms import Env, Writer

SOME = "\\E"
UNDEFINED = 'Stop("undefined")'
Bindings = tuple[list[tuple[str, str]], list[str]]  # Names with their sets, arguments by place.


class Steps:
    """Writes the initial states and the steps of a machine within its scope."""

    def __init__(self, flat: Flat, taken: Sequence[str]) -> None:
        self.flat = flat
        self.machine = flat.machine
        self.defined = Definitions(flat)
        names = self.defined.names
        names.taken.update(taken)
        fields = [v.name for v in self.machine.variables]
        fields += [p.name for p in self.machine.parameters]
        if not fields:
            raise CannotWrite("a machine without variables")
        self.variables = {name: names.fresh(name) for name in fields}
        self.vars, self.now = names.fresh("vars"), names.fresh("now")
        self.becomes, self.begins = names.fresh("Becomes"), names.fresh("Begins")
        self.placed, self.comes = names.fresh("Placed"), names.fresh("Comes")
        self.rows = [(rule, self.machine.transition(rule.name)) for rule in flat.rules]
        self.actions = {row.name: names.fresh(row.name) for _, row in self.rows}
        self.outcomes = {row.name: names.fresh(f"{row.name}_gives") for _, row in self.rows}

    # Arguments.

    def bindings(self, rule: Rule, self_: str) -> Bindings:
        """The parameters of a rule with the sets of their values."""
        w = self.defined.body(self.machine)
        env = Env(self_)
        rows: list[tuple[str, str]] = []
        for plan in rule.plans:
            over = self._over(w, plan, env)
            name = w.names.fresh(plan.name)
            rows.append((name, over))
            env = env.having(plan.name, name)
        return rows, [env.locals[plan.name] for plan in rule.plans]

    def _over(self, w: Writer, plan: Plan, env: Env) -> str:
        """The values that are not refused anyway, as far as that is known without a check."""
        if plan.over is not None:
            text, checks = as_set(w, plan.over, env)
            if not checks:
                one = w.names.fresh(plan.name)
                return f"{{{one} \\in {text} : {one} \\in {values(plan.type)}}}"
        return values(plan.type)

    def each(self, rule: Rule, self_: str, text: Callable[[list[str]], str], sign: str) -> str:
        """The text for all arguments or for some: `sign` is the quantifier."""
        rows, args = self.bindings(rule, self_)
        made = text(args)
        for name, over in reversed(rows):
            made = f"({sign} {name} \\in {over} : {made})"
        return made

    # Definitions.

    def base(self) -> None:
        """The state as one record, and what a step makes of it."""
        write, whole = self.defined.write, self.machine.name
        r = Names(self.defined.names).fresh("r")
        rows = [f"{word(name)} |-> {at}" for name, at in self.variables.items()]
        write(self.vars, (), [f"<<{', '.join(self.variables.values())}>>"])
        write(self.now, (), [f"[{', '.join(rows)}]"])
        scope = self.defined.within(whole, scoped=True)
        bounds = self.defined.within(whole, scoped=False)
        lines = [f'IF {r}.out # "done" THEN {r} ELSE']
        if bounds is not None:
            lines.append(f'IF ~{bounds}({r}.to) THEN Stop("bounds") ELSE')
        if scope is not None:
            lines.append(f'IF ~{scope}({r}.to) THEN Stop("cut") ELSE')
        for rule in self.rules("constraint"):
            lines.extend(self._pruned(rule, f"{r}.to"))
        write(self.placed, (r,), [*lines, r])
        for name, prime in ((self.begins, ""), (self.becomes, "'")):
            changes = [f"/\\ {at}{prime} = {r}.to.{word(n)}" for n, at in self.variables.items()]
            write(name, (r,), [f'/\\ {r}.out = "done"', *changes])

    def rules(self, kind: ir.PropertyKind) -> Iterator[tuple[Rule, ir.Function]]:
        """The machine's own properties of a kind, with the plans of their parameters."""
        rules = {rule.name: rule for rule in self.flat.properties}
        for p in self.machine.of_kind(kind):
            yield rules[f"{self.machine.name}.{p.name}"], p.function

    def _pruned(self, at: tuple[Rule, ir.Function], state: str) -> Lines:
        """What a constraint makes of a step: the first of its arguments decides in our engines, so
        that where one makes it false and another undefined TLC is stopped, and nothing is said."""
        rule, function = at

        def true(args: list[str]) -> str:
            return self.defined.true(self.machine, function, [state, *args])

        def defined(args: list[str]) -> str:
            return self.defined.defined(self.machine, function, [state, *args]) or "TRUE"

        def false(args: list[str]) -> str:
            return f"({defined(args)} /\\ ~{true(args)})"

        kept, lines = self.each(rule, state, true, "\\A"), Lines()
        fine = self.each(rule, state, defined, "\\A")
        if self.defined.defined(self.machine, function, [state]) is not None:
            both_ = f'Assert(FALSE, "{function.name} is false, and undefined")'
            none = f'IF {self.each(rule, state, false, SOME)} THEN {both_} ELSE Stop("undefined")'
            lines.append(f"IF ~{fine} THEN {f'({none})' if rule.plans else UNDEFINED} ELSE")
        return [*lines, f'IF ~{kept} THEN Stop("cut") ELSE']

    @property
    def cuts(self) -> bool:
        """Whether a step may leave the scope."""
        inside = self.defined.within(self.machine.name, scoped=True)
        same = all(
            kind == v.type
            for (m, name, kind) in self.flat.fields
            for v in self.defined.machine(m).variables
            if v.name == name
        )
        pruned = bool(self.machine.of_kind("constraint"))
        return pruned or (inside is not None and not same)

    def initial(self) -> tuple[str, str]:
        """The initial states; and that no start goes wrong, which is asked beforehand."""
        operator, params = self.defined.fresh_state(self.machine.name)
        w = self.defined.body(self.machine)
        tried = dict(self.flat.parameters)
        rows: list[tuple[str, str]] = []
        for p, name in zip(self.machine.parameters, params, strict=True):
            given = tried.get(name, ())
            texts = [constant(value, p.type) for value in given]
            if not texts and p.default is not None:
                texts = [w.expr(p.default, Env("")).text]
            rows.append((w.names.fresh(name), f"{{{', '.join(texts)}}}"))
        made = f"{operator}({', '.join(n for n, _ in rows)})" if rows else operator
        assumed = self.defined.assumption(self.machine.name, made)
        first = [self._begun(row, made, sound=False) for row in self._starts()]
        fine = [self._begun(row, made, sound=True) for row in self._starts()]
        begin = both([assumed, f"({OR.join(first)})"]) or "TRUE"
        sound = both(fine) or "TRUE"
        sound = sound if assumed is None else f"({assumed} => {sound})"
        for name, over in reversed(rows):
            begin = f"(\\E {name} \\in {over} : {begin})"
            sound = f"(\\A {name} \\in {over} : {sound})"
        return begin, sound

    def _starts(self) -> Iterator[tuple[Rule, ir.Function | None]]:
        if not self.machine.initials:
            yield Rule("", ()), None
        yield from zip(self.flat.initials, self.machine.initials, strict=True)

    def _begun(self, start: tuple[Rule, ir.Function | None], made: str, *, sound: bool) -> str:
        """That an initial state is what a start gives, or that no start goes wrong."""
        rule, function = start

        def said(args: list[str]) -> str:
            result = f"Done({made}, {NONE})"
            if function is not None:
                operator = self.defined.entry(self.machine.name, function.name)
                result = f"{operator}({', '.join([made, *args])})"
            placed = f"{self.placed}({result})"
            fine = f'({placed}.out \\in {{"done", "refused", "cut"}})'
            return fine if sound else f"{self.begins}({placed})"

        return self.each(rule, made, said, "\\A" if sound else "\\E")

    def steps(self) -> None:
        """What comes of every transition, the actions, and whether something comes at all."""
        for _, row in self.rows:
            w = self.defined.body(self.machine)
            params = [w.names.fresh(name) for name, _ in row.function.params]
            operator = self.defined.transition(self.machine, row)
            result = f"{operator}({', '.join([self.now, *params])})"
            self.defined.write(self.outcomes[row.name], params, self._judged(w, result, row))
            text = f"{self.becomes}({self.gives(row, params)})"
            self.defined.write(self.actions[row.name], params, [text])
        outs = self.defined.body(self.machine).names.fresh("outs")
        lines = [
            "\\/ " + self.some(rule, row, lambda text: f"({text}.out \\in {outs})")
            for rule, row in self.rows
        ]
        self.defined.write(self.comes, (outs,), lines or ["FALSE"])

    def _judged(self, w: Writer, result: str, row: ir.Transition) -> Lines:
        """What comes of a transition, its output within the bounds of its type."""
        gave = w.names.fresh("gave")
        test = within(f"{gave}.value", row.function.output, w.names.fresh, _no_part)
        if test is None:
            return [f"{self.placed}({result})"]
        wrong = f'{gave}.out = "done" /\\ ~{test}'
        return [
            f"LET {gave} == {result} IN",
            f'{self.placed}(IF {wrong} THEN Stop("bounds") ELSE {gave})',
        ]

    def action(self, row: ir.Transition) -> Callable[[list[str]], str]:
        """The action of a transition with arguments."""
        return lambda args: called(self.actions[row.name], args)

    def gives(self, row: ir.Transition, args: Sequence[str]) -> str:
        """What comes of a transition with these arguments."""
        return called(self.outcomes[row.name], args)

    def some(self, rule: Rule, row: ir.Transition, text: Callable[[str], str]) -> str:
        """That something is true of what comes of the transition with some arguments."""
        return self.each(rule, self.now, lambda args: text(self.gives(row, args)), "\\E")


def called(operator: str, args: Sequence[str]) -> str:
    """The operator with its arguments, if it has any."""
    return f"{operator}({', '.join(args)})" if args else operator


def _no_part(_machine: str, _text: str) -> None:
    """An output has no machine inside."""
