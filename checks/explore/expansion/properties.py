"""Generated functions that judge properties: of a state, and of a step."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

from lawful.spec import ir
from lawful.spec import types as t

from ...reference.properties import PropertyOf
from ..codegen.body import Body
from ..codegen.codes import uncode
from ..codegen.functions import Function
from ..codegen.loops import long
from ..codegen.module import Module
from ..codegen.text import Value, plus
from ..layout.codec import Codec
from ..layout.forms import tight
from ..layout.layouts import MachineLayout, MapLayout, key_count, offsets, rounds, stride
from ..space import Args
from .notes import Notes

# A liveness property that the reference engine has to judge in a state. Otherwise the note is 1 if
# it is true there, and 2 more if what it leads to is; of all but `leads_to` both are the same.
LIVE = 4


class Judging:
    """Generates the code of properties; the state before a step is at `original`, the one after it
    at 0."""

    def __init__(self, module: Module, notes: Notes, original: int) -> None:
        self.module = module
        self.program = module.program
        self.machine = module.codec.flat.machine
        self.notes = notes
        self.original = original

    def function(self, name: str, params: str) -> Body:
        """A function that is about to be written."""
        f = Body(self.program, module=self.module, machine=self.machine, me="0")
        f.lines.append(f"def {name}({params}):")
        return f

    def judge(self, j: PropertyOf, number: int) -> str:
        """A function that notes in `info` whether a property fails."""
        name = f"judge_{number}"
        f = self.function(name, "w, info")
        at = f"info[{self.notes['property'] + number}]"
        self.each_false(f, j, f"{at} = 1")
        self.close(f)
        return name

    def close(self, f: Body) -> None:
        """The function is written."""
        f.line("return 0")
        self.program.add(f.lines)

    def each_false(self, f: Body, j: PropertyOf, noted: str) -> None:
        """For each machine and value of a property's parameters: where it is false, the note."""
        after = "0" if j.kind == "step_property" else ""
        before = str(self.original) if after else "0"
        with ExitStack() as stack:
            owner, me, later = self._member(f, stack, j, before, after)
            bound, _ = self.bound(f, stack, j)
            given = [Value(self.module.codec.machine(owner.name), later)] if later else []
            status, value = self.asked(f, j, owner, me, [*given, *bound])
            f.line(f"if {status} != 0 or not {value}: {noted}")
            self._escaping(f, status)

    def _member(
        self, f: Body, stack: ExitStack, j: PropertyOf, at: str, after: str
    ) -> tuple[ir.Machine, str, str]:
        """The machine whose property it is: loops over the members of the families on the way.

        With `after`, the state after a step, those that are there before and after it.
        """
        whole = self.module.codec.machine(self.machine.name)
        for hop in j.path:
            layouts = [k for _, k in whole.fields]
            place, inside = offsets(layouts)[hop.at], layouts[hop.at]
            at, after = plus(at, place), plus(after, place) if after else ""
            if isinstance(inside, MapLayout):
                i = f.temporary()
                stack.enter_context(f.block(f"for {i} in range({key_count(inside.key)}):"))
                step = f"{i} * {stride(inside)}"
                at = f.hold(f"{at} + {step}")
                after = f.hold(f"{after} + {step}") if after else ""
                if not inside.total:
                    there = [at, after] if after else [at]
                    f.line(f"if {' or '.join(f'w[{x}] == 0' for x in there)}: continue")
                    at, after = plus(at, 1), plus(after, 1) if after else ""
                inside = inside.value
            assert isinstance(inside, MachineLayout)
            whole = inside
        return self.module.codec.machines[str(whole.type)], at, after

    def _escaping(self, f: Body, status: str) -> None:
        f.line(f"if {status} == 6: info[{self.notes['escaped']}] = 1")

    def bound(self, f: Body, stack: ExitStack, j: PropertyOf) -> tuple[list[Value], str]:
        """Loops over the values of a property's parameters; their number so far by name."""
        values: list[Value] = []
        number = "0"
        pairs = zip(j.rule.plans, params(j.row), strict=True)
        layouts = [
            tight(self.module.codec.layout(declared, plan.type)) for plan, (_, declared) in pairs
        ]
        for at, layout in enumerate(layouts):
            i = f.temporary()
            stack.enter_context(f.block(f"for {i} in range({rounds(layout)}):"))
            if long(layouts[at:]):
                if not long(layouts[at + 1 :]):
                    spent = f"spent(w, {self.program.rounds}, 1)"
                    f.line(f"if {spent}: info[{self.notes['escaped']}] = 1")
                f.line(f"if w[{self.program.rounds}] < 0: break")
            values.append(uncode(f, layout, i))
            number = f.hold(f"{number} * {rounds(layout)} + {i}")
        return values, number

    def asked(
        self, f: Body, j: PropertyOf, owner: ir.Machine, me: str, args: list[Value]
    ) -> tuple[str, str]:
        """The status and the value of a property for these arguments."""
        made, status = self._called(f, j, owner, me, args)
        return status, f.hold(f"w[{made.output_at}]" if made.output_at else "0")

    def _called(
        self, f: Body, j: PropertyOf, owner: ir.Machine, me: str, args: list[Value]
    ) -> tuple[Function, str]:
        args = [f.passed(v) for v in args]
        made = self.module.helper(owner, j.row.function, tuple(v.layout for v in args))
        return made, f.hold(f"{made.name}({', '.join(('w', me, *(v.text for v in args)))})")

    def lives(self, f: Body, rows: Sequence[tuple[PropertyOf, int]]) -> None:
        """Note in `info` for each of their values what liveness properties are in this state: see
        `LIVE`."""
        at = self.notes["live"]
        for number, (j, count) in enumerate(rows):
            name = f"live_{number}"
            g = self.function(name, "w, info")
            with ExitStack() as stack:
                owner, me, _ = self._member(g, stack, j, "0", "")
                bound, which = self.bound(g, stack, j)
                made, status = self._called(g, j, owner, me, bound)
                place = g.hold(f"{at} + {which}")
                g.line(f"info[{place}] = {LIVE}")
                if made.output is not None and made.output_at:
                    with g.block(f"if {status} == 0:"):
                        first = g.hold(f"w[{made.output_at}] != 0")
                        later = plus(made.output_at, 1) if j.kind == "leads_to" else made.output_at
                        second = g.hold(f"w[{later}] != 0")
                        g.line(f"info[{place}] = {first} + 2 * {second}")
            self.close(g)
            f.line(f"{name}(w, info)")
            at += count

    def witnesses(self, f: Body, rows: list[tuple[PropertyOf, int]]) -> None:
        """Note in `info` for which of their values properties are true in this state."""
        at = self.notes["witness"]
        for number, (j, count) in enumerate(rows):
            name = f"seen_{number}"
            g = self.function(name, "w, info")
            with ExitStack() as stack:
                bound, which = self.bound(g, stack, j)
                status, value = self.asked(g, j, self.machine, "0", bound)
                g.line(f"if {status} == 0 and {value}: info[{at} + {which}] = 1")
                self._escaping(g, status)
                if j.name in self.notes.properties:  # Without a value it fails.
                    failing = self.notes["property"] + self.notes.properties.index(j.name)
                    g.line(f"if {status} != 0: info[{failing}] = 1")
            self.close(g)
            f.line(f"{name}(w, info)")
            at += count


def params(row: ir.Property) -> tuple[tuple[str, t.Type], ...]:
    """The parameters of a property; of a step property those after the state after."""
    return row.function.params[1 if row.kind == "step_property" else 0 :]


def column_of(codec: Codec, j: PropertyOf, args: Args) -> int:
    """The number of a property's arguments among all, by which they are noted."""
    number = 0
    for value, plan, (_, declared) in zip(args, j.rule.plans, params(j.row), strict=True):
        layout = codec.layout(declared, plan.type)
        number = number * rounds(layout) + codec.code_of(layout, value)
    return number
