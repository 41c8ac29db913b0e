"""Generated steps as LLVM's assembly language.

The text that `codegen` writes uses little of Python: integers, arrays of integers, loops, and calls
of functions defined before. This module translates that subset, function by function; a compiler
for all of Python would spend ten times as long on type inference. Numbers are 64 bits and wrap
around; an array is a pointer, and no two arrays of a function overlap. `//` and `%` round as in
Python, and give 0 if the divisor is 0.

Source: LLVM Language Reference Manual.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from ..codegen.text import SELDOM
from . import intrinsics
from .llvm_lines import Known, Lines, Operand, common
from .steps_syntax import assigned, certain, is_bit

# Parameters of these names are arrays of integers of so many bits; narrow ones have no sign.
ARRAYS = {
    **dict.fromkeys(("w", "store", "out", "info", "totals", "firsts", "control", "batch"), 64),
    **dict.fromkeys(("origins", "hashes", "recent", "ends", "edges", "labels"), 64),
    **dict.fromkeys(("shared", "sums", "earliest", "row", "other"), 64),
    **dict.fromkeys(("opened", "pieces", "slots", "fresh", "likely", "doubtful"), 64),
    "piece_table": 32,
    "table": 32,
    "parents": 32,
    "rules": 16,
    "marks": 8,
}


ZERO = Operand("0")
ARITHMETIC: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.LShift: "shl",
    ast.RShift: "ashr",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
}
COMPARED: dict[type[ast.cmpop], str] = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "slt",
    ast.LtE: "sle",
    ast.Gt: "sgt",
    ast.GtE: "sge",
}


def assembly(sources: Sequence[str], numbers: Mapping[str, int], seen: Collection[str]) -> str:
    """The functions of these texts that are seen from outside, and those that they call.

    These names are numbers in them.

    Arrays that a text declares outside of its functions are shared by all of them: each function
    gets one more parameter in front, which points to the pointers to these arrays, in their order.
    A function that only raises an error is built in. Raises `ValueError` for what the texts are
    not to contain.
    """
    known: dict[str, _Function] = {}
    sharing: set[str] = set()
    for source in sources:
        body = ast.parse(source).body
        declared = (node.target for node in body if isinstance(node, ast.AnnAssign))
        shared = [at.id for at in declared if isinstance(at, ast.Name) and at.id in ARRAYS]
        functions = [
            node
            for node in body
            if isinstance(node, ast.FunctionDef)
            and node.name not in intrinsics.DEFINED
            and not isinstance(node.body[-1], ast.Raise)
        ]
        if shared:
            sharing.update(node.name for node in functions)
        known |= {node.name: _Function(node, numbers, shared, sharing) for node in functions}
    made: dict[str, str] = {}
    wanted = [*seen]
    while wanted:
        name = wanted.pop()
        if name in known and name not in made:
            made[name] = known[name].text(name in seen)
            wanted += known[name].called
    return "\n".join((intrinsics.TEXT, *made.values()))


class _Function(Lines):
    """One function; see `llvm_lines` for its locals."""

    def __init__(
        self,
        node: ast.FunctionDef,
        numbers: Mapping[str, int],
        shared: Sequence[str],
        sharing: Collection[str],
    ) -> None:
        super().__init__()
        self.node = node
        self.numbers = numbers
        self.shared = shared
        self.sharing = sharing  # The functions that have the parameter for shared rows.
        self.called: dict[str, None] = {}
        self.rows: dict[str, None] = {}  # Shared rows that it works on.

    def text(self, seen: bool) -> str:
        node, names = self.node, [a.arg for a in self.node.args.args]
        given = [f"ptr noalias %{n}" if n in ARRAYS else f"i64 %p.{n}" for n in names]
        if self.shared:
            given.insert(0, "ptr noalias %rows")
        for name in names:
            if name not in ARRAYS:
                self.store(name, Operand(f"%p.{name}"))
        self.body(node.body)
        if self.open:
            self.end("ret i64 0")
        scope = "" if seen else "internal "
        lines = "\n".join((*map(self.shared_row, self.rows), *self.placed()))
        apart = " noinline cold" if ast.get_docstring(node) == SELDOM else ""
        head = f"define {scope}i64 @{node.name}({', '.join(given)}) nounwind{apart}"
        return f"{head} {{\nentry:\n{lines}\n}}\n"

    def shared_row(self, row: str) -> str:
        """Where a row that several functions share stands."""
        at = f"  %at.{row} = getelementptr inbounds ptr, ptr %rows, i64 {self.shared.index(row)}"
        return f"{at}\n  %{row} = load ptr, ptr %at.{row}"

    # Statements.

    def body(self, body: list[ast.stmt]) -> None:
        for stmt in body:
            if not self.open:  # What stands behind a return is never done.
                return
            self.statement(stmt)

    def statement(self, stmt: ast.stmt) -> None:
        match stmt:
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                pass
            case ast.Expr(value=value):
                self.value(value)
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                held = [self.number(v) for v in values]
                for place, number in zip(targets, held, strict=True):
                    self.assign(place, number)
            case ast.Assign(targets=[target], value=value):
                self.assign(target, self.value(value))
            case ast.AugAssign(target=target, op=op, value=value):
                self.update(target, op, value)
            case ast.If():
                self.choice(stmt)
            case ast.While(test=test, body=body, orelse=[]):
                self.repeat(test, body)
            case ast.For(target=ast.Name(id=name), iter=ast.Call(args=args), body=body, orelse=[]):
                self.count_through(name, args, body)
            case ast.Continue():
                self.end(f"br label %{self.loops[-1][0]}")
            case ast.Break():
                self.end(f"br label %{self.loops[-1][1]}")
            case ast.Return(value=None):
                self.end("ret i64 0")
            case ast.Return(value=ast.expr() as value):
                self.end(f"ret i64 {self.number(value).text}")
            case _:
                raise ValueError(ast.unparse(stmt))

    def assign(self, target: ast.expr, value: Operand) -> None:
        if isinstance(target, ast.Name):
            self.store(target.id, value)
        else:
            self.put(*self.address(target), self.whole(value))

    def update(self, target: ast.expr, op: ast.operator, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            held = self.whole(self.load(target.id))
            self.store(target.id, self.arithmetic(op, held, self.number(value)))
            return
        place, bits = self.address(target)
        given = self.number(value)
        self.put(place, bits, self.arithmetic(op, self.get(place, bits), given))

    def address(self, target: ast.expr) -> tuple[str, int]:
        """A place in a row, and how many bits are there."""
        if not isinstance(target, ast.Subscript) or not isinstance(target.value, ast.Name):
            raise ValueError(ast.unparse(target))
        row = target.value.id
        if row not in ARRAYS:
            raise ValueError(ast.unparse(target))
        return self.place(row, target.slice), ARRAYS[row]

    def place(self, row: str, index: ast.expr) -> str:
        at = self.number(index).text
        self.work_on(row)
        return self.hold(f"getelementptr inbounds i{ARRAYS[row]}, ptr %{row}, i64 {at}").text

    def work_on(self, row: str) -> None:
        if row in self.shared:
            self.rows.setdefault(row)

    def get(self, place: str, bits: int) -> Operand:
        found = self.hold(f"load i{bits}, ptr {place}")
        return found if bits == 64 else self.hold(f"zext i{bits} {found.text} to i64")

    def put(self, place: str, bits: int, value: Operand) -> None:
        if bits < 64:
            value = self.hold(f"trunc i64 {value.text} to i{bits}")
        self.line(f"store i{bits} {value.text}, ptr {place}")

    def choice(self, stmt: ast.If) -> None:
        yes, no, after = self.label(), self.label(), self.label()
        self.fork(stmt.test, yes, no)
        before, ends = self.known, list[Known]()
        for label, body in ((yes, stmt.body), (no, stmt.orelse)):
            self.begin(label, before)
            self.body(body)
            if self.open:
                ends.append(self.known)
            self.end(f"br label %{after}")
        if ends:
            self.begin(after, common(ends))

    def fork(self, test: ast.expr, yes: str, no: str) -> None:
        """To one of two blocks, by a test of which no more is looked at than decides."""
        match test:
            case ast.BoolOp(op=op, values=values):
                conjunction = isinstance(op, ast.And)
                first, *others = [v for v in values if certain(v) is not conjunction] or values[:1]
                known: Known | None = None
                for other in others:
                    more = self.label()
                    self.fork(first, *((more, no) if conjunction else (yes, more)))
                    known = self.known if known is None else known
                    self.begin(more, known)
                    first = other
                self.fork(first, yes, no)
                self.known = self.known if known is None else known
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                self.fork(operand, no, yes)
            case _:
                self.branch(self.truth(test), yes, no)

    def repeat(self, test: ast.expr, body: list[ast.stmt]) -> None:
        again, inside, after = self.label(), self.label(), self.label()
        known = self.unchanged(assigned(body))
        self.begin(again, known)
        self.fork(test, inside, after)
        with self.loop(again, after):
            self.begin(inside)
            self.body(body)
            self.end(f"br label %{again}")
        self.begin(after, known)

    def count_through(self, name: str, args: list[ast.expr], body: list[ast.stmt]) -> None:
        """`for name in range(...)`, whose step is a number that is written out."""
        given = [self.number(a) for a in args]
        first, last = (ZERO, *given)[-2:] if len(given) < 3 else given[:2]
        step = given[2].text if len(given) == 3 else "1"
        test, inside, again, after = (self.label() for _ in range(4))
        hidden = f"{name}.{test}"
        self.store(hidden, first)
        known = self.unchanged(assigned(body) | {name, hidden})
        self.begin(test, known)
        now = self.load(hidden)
        compared = "sgt" if step.startswith("-") else "slt"
        self.branch(self.hold(f"icmp {compared} i64 {now.text}, {last.text}", True), inside, after)
        with self.loop(again, after):
            self.begin(inside)
            self.store(name, now)
            self.body(body)
            self.begin(again)
            # It ends before the last number that 64 bits hold.
            self.store(hidden, self.hold(f"add nsw i64 {now.text}, {step}"))
            self.end(f"br label %{test}")
        self.begin(after, known)

    # Expressions.

    def number(self, node: ast.expr) -> Operand:
        return self.whole(self.value(node))

    def truth(self, node: ast.expr) -> Operand:
        value = self.value(node)
        return value if value.bit else self.hold(f"icmp ne i64 {value.text}, 0", True)

    def value(self, node: ast.expr) -> Operand:
        write = VALUES.get(node.__class__)
        if write is None:
            raise ValueError(ast.unparse(node))
        return write(self, node)

    def constant(self, node: ast.Constant) -> Operand:
        value = node.value
        if isinstance(value, bool):
            return Operand("true" if value else "false", True)
        assert isinstance(value, int)
        return _whole(value)

    def name(self, node: ast.Name) -> Operand:
        number = self.numbers.get(node.id)
        return self.load(node.id) if number is None else _whole(number)

    def unary(self, node: ast.UnaryOp) -> Operand:
        match node.op, node.operand:
            case ast.Not(), operand:
                return self.hold(f"xor i1 {self.truth(operand).text}, true", True)
            case ast.USub(), ast.Constant(value=int(value)):
                return _whole(-value)
            case ast.USub(), operand:
                return self.hold(f"sub i64 0, {self.number(operand).text}")
            case ast.Invert(), operand:
                return self.hold(f"xor i64 -1, {self.number(operand).text}")
            case _:
                raise ValueError(ast.unparse(node))

    def arithmetic(self, op: ast.operator, left: Operand, right: Operand) -> Operand:
        pair = f"i64 {left.text}, {right.text}"
        if isinstance(op, ast.FloorDiv | ast.Mod):
            name = "floor_div" if isinstance(op, ast.FloorDiv) else "floor_mod"
            return self.hold(f"call i64 @{name}(i64 {left.text}, i64 {right.text})")
        if type(op) not in ARITHMETIC:
            raise ValueError(type(op).__name__)
        return self.hold(f"{ARITHMETIC[type(op)]} {pair}")

    def compared(self, node: ast.Compare) -> Operand:
        left = self.number(node.left)
        found: Operand | None = None
        for op, other in zip(node.ops, node.comparators, strict=True):
            right = self.number(other)
            test = self.hold(f"icmp {COMPARED[type(op)]} i64 {left.text}, {right.text}", True)
            found = test if found is None else self.hold(f"and i1 {found.text}, {test.text}", True)
            left = right
        assert found is not None
        return found

    def joined(self, node: ast.BoolOp) -> Operand:
        """`and`, `or`: the rest is looked at only where the first does not decide.

        Where all are truth values, so is it; otherwise it is a number, the last looked at.
        """
        conjunction, values = isinstance(node.op, ast.And), node.values
        after = self.label()
        result = f"join.{after}"
        bit = all(map(is_bit, values))
        known: Known | None = None
        for value in values[:-1]:
            held = self.value(value)
            known = dict(self.known) if known is None else known
            self.store(result, held)
            more = self.label()
            test = held if held.bit else self.hold(f"icmp ne i64 {held.text}, 0", True)
            self.branch(test, *((more, after) if conjunction else (after, more)))
            self.begin(more)
        self.store(result, self.value(values[-1]))
        self.begin(after, known)
        found = self.load(result)
        return self.hold(f"trunc i64 {found.text} to i1", True) if bit else found

    def either(self, node: ast.IfExp) -> Operand:
        yes, no, after = self.label(), self.label(), self.label()
        result = f"either.{after}"
        self.fork(node.test, yes, no)
        known = self.known
        for label, value in ((yes, node.body), (no, node.orelse)):
            self.begin(label, known)
            self.store(result, self.value(value))
            self.end(f"br label %{after}")
        self.begin(after, known)
        return self.load(result)

    def call(self, node: ast.Call) -> Operand:
        assert isinstance(node.func, ast.Name)
        name, args = node.func.id, node.args
        if name in ("min", "max"):
            held = [self.number(a) for a in args]
            found = held[0]
            for other in held[1:]:
                found = self.hold(f"call i64 @llvm.s{name}.i64(i64 {found.text}, i64 {other.text})")
            return found
        if name == "prefetch":
            assert isinstance(args[0], ast.Name)
            place = self.place(args[0].id, args[1])
            self.line(f"call void @llvm.prefetch.p0(ptr {place}, i32 0, i32 3, i32 1)")
            return ZERO
        self.called.setdefault(name)
        for a in args:
            if isinstance(a, ast.Name):
                self.work_on(a.id)
        first = ["ptr %rows"] if name in self.sharing else []
        given = first + [
            f"ptr %{a.id}"
            if isinstance(a, ast.Name) and a.id in ARRAYS
            else f"i64 {self.number(a).text}"
            for a in args
        ]
        return self.hold(f"call i64 @{name}({', '.join(given)})")


# Code of an expression, by its kind: most of a function's text is expressions.
VALUES: dict[type[ast.expr], Callable[[_Function, Any], Operand]] = {
    ast.Constant: _Function.constant,
    ast.Name: _Function.name,
    ast.Subscript: lambda f, node: f.get(*f.address(node)),
    ast.UnaryOp: _Function.unary,
    ast.BinOp: lambda f, node: f.arithmetic(node.op, f.number(node.left), f.number(node.right)),
    ast.Compare: _Function.compared,
    ast.BoolOp: _Function.joined,
    ast.IfExp: _Function.either,
    ast.Call: _Function.call,
}


def _whole(value: int) -> Operand:
    """A number as 64 bits hold it."""
    if -(1 << 63) <= value < 1 << 63:
        return Operand(str(value))
    return Operand(str((value + (1 << 63)) % (1 << 64) - (1 << 63)))
