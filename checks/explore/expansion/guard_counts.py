"""The generated module that counts guards: how often each was true, and how often it refused.

`expand` is called as that of `successors`. It tries every transition that the reference engine
tries for coverage in a state, with the same arguments, and leads nowhere; how often each guard was
true and refused is in `info`, by transition and guard.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace

from lawful.spec import ir, ops
from lawful.spec import types as t
from lawful.spec.analysis.headers import own_source
from lawful.spec.analysis.walk import everything
from lawful.spec.flat import Plan, Rule
from lawful.spec.lower.argument_plans import without_ranges
from lawful.spec.sorting import order_key

from ..codegen.body import Body
from ..codegen.codes import code, uncode
from ..codegen.functions import plain, states
from ..codegen.loops import long
from ..codegen.prelude import ESCAPE
from ..codegen.text import REFUSED, Value
from ..layout import numbering
from ..layout.forms import FORM, Form
from ..layout.layouts import Layout, NotGenerated, card, elements
from ..space import Space
from .arguments import among
from .footprint import Span, changes
from .notes import Notes
from .successors import Stepping, refuses_unchanged

GUARDS = (ir.Require, ir.Refuse, ir.Needed, ir.Step, ir.Base, ir.Do)
Guards = dict[str, list[ir.Node]]  # By transition, its guards in the order of the source.


class GuardCounts(Stepping):
    """Writes the module; the counts of guard `i` of all are at `place(i)` and behind it."""

    def __init__(self, space: Space, guards: Guards, form: Form = FORM) -> None:
        self.counted = guards
        super().__init__(space.flat, space.world, space, form=form)

    def place(self, number: int) -> int:
        """The cell of `info` that says how often a guard was true; the one behind it, refused."""
        return self.notes["witness"] + 2 * number

    def _notes(self) -> Notes:
        rows = sum(len(rows) for rows in self.counted.values())
        return Notes(len(self.flat.rules), (), (), 2 * rows, 0)

    def _write(self) -> None:
        self._in_one_order()
        nodes = {id(node): node for rows in self.counted.values() for node in rows}
        self.first = self.program.frame(2 * len(nodes))
        self.program.counting = self.program.frame(1)
        self.program.guards = {key: self.first + 2 * i for i, key in enumerate(nodes)}
        f = Body(self.program, module=self.module, machine=self.machine, me="0")
        f.lines.append("def expand(w, store, at, out, info, room):")
        self.state.unpack(f)
        f.line(f"w[{self.size}] = 0")
        f.line(f"w[{self.program.written}] = 0")
        f.line(f"copy(w, {self.original}, 0, {self.size})")
        f.line(f"w[{self.program.counting}] = 1")
        at = 0
        for number, rule in enumerate(self.flat.rules):
            if rule.name in self.counted:
                f.line(f"{self._tried(number, rule, at)}(w, info)")
                at += len(self.counted[rule.name])
        f.line("return 0")
        self.program.add(f.lines)

    def _in_one_order(self) -> None:
        """NotGenerated where guards are asked in an order that only the reference engine has: the
        step is the same whichever of them refuses first, but the counts are not."""
        machines = self.codec.machines.values()
        helpers = [f for m in machines for f in (*m.functions, *m.initials)]
        needs = any(isinstance(node, ir.Needed) for f in helpers for node in everything(f.body))
        guards = (*GUARDS, ir.Call) if needs else GUARDS
        steps = [row.function for m in machines for row in (*m.transitions, *m.bases)]
        for node in (node for f in (*helpers, *steps) for node in everything(f.body)):
            match node:
                case ir.Loop(over=over, body=body) if not self._same_order(over):
                    inside: tuple[ir.Node, ...] = body
                case ir.Comp():
                    inside = (node,)
                case _:
                    continue
            if any(isinstance(each, guards) for each in everything(inside)):
                raise NotGenerated("guards in a loop whose order is not that of the codes")

    def _same_order(self, over: ir.Expr) -> bool:
        """Whether generated code goes through this in the reference engine's order."""
        match over:
            case ir.Op(op="sorted") | ir.Domain():
                return True
            case ir.Op(op=op, args=(of, *_)) if op in ops.MAP_VIEWS:
                return self._same_order(of)
            case ir.Expr(type=t.Set(item=kind) | t.Bag(item=kind) | t.Map(key=kind)):
                layout = self.module.member(self.module.layout_of(kind))
                codes = range(elements(layout))
                values = [self.codec.decode(layout, numbering.uncode(layout, i)) for i in codes]
                return values == sorted(values, key=order_key)
            case _:
                inside = (node for node in everything((over,)) if isinstance(node, ir.Expr))
                return not any(isinstance(e.type, t.Set | t.Bag | t.Map) for e in inside)

    def _tried(self, number: int, rule: Rule, at: int) -> str:
        """A function that tries one transition with all arguments; its first guard is `at`."""
        row = self.machine.transition(rule.name)
        rule = replace(rule, plans=without_ranges(rule.plans))
        pairs = zip(rule.plans, row.function.params, strict=True)
        layouts = [self.codec.layout(declared, plan.type) for plan, (_, declared) in pairs]
        step = self._step(number, row, layouts)
        name = f"tried_{plain(rule.name)}_{number}"
        f = self.judging.function(name, "w, info")
        f.stopped = f"info[{self.notes['escaped']}] = 1; return 0"
        f.line(f"clear(w, {self.first}, {2 * len(self.program.guards)})")
        self._elsewhere(f, row, at)
        self._each(f, (rule, step), layouts, [])
        for i, node in enumerate(self.counted[rule.name]):
            cell = self.program.guards[id(node)]
            f.line(f"info[{self.place(at + i)}] += w[{cell}]")
            f.line(f"info[{self.place(at + i) + 1}] += w[{cell + 1}]")
        self.judging.close(f)
        return name

    def _elsewhere(self, f: Body, row: ir.Transition, at: int) -> None:
        """In another control state the header refuses once, for all arguments."""
        source = own_source(row)
        if source is None or row.control is None:
            return
        now = f.value(row.control).text
        numbers = states(row.control.type, source[1])
        with f.block(f"if {' and '.join(f'{now} != {n}' for n in numbers) or 'True'}:"):
            guards = self.counted[row.name]
            if guards and guards[0] is row:
                f.line(f"info[{self.place(at) + 1}] += 1")
            f.line("return 0")

    def _each(
        self,
        f: Body,
        of: tuple[Rule, str],
        layouts: Sequence[Layout],
        given: list[Value],
    ) -> None:
        """A loop through the values of the next parameter: those that its plan leaves in, and one
        for all that it leaves out, with the first value of each further parameter."""
        rule, step = of
        if len(given) == len(layouts):
            self._call(f, step, given)
            return
        plan, layout, rest = rule.plans[len(given)], layouts[len(given)], layouts[len(given) + 1 :]
        count = card(layout)
        if count is None:
            raise NotGenerated(f"the values of {plan.name}")
        fits, left, i = f.temporary(), f.temporary(), f.temporary()
        self._fits(f, plan, fits)
        f.line(f"{left} = -1")
        test = f"if {fits}:"
        if plan.over is not None:
            there = self._members(f, plan.over, layout, fits)
            test = f"if w[{there} + {i}] != 0:"
            with f.block(f"for {i} in range({count}):"), f.block(f"if w[{there} + {i}] == 0:"):
                f.line(f"{left} = {i}")
                f.line("break")
        elif count:
            f.line(f"if not {fits}: {left} = 0")
        if all(card(each) for each in rest):
            with f.block(f"if {left} >= 0:"):
                firsts = [uncode(f, each, "0") for each in rest]
                self._call(f, step, [*given, uncode(f, layout, left), *firsts])
        with f.block(f"for {i} in range({count}):"):
            if long(layouts[len(given) :]) and not long(rest):
                f.metered()
            with f.block(test):
                value = f.env[plan.name] = uncode(f, layout, i)
                self._each(f, of, layouts, [*given, value])
                del f.env[plan.name]

    def _fits(self, f: Body, plan: Plan, fits: str) -> None:
        """Whether all that the plan asks before it goes through its values is true."""
        f.line(f"{fits} = 1")
        for guard in plan.guards:
            with f.block(f"if {fits}:"):
                f.line(f"if not {f.truth(guard)}: {fits} = 0")

    def _members(self, f: Body, over: ir.Expr, layout: Layout, fits: str) -> int:
        """The first of cells, one for each value, that say which the plan leaves in."""
        there = self.program.frame(elements(layout))
        f.line(f"clear(w, {there}, {elements(layout)})")
        with f.block(f"if {fits}:"), ExitStack() as stack:
            item = among(f, stack, over, layout)
            f.line(f"w[{there} + {code(f, item)}] = 1")
        return there

    def _call(self, f: Body, step: str, given: Sequence[Value]) -> None:
        f.line(f"{step}({', '.join(('w', 'info', *(f.passed(v).text for v in given)))})")

    def _step(self, number: int, row: ir.Transition, layouts: Sequence[Layout]) -> str:
        """A function that takes the step with its arguments, and takes it back."""
        spans: tuple[Span, ...] = changes(self.module, self.machine, row)
        names = [f"x{i}" for i in range(len(layouts))]
        name = f"take_{plain(row.name)}_{number}"
        f = self.judging.function(name, ", ".join(("w", "info", *names)))
        made = self.module.transition(self.machine, row, tuple(layouts), True)
        status = f.hold(f"{made.name}({', '.join(('w', '0', *names))})")
        f.line(f"if {status} == {ESCAPE}: info[{self.notes['escaped']}] = 1")
        if refuses_unchanged(row):
            f.line(f"if {status} == {REFUSED}: return 0")
        self.state.put_back(f, spans)
        self.judging.close(f)
        return name
