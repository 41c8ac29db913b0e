"""Expressions of the IR as text: one exact line of Python, as `show` and refusals print it.

Operators are written by their templates in `ops.TABLE`. Their precedence is read from the same
templates, so that parentheses appear only where Python needs them.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum

from .. import ir, ops
from .. import types as t
from ..errors import NOWHERE
from ..quick_dataclass import dataclass


class Level(IntEnum):
    """How tightly Python binds, loosest first; an operand looser than its slot is bracketed."""

    TEST = 0
    OR = 1
    AND = 2
    NOT = 3
    COMPARE = 4
    BITOR = 5
    BITXOR = 6
    BITAND = 7
    SUM = 8
    TERM = 9
    UNARY = 10
    NUMBER = 11
    ATOM = 12


BINARY: dict[type[ast.operator], Level] = {
    ast.BitOr: Level.BITOR,
    ast.BitXor: Level.BITXOR,
    ast.BitAnd: Level.BITAND,
    ast.Add: Level.SUM,
    ast.Sub: Level.SUM,
    ast.Mult: Level.TERM,
    ast.FloorDiv: Level.TERM,
    ast.Mod: Level.TERM,
}


@dataclass(frozen=True, slots=True)
class Notation:
    """An operation's text with `_0`, `_1` for the operands, and how tightly it and they bind."""

    text: str
    level: Level
    slots: tuple[Level, ...]

    def filled(self, args: Sequence[str]) -> str:
        """The text with the operands' texts in their slots."""
        return re.sub(r"\b_(\d+)\b", lambda found: args[int(found[1])], self.text)


@functools.cache
def notation(op: str, arity: int) -> Notation:
    """The notation of an operator for so many operands."""
    names = [f"_{i}" for i in range(arity)]
    text = ops.text(op, names)
    node = ast.parse(text, mode="eval").body
    found = dict(_slots(node, Level.TEST))
    if op == "tuple" and arity > 1:
        text = text.removesuffix(",)") + ")"  # One element alone needs the template's last comma.
    return Notation(text, _level(node), tuple(found[name] for name in names))


def _level(node: ast.expr) -> Level:
    match node:
        case ast.BinOp(op=op):
            return BINARY[type(op)]
        case ast.Compare():
            return Level.COMPARE
        case ast.UnaryOp(op=ast.Not()):
            return Level.NOT
        case ast.UnaryOp():
            return Level.UNARY
        case _:
            return Level.ATOM


def _slots(node: ast.AST, need: Level) -> Iterator[tuple[str, Level]]:
    """The names in a template's syntax, each with the level that its position needs."""
    match node:
        case ast.Name(id=name):
            yield name, need
        case ast.BinOp(left=left, right=right, op=op):
            yield from _slots(left, BINARY[type(op)])
            yield from _slots(right, Level(BINARY[type(op)] + 1))
        case ast.Compare(left=left, comparators=[right]):
            yield from _slots(left, Level.BITOR)
            yield from _slots(right, Level.BITOR)
        case ast.UnaryOp(operand=operand):
            yield from _slots(operand, _level(node))
        case ast.Attribute(value=value):
            yield from _slots(value, Level.ATOM)
        case ast.Subscript(value=value, slice=key):
            yield from _slots(value, Level.ATOM)
            yield from _slots(key, Level.TEST)
        case _:
            for child in ast.iter_child_nodes(node):
                yield from _slots(child, Level.TEST)


# Expressions.


def expr(e: ir.Expr) -> str:
    """The expression as one line of Python, with the parentheses that it needs and no others."""
    return _read(e)[1]


def operand(e: ir.Expr, need: Level) -> str:
    """The expression as an operand of an operator with precedence `need`."""
    level, text = _read(e)
    return text if level >= need else f"({text})"


def _list(args: Iterable[ir.Expr]) -> str:
    return ", ".join(expr(arg) for arg in args)


def _read(e: ir.Expr) -> tuple[Level, str]:
    """The text of an expression, and how tightly it binds."""
    match e:
        case ir.Narrow(of=of):
            return _read(of)
        case ir.Const():
            return _constant(e)
        case ir.Op():
            return _operation(e)
        case ir.And() | ir.Or():
            return _connected(e)
        case ir.If(test=test, then=then, other=other):
            text = f"{operand(then, Level.OR)} if {operand(test, Level.OR)} else {expr(other)}"
            return Level.TEST, text
        case ir.IsA(of=of, options=(t.Nothing(),)):
            return Level.COMPARE, f"{operand(of, Level.BITOR)} is None"
        case _:
            return Level.ATOM, _atom(e)


