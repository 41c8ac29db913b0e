"""Expressions over components: one evaluation for all instances that do an event at once.

`Expressions` compiles an expression of the IR to a function of a `Frame`. What an evaluation cannot
decide by arrays (no value, an integer beyond `LARGE`) is a *fault* of the rows where it happens:
these instances are left to the compiled steps, which decide. A fault of a row that would not have
come so far costs time and is no error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.ops import DISPLAYS

from .components import (
    LARGE,
    Array,
    Components,
    Symbols,
    components_of,
    conversion,
    dtypes,
    equal,
    field_span,
    option_of,
    selected,
    symbol,
)
from .layout import Unsupported
from .vector_operators import ARITHMETIC, OF_TRUTHS, STORED, TESTS, Range

WIDEST = 1 << 62  # Integers up to here are computed without overflow.


@dataclass(slots=True)
class Frame:
    """What the rows of a block know while they do an event.

    `path`: the rows that come to this place, None for all. `ended` are the rows that returned,
    `refused` and `faults` those where the event is refused and those that arrays do not decide.
    """

    fields: dict[str, Components]
    locals: dict[str, Components]
    symbols: Symbols
    path: Array = None
    unset: dict[str, Array] = field(default_factory=dict[str, Array])
    ended: list[Array] = field(default_factory=list[Array])
    refused: list[Array] = field(default_factory=list[Array])
    faults: list[Array] = field(default_factory=list[Array])
    output: Components | None = None

    def narrow(self, test: Array) -> None:
        """Only the rows where the test is true go on."""
        self.path = test if self.path is None else self.path & test

    def fault(self, bad: Array) -> None:
        """Arrays do not decide these of the rows that come here."""
        self.faults.append(bad if self.path is None else bad & self.path)


Run = Callable[[Frame], Components]


@dataclass(frozen=True, slots=True)
class Code:
    """A compiled expression. `fallible`: it may have faults or refuse the event. `range`: of an
    integer."""

    run: Run
    fallible: bool = False
    range: Range = STORED


class Expressions:
    """Compiles the expressions of one machine; Unsupported for those without components."""

    def __init__(self, machine: ir.Machine) -> None:
        self.machine = machine
        self.kinds = {v.name: v.type for v in machine.variables}
        self.kinds.update({p.name: p.type for p in machine.parameters})
        functions = (*machine.functions, *(p.function for p in machine.properties))
        self.functions = {f.name: f for f in functions}
        self.read: set[str] = set()  # Fields that what was compiled reads or assigns.
        self.scope: dict[str, t.Type] = {}  # The types of the locals of the present function.

    def code(self, e: ir.Expr) -> Code:
        """The compiled expression."""
        compile_ = COMPILE.get(type(e))
        if compile_ is None:
            raise Unsupported
        return compile_(self, e)

    def stored(self, e: ir.Expr, kind: t.Type) -> Code:
        """The expression as a value of this type that can be kept: no integer beyond `LARGE`."""
        made = self.code(e)
        convert, run = conversion(e.type, kind), made.run
        if isinstance(e.type, t.Int) and not (made.range[0] >= -LARGE and made.range[1] <= LARGE):

            def kept(frame: Frame) -> Components:
                value = run(frame)
                frame.fault((value[0] > LARGE) | (value[0] < -LARGE))
                return convert(value)

            return Code(kept, fallible=True)
        return Code(lambda frame: convert(run(frame)), made.fallible, made.range)

    def invoked(self, function: ir.Function, of: ir.Expr | None, args: tuple[ir.Expr, ...]) -> Code:
        """Replaced by the compiler of bodies, which knows statements."""
        raise Unsupported

    # Kinds of expressions.

    def const(self, e: ir.Const) -> Code:
        if isinstance(e.type, t.Sort):
            name = str(e.value)
            return Code(lambda frame: (symbol(frame.symbols, name),))
        if isinstance(e.type, t.Enum):
            index = e.type.members.index(str(e.value))
            return Code(lambda frame: (index,))
        value = components_of(e.value, e.type, {})
        number = value[0] if value else 0
        return Code(lambda frame: value, range=(number, number))

    def local(self, e: ir.Local) -> Code:
        name = e.name
        if name not in self.scope:
            raise Unsupported
        convert = conversion(self.scope[name], e.type)

        def run(frame: Frame) -> Components:
            if name in frame.unset:
                frame.fault(frame.unset[name])
            return convert(frame.locals[name])

        return Code(run, fallible=True)

    def field(self, e: ir.Field) -> Code:
        name = e.name
        if isinstance(e.of, ir.Self):
            dtypes(self.kinds[name])
            self.read.add(name)
            return Code(lambda frame: frame.fields[name])
        if not isinstance(e.of.type, t.Record):
            raise Unsupported
        of, span = self.code(e.of), field_span(e.of.type, name)
        run = of.run
        return Code(lambda frame: run(frame)[span], of.fallible)

    def make(self, e: ir.Make) -> Code:
        if not isinstance(e.type, t.Record):
            raise Unsupported
        rows = zip(e.args, e.type.fields, strict=True)
        parts = [self.stored(arg, kind) for arg, (_, kind) in rows]
        runs = [each.run for each in parts]

        def run(frame: Frame) -> Components:
            return tuple(component for each in runs for component in each(frame))

        return Code(run, any(each.fallible for each in parts))

    def narrow(self, e: ir.Narrow) -> Code:
        of, convert = self.code(e.of), conversion(e.of.type, e.type)
        run = of.run
        return Code(lambda frame: convert(run(frame)), of.fallible)

    def is_a(self, e: ir.IsA) -> Code:
        kind = e.of.type
        of = self.code(e.of)
        if not isinstance(kind, t.Union):
            raise Unsupported
        numbers = [option_of(kind, option) for option in e.options]
        run = of.run
        if len(numbers) == 1:
            (number,) = numbers
            return Code(lambda frame: (run(frame)[0] == number,), of.fallible)
        return Code(lambda frame: (np.isin(run(frame)[0], numbers),), of.fallible)

    def needed(self, e: ir.Needed) -> Code:
        kind = e.of.type
        if not isinstance(kind, t.Union):
            raise Unsupported
        of, convert = self.code(e.of), conversion(kind, e.type)
        nothing, run = option_of(kind, t.Nothing()), of.run

        def run_(frame: Frame) -> Components:
            value = run(frame)
            missing = value[0] == nothing
            frame.refused.append(missing if frame.path is None else missing & frame.path)
            return convert(value)

        return Code(run_, fallible=True)

    def both(self, e: ir.And | ir.Or) -> Code:
        """`and` and `or`: a later operand is only evaluated where the earlier ones say so."""
        if not all(isinstance(arg.type, t.Bool) for arg in e.args):
            raise Unsupported
        stops = isinstance(e, ir.Or)
        codes = [self.code(arg) for arg in e.args]

        def run(frame: Frame) -> Components:
            found: Array = codes[0].run(frame)[0]
            path = frame.path
            for each in codes[1:]:
                if each.fallible:
                    frame.narrow(np.logical_not(found) if stops else found)
                value = each.run(frame)[0]
                frame.path = path
                found = found | value if stops else found & value
            return (found,)

        return Code(run, any(each.fallible for each in codes))

    def if_(self, e: ir.If) -> Code:
        test = self.code(e.test)
        then, other = self._as(e.then, e.type), self._as(e.other, e.type)

        def run(frame: Frame) -> Components:
            chosen = test.run(frame)[0]
            path = frame.path
            if then.fallible:
                frame.narrow(chosen)
            one = then.run(frame)
            frame.path = path
            if other.fallible:
                frame.narrow(np.logical_not(chosen))
            two = other.run(frame)
            frame.path = path
            return selected(chosen, one, two)

        fallible = test.fallible or then.fallible or other.fallible
        low = min(then.range[0], other.range[0])
        return Code(run, fallible, (low, max(then.range[1], other.range[1])))

    def _as(self, e: ir.Expr, kind: t.Type) -> Code:
        """The expression as a value of this type."""
        made, convert = self.code(e), conversion(e.type, kind)
        run = made.run
        return Code(lambda frame: convert(run(frame)), made.fallible, made.range)

    def call(self, e: ir.Call) -> Code:
        if e.function not in self.functions:
            raise Unsupported
        return self.invoked(self.functions[e.function], e.of, e.args)

    def op(self, e: ir.Op) -> Code:
        if e.op in ("eq", "ne"):
            made = self._equal(*e.args)
            return made if e.op == "eq" else _negated(made)
        if e.op in ("in", "not_in"):
            made = self._one_of(e)
            return made if e.op == "in" else _negated(made)
        codes = [self.code(arg) for arg in e.args]
        kinds = t.Int | t.Bool if e.op in OF_TRUTHS else t.Int
        if not all(isinstance(arg.type, kinds) for arg in e.args):
            raise Unsupported
        fallible = any(each.fallible for each in codes)
        if e.op in TESTS:
            return Code(_of_numbers(TESTS[e.op], codes), fallible)
        if e.op in ("floordiv", "mod"):
            return self._divided(e, codes, fallible)
        if e.op not in ARITHMETIC:
            raise Unsupported
        compute, bound = ARITHMETIC[e.op]
        rows = zip(e.args, codes, strict=True)
        ranges = [(0, 1) if isinstance(a.type, t.Bool) else c.range for a, c in rows]
        low, high = bound(*ranges)
        if low >= -WIDEST and high <= WIDEST:
            return Code(_of_numbers(compute, codes), fallible, (low, high))
        # What may overflow is computed of small operands only.
        most = 1 << 30 if e.op == "mul" else LARGE
        low, high = bound(*((-most, most) for _ in codes))
        plain = _of_numbers(compute, codes)

        def run(frame: Frame) -> Components:
            for each in codes:
                value = each.run(frame)[0]
                frame.fault((value > most) | (value < -most))
            return plain(frame)

        return Code(run, fallible=True, range=(low, high))

    def _equal(self, a: ir.Expr, b: ir.Expr) -> Code:
        """Whether two values are equal."""
        kind = b.type if isinstance(b.type, t.Union) else a.type
        one, two = self._as(a, kind), self._as(b, kind)
        return Code(
            lambda frame: (equal(one.run(frame), two.run(frame)),), one.fallible or two.fallible
        )

    def _one_of(self, e: ir.Op) -> Code:
        """Whether a value is among others that are written out, as in `self.mode in (A, B)`."""
        found, among = e.args
        if not isinstance(among, ir.Op) or among.op not in DISPLAYS or not among.args:
            raise Unsupported
        tests = [self._equal(found, item) for item in among.args]
        first, *rest = [each.run for each in tests]

        def run(frame: Frame) -> Components:
            one_of: Array = first(frame)[0]
            for each in rest:
                one_of = one_of | each(frame)[0]
            return (one_of,)

        return Code(run, any(each.fallible for each in tests))

    def _divided(self, e: ir.Op, codes: list[Code], fallible: bool) -> Code:
        of, by = codes
        low, high = by.range
        if e.op == "mod":
            most = max(abs(low), abs(high))
            found = (0, high - 1) if low > 0 else (-most, most)
        else:
            most = max(map(abs, of.range))
            found = (-most, most)
        compute: Callable[..., Array] = np.floor_divide if e.op == "floordiv" else np.mod
        if low > 0 or high < 0:
            return Code(_of_numbers(compute, codes), fallible, found)

        def run(frame: Frame) -> Components:
            divisor = by.run(frame)[0]
            frame.fault(divisor == 0)
            return (compute(of.run(frame)[0], divisor),)

        return Code(run, fallible=True, range=found)


def _negated(test: Code) -> Code:
    """The opposite of a test."""
    return Code(lambda frame: (np.logical_not(test.run(frame)[0]),), test.fallible)


def _of_numbers(compute: Callable[..., Array], codes: list[Code]) -> Run:
    """A function of the numbers that the codes give."""
    runs = [each.run for each in codes]
    if len(runs) == 2:
        first, second = runs
        return lambda frame: (compute(first(frame)[0], second(frame)[0]),)
    return lambda frame: (compute(*[each(frame)[0] for each in runs]),)


COMPILE: Mapping[type[ir.Expr], Callable[[Expressions, Any], Code]] = {
    ir.Const: Expressions.const,
    ir.Local: Expressions.local,
    ir.Field: Expressions.field,
    ir.Op: Expressions.op,
    ir.And: Expressions.both,
    ir.Or: Expressions.both,
    ir.If: Expressions.if_,
    ir.Make: Expressions.make,
    ir.IsA: Expressions.is_a,
    ir.Narrow: Expressions.narrow,
    ir.Needed: Expressions.needed,
    ir.Call: Expressions.call,
}
