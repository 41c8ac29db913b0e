"""The steps of a machine in TLA+: initial states, and for each transition an action."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from lawful.spec import ir
from lawful.spec.flat import Flat, Plan, Rule
from lawful.spec.verdicts import PropertyKind

from .bodies import Lines
from .collections import as_set
from .constants import constant
from .kinds import NONE, both, values, within
from .machine import Definitions
from .names import OR, CannotWrite, Names, word
from .terms import Env, Writer

SOME = "\\E"
UNDEFINED = 'Stop("undefined")'
Bindings = tuple[list[tuple[str, str]], list[str]]  # Bound names with their sets; the arguments.


class FreshState(NamedTuple):
    """A state with the default values; where it is not `plain`, the record of a step that makes it.

    `names` are bound around the text.
    """

    text: str
    plain: bool
    names: Names


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
        self.leaves = ""
        self._fair: dict[str, str] = {}  # See `fair_action`.

    # Arguments.

    def bindings(
        self,
        rule: Rule,
        self_: str,
        around: Names | None = None,
        given: Mapping[str, str] | None = None,
    ) -> Bindings:
        """The parameters of a rule with the sets of their values, and the arguments.

        Parameters in `given` have a name already; names in `around` are bound around the text.
        """
        w = self.defined.body(self.machine, around)
        env = Env(self_, given or {})
        rows: list[tuple[str, str]] = []
        known = True
        for plan in rule.plans:
            known = known and self._known(w, plan, env)
            if plan.name not in env.locals:
                over = self._over(w, plan, env) if known else values(plan.type)
                name = w.names.fresh(plan.name)
                rows.append((name, over))
                env = env.having(plan.name, name)
        return rows, [env.locals[plan.name] for plan in rule.plans]

    def _known(self, w: Writer, plan: Plan, env: Env) -> bool:
        """Whether the expressions that narrow a parameter are defined in every state.

        Otherwise this parameter and those after it take all values: the step may be undefined,
        and not only refused.
        """
        w = self.defined.body(self.machine, w.names)
        guards = [w.expr(guard, env).checks for guard in plan.guards]
        return not any(guards) and (plan.over is None or not as_set(w, plan.over, env).checks)

    def _over(self, w: Writer, plan: Plan, env: Env) -> str:
        """The values of a parameter, without those that are certainly refused."""
        if plan.over is None:
            return values(plan.type)
        one = w.names.fresh(plan.name)
        return f"{{{one} \\in {as_set(w, plan.over, env).text} : {one} \\in {values(plan.type)}}}"

    def each(
        self,
        rule: Rule,
        self_: str,
        text: Callable[[list[str]], str],
        sign: str,
        around: Names | None = None,
    ) -> str:
        """The text under quantifiers `sign` over all arguments of the rule. See `bindings`."""
        rows, args = self.bindings(rule, self_, around)
        made = text(args)
        for name, over in reversed(rows):
            made = f"({sign} {name} \\in {over} : {made})"
        return made

    # Definitions.

    def base(self) -> None:
        """Define the state as one record, and what a step makes of the variables."""
        write, whole = self.defined.write, self.machine.name
        names = Names(self.defined.names)
        r = names.fresh("r")
        rows = [f"{word(name)} |-> {at}" for name, at in self.variables.items()]
        write(self.vars, (), [f"<<{', '.join(self.variables.values())}>>"])
        write(self.now, (), [f"[{', '.join(rows)}]"])
        scope = self.defined.within(whole, scoped=True)
        bounds = self.defined.within(whole, scoped=False)
        lines = [f'IF {r}.out # "done" THEN {r} ELSE']
        if bounds is not None:
            lines.append(f'IF ~{bounds}({r}.to) THEN Stop("bounds") ELSE')
        if scope is not None:
            lines.append(f"IF ~{scope}({r}.to) THEN Cut({r}) ELSE")
        for rule in self.rules("constraint"):
            lines.extend(self._pruned(rule, r, names))
        write(self.placed, (r,), [*lines, r])
        for name, prime in ((self.begins, ""), (self.becomes, "'")):
            write(name, (r,), [f'/\\ {r}.out = "done"', *self._taken(r, prime)])

    def _taken(self, result: str, prime: str) -> Lines:
        """Conditions that the variables have the values in the result of a step."""
        rows = self.variables.items()
        return [f"/\\ {at}{prime} = {result}.to.{word(name)}" for name, at in rows]

    def fair_action(self, row: ir.Transition) -> str:
        """The action that fairness is about. Where the scope may cut steps, it includes steps that
        leave the scope: `Next` does not take them, but they count as enabled."""
        if not self.cuts:
            return self.actions[row.name]
        if row.name not in self._fair:
            names = self.defined.names
            if not self._fair:
                r = Names(names).fresh("r")
                self.leaves = names.fresh("Leaves")
                lines = [f'/\\ {r}.out \\in {{"done", "cut"}}', *self._taken(r, "'")]
                self.defined.write(self.leaves, (r,), lines)
            self._fair[row.name] = names.fresh(f"{row.name}_or_leaves")
            w = self.defined.body(self.machine)
            params = [w.names.fresh(name) for name, _ in row.function.params]
            text = f"{self.leaves}({self.gives(row, params)})"
            self.defined.write(self._fair[row.name], params, [text])
        return self._fair[row.name]

    def rules(self, kind: PropertyKind) -> Iterator[tuple[Rule, ir.Function]]:
        """The machine's own properties of a kind, with the plans of their parameters."""
        rules = {rule.name: rule for rule in self.flat.properties}
        for p in self.machine.of_kind(kind):
            yield rules[f"{self.machine.name}.{p.name}"], p.function

    def _pruned(self, at: tuple[Rule, ir.Function], result: str, around: Names) -> Lines:
        """The effect of a constraint on a step.

        In the other engines the first argument decides. Where one makes the constraint false and
        another undefined, an `Assert` stops TLC, because the order is unknown here.
        """
        (rule, function), state = at, f"{result}.to"

        def true(args: list[str]) -> str:
            return self.defined.true(self.machine, function, [state, *args])

        def defined(args: list[str]) -> str:
            return self.defined.defined(self.machine, function, [state, *args]) or "TRUE"

        def false(args: list[str]) -> str:
            return f"({defined(args)} /\\ ~{true(args)})"

        kept, lines = self.each(rule, state, true, "\\A", around), Lines()
        fine = self.each(rule, state, defined, "\\A", around)
        if self.defined.defined(self.machine, function, [state]) is not None:
            both_ = f'Assert(FALSE, "{function.name} is false, and undefined")'
            some = self.each(rule, state, false, SOME, around)
            none = f'IF {some} THEN {both_} ELSE Stop("undefined")'
            lines.append(f"IF ~{fine} THEN {f'({none})' if rule.plans else UNDEFINED} ELSE")
        return [*lines, f"IF ~{kept} THEN Cut({result}) ELSE"]

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
        """The formula of the initial states, and the assumption that no start is faulty."""
        fresh = self.defined.fresh_state(self.machine.name)
        w = self.defined.body(self.machine)
        tried = dict(self.flat.parameters)
        rows: list[tuple[str, str]] = []
        for p in self.machine.parameters:
            texts = [constant(value, p.type) for value in tried.get(p.name, ())]
            if not texts and p.default is not None:
                texts = [w.expr(p.default, Env("")).text]
            rows.append((w.names.fresh(p.name), f"{{{', '.join(texts)}}}"))
        args = [*(["0"] if fresh.timed else []), *(name for name, _ in rows)]
        made = FreshState(called(fresh.operator, args), fresh.plain, w.names)
        # An assumption reads parameters only, so it is evaluated even if a default is undefined.
        fixed = [
            f"{word(p.name)} |-> {name}"
            for p, (name, _) in zip(self.machine.parameters, rows, strict=True)
        ]
        alone = f"[{', '.join(fixed)}]" if fixed else "<<>>"
        assumed = self.defined.assumption(self.machine.name, alone)
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

    def _begun(
        self, start: tuple[Rule, ir.Function | None], made: FreshState, *, sound: bool
    ) -> str:
        """That an initial state is the result of a start; with `sound`, that no start is faulty."""
        (rule, function), state = start, made.text if made.plain else f"{made.text}.to"

        def result_text(args: list[str]) -> str:
            result = f"Done({state}, {NONE})" if made.plain else made.text
            if function is not None:
                operator = self.defined.entry(self.machine.name, function.name)
                result = f"{operator}({', '.join([state, *args])})"
            placed = f"{self.placed}({result})"
            fine = f'({placed}.out \\in {{"done", "refused", "cut"}})'
            return fine if sound else f"{self.begins}({placed})"

        text = self.each(rule, state, result_text, "\\A" if sound else SOME, made.names)
        return text if made.plain else f'(({made.text}.out = "done") /\\ {text})'

    def steps(self) -> None:
        """Define the result and the action of every transition, and `Comes`: whether any transition
        has one of some outcomes."""
        for _, row in self.rows:
            w = self.defined.body(self.machine)
            params = [w.names.fresh(name) for name, _ in row.function.params]
            operator = self.defined.transition(self.machine, row)
            result = f"{operator}({', '.join([self.now, *params])})"
            self.defined.write(self.outcomes[row.name], params, self._judged(w, result, row))
            text = f"{self.becomes}({self.gives(row, params)})"
            self.defined.write(self.actions[row.name], params, [text])
        names = Names(self.defined.names)
        outs = names.fresh("outs")
        lines = [
            "\\/ " + self.some(rule, row, lambda text: f"({text}.out \\in {outs})", names)
            for rule, row in self.rows
        ]
        self.defined.write(self.comes, (outs,), lines or ["FALSE"])

    def _judged(self, w: Writer, result: str, row: ir.Transition) -> Lines:
        """The result of a transition, after the bounds of its output were checked."""
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
        """The action of a transition, as a function of its arguments."""
        return lambda args: called(self.actions[row.name], args)

    def gives(self, row: ir.Transition, args: Sequence[str]) -> str:
        """The result of a transition with these arguments."""
        return called(self.outcomes[row.name], args)

    def some(
        self,
        rule: Rule,
        row: ir.Transition,
        text: Callable[[str], str],
        around: Names | None = None,
    ) -> str:
        """The condition that `text` is true of the result for some arguments."""
        return self.each(rule, self.now, lambda args: text(self.gives(row, args)), SOME, around)


def called(operator: str, args: Sequence[str]) -> str:
    """The operator applied to its arguments, if there are any."""
    return f"{operator}({', '.join(args)})" if args else operator


def _no_part(_machine: str, _text: str) -> None:
    """For `within`: an output contains no machine."""