def _atom(e: ir.Expr) -> str:
    match e:
        case ir.Self():
            return "self"
        case ir.Local(name=name):
            return name
        case ir.Field(of=of, name=name):
            return f"{operand(of, Level.ATOM)}.{name}"
        case ir.Item(of=of, key=key):
            return f"{operand(of, Level.ATOM)}[{_bare(key)}]"
        case ir.Make():
            return _made(e)
        case ir.New(type=type, args=given):
            return f"{type}({', '.join(f'{name}={expr(arg)}' for name, arg in given)})"
        case ir.View(type=type, args=given):
            values = ", ".join(f"{name}={expr(arg)}" for name, arg in given)
            return f"{type}.lawful.state({values})"
        case ir.Comp():
            return _comprehension(e)
        case ir.IsA(of=of, options=options):
            return f"isinstance({expr(of)}, {' | '.join(map(str, options))})"
        case ir.Needed(of=of, why=why):
            return f"needed({expr(of)}, {expr(why)})"
        case ir.Can(part=part, name=name, args=args):
            called = f"{operand(part, Level.ATOM)}.{name}"
            return f"can({', '.join([called, *map(expr, args)])})"
        case ir.Enabled(event=event, args=args):
            return f"can({', '.join([f'self.{event}', *map(expr, args)])})"
        case ir.Call(function=function, of=ir.Self(), args=args) if "." in function:
            return f"super().{own_name(function)}({_list(args)})"
        case ir.Call(function=function, of=of, args=args):
            owner = "" if of is None else f"{operand(of, Level.ATOM)}."
            return f"{owner}{own_name(function)}({_list(args)})"
        case ir.Domain(type=type):
            return str(t.element(type) or type)
        case ir.Format():
            return _interpolated(e)
        case _:
            raise TypeError(f"no text for {e!r}")


def own_name(key: str) -> str:
    """The name that the user wrote, of a key that may say the owner first."""
    return key.rpartition(".")[2]


def _constant(e: ir.Const) -> tuple[Level, str]:
    match e.type, e.value:
        case t.Timer(urgent=urgent), _:
            return Level.ATOM, "Timer(urgent=True)" if urgent else "Timer()"
        case t.Clock(tick=tick), _:
            return Level.ATOM, f"Clock(tick={tick})"
        case t.Literal(), str(text):
            return Level.ATOM, quoted(text)
        case t.Enum(name=name), str(member):
            return Level.ATOM, f"{name}.{member}"
        case ((t.Sort(name=name) | t.Opaque(name=name)), value) if value is not None:
            return Level.ATOM, f"{name}({quoted(value) if isinstance(value, str) else value})"
        case _, str(value):
            return Level.ATOM, quoted(value)
        case _, (bool() | None) as value:
            return Level.ATOM, repr(value)
        case _, value:
            text = repr(value)
            return (Level.UNARY if text.startswith("-") else Level.NUMBER), text


def quoted(value: str) -> str:
    """The text as a Python literal, always in double quotes: JSON's literals are Python's too."""
    import json  # An instance does not need it to begin with.

    return json.dumps(value, ensure_ascii=False)


def _operation(e: ir.Op) -> tuple[Level, str]:
    match e:
        case ir.Op(op="not", args=(ir.IsA(of=of, options=(t.Nothing(),)),)):
            return Level.COMPARE, f"{operand(of, Level.BITOR)} is not None"
        case ir.Op(op="set", args=(), type=t.Set(mutable=False)):
            return Level.ATOM, "frozenset()"
        case ir.Op(op="map", args=args):
            pairs = zip(args[::2], args[1::2], strict=True)
            return Level.ATOM, f"{{{', '.join(f'{expr(k)}: {expr(v)}' for k, v in pairs)}}}"
        case ir.Op(op="before", args=(first, second, _)):
            return Level.ATOM, f"before({expr(first)}, {expr(second)})"
        case ir.Op(op="serial_add" | "serial_sub", args=(first, second, _)):
            row = notation(e.op.removeprefix("serial_"), 2)
            return row.level, row.filled([*map(operand, (first, second), row.slots)])
        case ir.Op(op="first_or", args=(ir.Comp() as made, default)):
            return Level.ATOM, f"next(({_generator(made)}), {expr(default)})"
        case ir.Op(op="min_or" | "max_or", args=(ir.Comp(kind="tuple") as made, default)):
            return Level.ATOM, f"{e.op[:3]}(({_generator(made)}), default={expr(default)})"
        case ir.Op(op="counter_of", args=(ir.Op(op="map", args=()),)):
            return Level.ATOM, "Counter()"
        case ir.Op(op="join", args=(between, ir.Comp(kind="tuple") as made)):
            return Level.ATOM, f"{operand(between, Level.ATOM)}.join({_generator(made)})"
        case ir.Op(op="slice", args=(of, low, high)):
            ends = ["" if _nothing(end) else expr(end) for end in (low, high)]
            return Level.ATOM, notation("slice", 3).filled([operand(of, Level.ATOM), *ends])
        case ir.Op(op=op, args=(ir.Comp() as made,)) if (
            op in ops.COPIES and made.kind in ops.DISPLAYS
        ):
            return Level.ATOM, notation(op, 1).filled([_generator(made)])
        case _:
            row = notation(e.op, len(e.args))
            return row.level, row.filled([*map(operand, e.args, row.slots)])


def _nothing(e: ir.Expr) -> bool:
    return isinstance(e, ir.Const) and e.value is None


def _bare(e: ir.Expr) -> str:
    """A tuple without its parentheses, for places with brackets around it."""
    several = isinstance(e, ir.Op) and e.op == "tuple" and len(e.args) > 1
    return expr(e)[1:-1] if several else expr(e)


