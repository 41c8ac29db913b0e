"""The texts of a row, made by generated code: one function for each kind of event of a machine.

    def tell_ack(done, head, seq, wall):
        _, _, (given_upto,), _, before, ..., time, _, old_acked, new_acked = done.record
        changed = ''
        if old_acked is not new_acked and old_acked != new_acked:
            changed += f',"acked":{+new_acked if ... else text_of_new_acked(new_acked)}'
        changed = f'{{{changed[1:]}}}'
        return f'{head}{seq},"time":{time_text(time)},"machine":...,"changed":{changed},...'

A function reads the record of an event as a tuple (see `event_record.Stepped`) and puts numbers,
truths and names straight into the text. Any other value goes through the function that makes the
text of its type. If an event may change a container or a timer, `container_changes` tells what
has changed.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from lawful.spec import types as t
from lawful.spec.errors import Place
from lawful.spec.values.unlike import unlike
from lawful.spec.values.world import EXACT

from ..compile.python_ast import (
    all_of,
    assign,
    attribute,
    call,
    compare,
    if_,
    located,
    name,
    target_of,
)
from ..json_text import head_of, text_of_name, text_of_time
from ..kernel.plan import Plan
from .container_changes import Teller

Piece = str | ast.expr  # Of a text.
Key = tuple[str, str, tuple[str, ...]]  # A way, the transition that ran, and what it may write.
NOWHERE = Place("<rows>", 1, 0, 1, 0)


class RowCode(dict[Key, Callable[..., Any]]):
    """The functions of one machine, by ways, transitions and what these write. `PARAMS`: what a
    function is given besides the record."""

    PARAMS: tuple[str, ...] = ()

    def __init__(self, plan: Plan, teller: Teller) -> None:
        super().__init__()
        self.plan = plan
        self.teller = teller

    def __missing__(self, key: Key) -> Callable[..., Any]:
        made = self[key] = Function(self, key).compiled()
        return made

    def body(self, function: Function) -> list[ast.stmt]:
        """What a function does once it has the text of what has changed."""
        raise NotImplementedError


class Function:
    """Emits one function."""

    def __init__(self, code: RowCode, key: Key) -> None:
        self.code = code
        self.way, self.transition, self.writes = code.plan.steps[key[0]], key[1], key[2]
        self.event = code.plan.steps[self.way.event]
        self.plain = not code.plan.families and all(
            code.teller.is_plain(each) for each in self.writes
        )
        self.globals: dict[str, Any] = {"EXACT": EXACT}

    def compiled(self) -> Callable[..., Any]:
        """The function."""
        node = located(self.node(), NOWHERE)
        exec(compile(ast.Module([node], []), NOWHERE.file, "exec", dont_inherit=True), self.globals)
        made: Callable[..., Any] = self.globals[node.name]
        return made

    def source(self) -> str:
        """The function as Python code."""
        return ast.unparse(located(self.node(), NOWHERE))

    def node(self) -> ast.FunctionDef:
        """Its syntax tree."""
        params = [ast.arg(each) for each in ("done", *self.code.PARAMS)]
        args = ast.arguments([], params, None, [], [], None, [])
        body = [*self.unpacked(), *self.changes(), *self.code.body(self)]
        node = ast.FunctionDef(f"tell_{self.way.name}", args, body, [], None)
        if "type_params" in node._fields:  # From Python 3.12 on it has to be there.
            setattr(node, "type_params", [])  # noqa: B010  # type checkers take this for 3.11
        return node

    def unpacked(self) -> list[ast.stmt]:
        """Take the record apart."""
        given = set(self.code.PARAMS)
        fields = ("_", "_", "given", "_", "before", "after", "output", "_", "time", "_")
        names = ["_" if each in given else each for each in fields]
        parts: list[ast.expr] = [ast.Name(each, ast.Store()) for each in names]
        parts[2] = target_of(tuple(f"given_{param}" for param, _ in self.way.params))
        if self.plain:
            for side in ("old", "new"):
                parts += [ast.Name(f"{side}_{each}", ast.Store()) for each in self.writes]
        else:
            parts.append(ast.Starred(ast.Name("_", ast.Store()), ast.Store()))
        return [ast.Assign([ast.Tuple(parts, ast.Store())], attribute(name("done"), "record"))]

    def changes(self) -> list[ast.stmt]:
        """Make the text of what has changed."""
        if not self.plain:
            told = self.put("changes", self.code.teller.text)
            return [assign(name("changed"), call(told, name("done")))]
        if not self.writes:
            return [assign(name("changed"), ast.Constant("{}"))]
        out: list[ast.stmt] = [assign(name("changed"), ast.Constant(""))]
        for each in self.writes:
            old, new = name(f"old_{each}"), name(f"new_{each}")
            text = joined(f",{head_of(each)}", *self.text(new.id, self.code.plan.fields[each]))
            other = all_of([compare(old, op, new) for op in (ast.IsNot(), ast.NotEq())])
            if self.code.teller.is_exact(each):
                other = call(self.put("unlike", unlike), old, new)
            out.append(if_(other, ast.AugAssign(ast.Name("changed", ast.Store()), ast.Add(), text)))
        rest = ast.Subscript(name("changed"), ast.Slice(ast.Constant(1)), ast.Load())
        return [*out, assign(name("changed"), joined("{", rest, "}"))]

    def args(self) -> list[Piece]:
        """The text of the arguments."""
        out: list[Piece] = []
        for param, kind in self.way.params:
            out += [",", head_of(param), *self.text(f"given_{param}", kind)]
        return ["{", *out[1:], "}"]

    def output(self) -> list[Piece]:
        """The text of the output."""
        return self.text("output", self.event.output)

    def control(self, side: str) -> list[Piece]:
        """The text of the control state on this side of the event."""
        if self.code.plan.control is None:
            return ["null"]
        return [call(self.put("name_text", text_of_name), self.control_name(side))]

    def control_name(self, side: str) -> ast.expr:
        """Its name; None before it has begun, and where the machine has none."""
        if self.code.plan.control is None:
            return ast.Constant(None)
        there = attribute(name(side), "_name_")  # Reading `name` takes six times as long.
        begun = compare(name(side), ast.IsNot(), ast.Constant(None))
        return ast.IfExp(begun, there, ast.Constant(None))

    def time(self) -> list[Piece]:
        """The text of the time."""
        return [call(self.put("time_text", text_of_time), name("time"))]

    def text(self, variable: str, kind: t.Type) -> list[Piece]:
        """The text of a local variable that has values of this type."""
        value = name(variable)
        made = call(self.put(f"text_of_{variable}", self.code.teller.texter(kind)), value)
        match kind:
            case t.Nothing():
                return ["null"]
            case t.Int():
                low = ast.UnaryOp(ast.USub(), name("EXACT"))
                exact = ast.Compare(low, [ast.LtE(), ast.LtE()], [value, name("EXACT")])
                plain = ast.UnaryOp(ast.UAdd(), value)  # It may be a bool.
                return [ast.IfExp(exact, plain, made)]
            case t.Bool():
                return [ast.IfExp(value, ast.Constant("true"), ast.Constant("false"))]
            case t.Enum(members=members) if kind.__class__ is t.Enum and all(
                map(str.isascii, members)
            ):
                return ['"', attribute(value, "_name_"), '"']
            case _:
                return [made]

    def put(self, key: str, value: Any) -> str:
        """A global name for the value."""
        self.globals.setdefault(key, value)
        return key


def joined(*pieces: Piece) -> ast.JoinedStr:
    """An f-string of texts and expressions."""
    out: list[ast.expr] = []
    text = ""
    for each in pieces:
        if isinstance(each, str):
            text += each
            continue
        out += [ast.Constant(text)] if text else []
        out.append(each if isinstance(each, ast.FormattedValue) else ast.FormattedValue(each, -1))
        text = ""
    return ast.JoinedStr(out + ([ast.Constant(text)] if text else []))