def _connected(e: ir.And | ir.Or) -> tuple[Level, str]:
    match e:
        case ir.Or(args=(ir.Op(op="not", args=(first,)) as negated, second)) if (
            negated.place == first.place != NOWHERE
        ):
            # Only `implies` makes a negation that stands where its operand does.
            return Level.ATOM, f"implies({expr(first)}, {expr(second)})"
        case ir.And():
            level, word, groups = Level.AND, " and ", [*_chains([*_flat(e)])]
        case _:
            level, word, groups = Level.OR, " or ", [[arg] for arg in _flat(e)]
    if len(groups) == 1:
        return (Level.COMPARE, _chain(groups[0])) if len(groups[0]) > 1 else _read(groups[0][0])
    need = Level(level + 1)
    return level, word.join(_chain(g) if len(g) > 1 else operand(g[0], need) for g in groups)


def _flat(e: ir.And | ir.Or) -> Iterator[ir.Expr]:
    """The operands, those of a nested one of the same kind among them."""
    for arg in e.args:
        if isinstance(arg, ir.And | ir.Or) and type(arg) is type(e):
            yield from _flat(arg)
        else:
            yield arg


def _chains(args: Sequence[ir.Expr]) -> Iterator[list[ir.Expr]]:
    """The operands of an `and`, comparisons that were written as one chain together."""
    group: list[ir.Expr] = []
    for arg in args:
        if group and not _continues(group[-1], arg):
            yield group
            group = []
        group.append(arg)
    yield group


def _continues(one: ir.Expr, two: ir.Expr) -> bool:
    if not (isinstance(one, ir.Op) and isinstance(two, ir.Op)):
        return False
    if any(notation(o.op, len(o.args)).level != Level.COMPARE for o in (one, two)):
        return False
    # The shared operand of a chain stands in the source once: value and place are the same.
    shared = (one.args[1], two.args[0])
    return shared[0] == shared[1] and shared[0].place == shared[1].place


def _chain(group: Sequence[ir.Expr]) -> str:
    text = ""
    for link in group:
        assert isinstance(link, ir.Op)
        left, right = (operand(arg, Level.BITOR) for arg in link.args)
        text = notation(link.op, 2).filled([text or left, right])
    return text


def _made(e: ir.Make) -> str:
    fields = e.type.fields if isinstance(e.type, t.Record) else ()
    if len(fields) < 2:
        return f"{e.type}({_list(e.args)})"
    pairs = zip(fields, e.args, strict=True)
    return f"{e.type}({', '.join(f'{name}={expr(arg)}' for (name, _), arg in pairs)})"


def _comprehension(e: ir.Comp) -> str:
    match e.kind, e.key:
        case "map", ir.Local(name="_key"):
            return f"total({expr(e.element)})"
        case "map", ir.Local(name=key) if (
            # Only so is all of a type gone through that is no class. An enum that is written out
            # has an order.
            isinstance(e.clauses[0].over, ir.Domain) and not t.ordered(e.clauses[0].over.type)
        ):
            return f"total(lambda {key}: {expr(e.element)})"
        case "map", ir.Expr() as key:
            return f"{{{expr(key)}: {_generator(e)}}}"
        case "list", _:
            return f"[{_generator(e)}]"
        case "set", _ if isinstance(e.type, t.Set) and not e.type.mutable:
            return f"frozenset({_generator(e)})"
        case "set", _:
            return f"{{{_generator(e)}}}"
        case word, _:
            return f"{word}({_generator(e)})"


def _generator(e: ir.Comp) -> str:
    return expr(e.element) + "".join(map(_clause, e.clauses))


def _clause(c: ir.Clause) -> str:
    conditions = "".join(f" if {operand(test, Level.OR)}" for test in c.conditions)
    return f" for {', '.join(c.names)} in {operand(c.over, Level.OR)}{conditions}"


def _interpolated(e: ir.Format) -> str:
    # Up to Python 3.11 the delimiter must not occur in the text of the values.
    values = (part for part in e.parts if not _is_written(part))
    inside = "".join(map(expr, values))
    quote = next((q for q in ('"', "'", '"""') if q not in inside), "'''")
    return f"f{quote}{''.join(_part(part, quote[0]) for part in e.parts)}{quote}"


def _is_written(part: ir.Expr) -> bool:
    return isinstance(part, ir.Const) and isinstance(part.type, t.Text)


def _part(part: ir.Expr, quote: str) -> str:
    match part:
        case ir.Const(type=t.Text(), value=str(value)):
            plain = quoted(value)[1:-1].replace("{", "{{").replace("}", "}}")
            return plain.replace("'", "\\'") if quote == "'" else plain
        case ir.Op(op="format", args=(of, ir.Const(value=str(spec)))):
            text = expr(of)
            return f"{{ {text}:{spec}}}" if text.startswith("{") else f"{{{text}:{spec}}}"
        case _:
            text = expr(part)
            return f"{{ {text} }}" if text.startswith("{") else f"{{{text}}}"
