"""Calls: the words of the language, Python's own functions, records, helpers, parts."""

from __future__ import annotations

import collections
import copy
import dataclasses
import enum
import functools
import itertools
import math
import sys
import types as python_types
import typing
from collections.abc import Callable
from typing import Any

from .. import ir, records, words
from .. import types as t
from ..analysis.places import in_machine, may_pass
from ..errors import a, nearest
from ..ops import UPDATES
from ..syntax import tree
from ..syntax.declare import Declaration
from ..syntax.hints import defaults_of, keyword_only
from . import clocks, expressions
from .builtins import FUNCTIONS
from .changing_calls import effect, is_super
from .constants import CONSTANTS, constant, values_by_texts
from .context import MISSING, Body, read_of
from .methods import METHODS, arguments, call_of, refused, replaced
from .of_values.definitions import of_class
from .refinements import is_view, view
from .short_forms.spans import number_of_span, spans_of
from .short_forms.text_methods import text_method


def call(b: Body, node: tree.Apply, expected: t.Type | None) -> ir.Expr:
    """A call inside an expression."""
    evaluated = b.evaluated
    changing = effect(b, node)
    if changing is not None:
        b.evaluated = evaluated  # Its own arguments come before it in any case.
        return _hoisted(b, node, changing)
    if is_view(b, node):
        return view(b, node, expected)
    seconds = number_of_span(b, node) or _seconds(b, node)
    if seconds is not None:
        return seconds
    static = b.static(node.function)
    if static is MISSING or _of_constant(b, node.function):
        if isinstance(node.function, tree.Attribute) and is_super(node.function.of):
            return _ancestors(b, node, node.function.name)
        if isinstance(node.function, tree.Subscript):
            return _subscripted(b, node, node.function)
        if isinstance(node.function, tree.Attribute):
            return _method(b, node, node.function, expected)
        expressions.expr(b, node.function)
        return b.wrong(node.place)
    if isinstance(static, typing.NewType) and len(node.args) == 1:
        return expressions.expr(b, node.args[0], b.scene.annotation(static, node.place, b.names))
    if isinstance(static, type):
        made = _made(b, node, static, expected) or _member(b, node, static)
        if made is not None:
            return made
    row = FUNCTIONS.get(static) if _hashable(static) else None
    if row is not None:
        return row(b, node, expected)
    if static is dataclasses.replace and len(node.args) == 1:
        of = expressions.expr(b, node.args[0])
        if isinstance(of.type, t.Record) and not records.is_named_tuple(
            b.scene.records[of.type.name]
        ):
            return replaced(b, node, of)
    rewrite = _instead(static, node)
    if rewrite is not None:
        name = getattr(node.function, "name", "this")
        b.problem("L204", node.place, f"{name}(...)", "a function of the language", rewrite)
        return b.wrong(node.place)
    if isinstance(static, python_types.FunctionType):
        return _module_function(b, node, static)
    if isinstance(static, python_types.MethodType) and of_class(static):
        return _module_function(b, node, static)
    return refused(b, node, "a word of the language, a record, a helper or a Python function")


def _subscripted(b: Body, node: tree.Apply, function: tree.Subscript) -> ir.Expr:
    """`set[Nat]()`: an empty container with the given type of elements."""
    cls: Any = b.static(function.of)
    row = FUNCTIONS.get(cls) if isinstance(cls, type) else None
    keys = function.key.items if isinstance(function.key, tree.Display) else (function.key,)
    given = tuple(b.static(key) for key in keys)
    made: Any = getattr(cls, "__class_getitem__", None)
    if row is None or made is None or MISSING in given:
        return refused(b, node, "a word of the language, a record, a helper or a Python function")
    return row(b, node, b.scene.annotation(made(given), node.place, b.names))


def _seconds(b: Body, node: tree.Apply) -> ir.Expr | None:
    """`WAITS[i].total_seconds()` of an item of a constant table of spans, as a number."""
    function = node.function
    if not isinstance(function, tree.Attribute) or function.name != "total_seconds" or node.args:
        return None
    if not isinstance(function.of, tree.Subscript):
        return None
    table: Any = b.static(function.of.of)
    spans = spans_of(table)
    if not spans:
        return None
    seconds = constant(b, spans if isinstance(table, dict) else (*spans.values(),), node.place)
    return None if seconds is None else expressions.item_of(b, function.of, seconds, None)


TAKES = "which one it takes is not determined: take a parameter, and discard that"
BY_ELEMENT = "iterate the bag: for x in self.c: ... self.c[x] ..."
# Methods of Python's containers that are none of the language, with what to write instead.
NO_METHOD = {
    ("Set", "pop"): f"{TAKES}; or the least: x = min({{0}}); {{0}}.remove(x)",
    ("Map", "popitem"): TAKES,
    ("Map", "setdefault"): "write if k not in self.m: self.m[k] = v; then self.m[k]",
    ("Seq", "sort"): "sort a list where it is kept, in a statement of its own: self.q.sort()",
    ("Seq", "reverse"): "reverse a list where it is kept, in a statement: self.q.reverse()",
    ("Timer", "cancel"): "write {0}.stop()",
    ("Timer", "reset"): "write {0}.start(seconds): it starts anew",
    ("Timer", "restart"): "write {0}.start(seconds): it starts anew",
    ("Bag", "update"): "write self.c[x] += 1 for each",
    ("Bag", "subtract"): "write self.c[x] -= 1 for each",
    ("Bag", "elements"): BY_ELEMENT,
}
COMPUTES = "a body only computes: return it, and let the caller of the event do that"
# What is often called and is no function of the language, with what to write instead.
INSTEAD: dict[Any, str] = {
    print: COMPUTES,
    input: COMPUTES,
    open: COMPUTES,
    map: "write a comprehension: {f(x) for x in s}",
    filter: "write a comprehension: [x for x in q if p(x)], {x for x in s if p(x)}",
    math.ceil: "write -(-a // b)",
    math.floor: "write a // b",
    functools.reduce: "write a loop; or sum(...), min(...), max(...), any(...)",
    itertools.product: "in a comprehension: (... for x in s for y in r)",
    itertools.permutations: "in a comprehension: (... for x, y in permutations(s, 2))",
    itertools.combinations: "in a comprehension: (... for x, y in combinations(q, 2)), of a list",
    iter: "write next((e for x in xs if p), default)",
    round: "use integers",
    float: "leave it out: a timer starts with an integer, too; elsewhere count in integers",
    pow: "write a ** 2, or make it a constant of the module",
    repr: "write str(x): text is only made and returned",
    type: "write isinstance(x, Ack), or match",
    hash: "compare the values themselves",
    id: "compare the values themselves",
    getattr: "write out the attribute",
    setattr: "write out the assignment",
    hasattr: "write isinstance(x, Ack), or match",
    dataclasses.field: "write the value itself: = [], = {}; each instance has its own",
    copy.copy: "write x.copy(), or list(x), set(x), dict(x)",
    copy.deepcopy: "write x.copy(), or list(x), set(x), dict(x)",
}


def _instead(static: Any, node: tree.Apply) -> str | None:
    """What to write instead of a call that is none of the language, where that is known."""
    found = INSTEAD.get(static) if _hashable(static) else None
    name: str = getattr(static, "__name__", "")
    module = type(getattr(static, "__self__", None)).__module__
    if "logging" in (module, getattr(static, "__module__", None)):
        return COMPUTES
    if static is collections.defaultdict:
        given = getattr(node.args[0], "name", "") if node.args else ""
        value = {"int": "0", "bool": "False", "Counter": "Counter()"}.get(given, f"{given}()")
        made = f"total({value})" if given else "total(v)"
        return f"write {made} where the keys are finite, else = {{}} and get(k, v)"
    if isinstance(static, type) and issubclass(static, enum.Enum):
        return f"make a table of the module: BY_VALUE = {{e.value: e for e in {name}}}"
    if isinstance(static, type) and (rewrite := records.instead_of(static)):
        return rewrite
    return found or CONSTANTS.get(name)


IN_PYTHON = "compute it outside: take the result as a parameter of the event, or return its input"


def _of_constant(b: Body, function: tree.Expression) -> bool:
    """Whether it is a method of a constant: `LIMITS.issubset(...)`."""
    owner = b.static(function.of) if isinstance(function, tree.Attribute) else MISSING
    kinds = (str, tuple, frozenset, list, set, dict, python_types.MappingProxyType)
    return isinstance(owner, (*kinds, enum.Enum)) or records.is_record_value(owner)


def _hashable(value: object) -> bool:
    return isinstance(value, type | python_types.FunctionType | python_types.BuiltinFunctionType)


def _changes(made: ir.Stmt, place: ir.Expr) -> bool:
    """Whether the statement of a call may change what is at a place."""
    match made:
        case ir.Branch(test=ir.Op(args=(_, changed))):  # Of a key that may be there.
            return may_pass(changed, place, below=False) or may_pass(place, changed, below=False)
        case ir.Step(part=changed) | ir.Update(target=changed):
            return may_pass(changed, place, below=False) or may_pass(place, changed, below=False)
        case _:
            return in_machine(place)


def _hoisted(
    b: Body, node: tree.Apply, changing: tuple[t.Type, Callable[[ir.Expr | None], ir.Stmt]]
) -> ir.Expr:
    """A step inside an expression becomes a statement before it, where that is the same."""
    type, make = changing
    if b.mode in ("property", "default"):
        return b.wrong(node.place)  # That it changes something was noted.
    local = b.temporary(type, node.place)
    made = make(local)
    if b.hoisted is None or b.evaluated is None or any(_changes(made, p) for p in b.evaluated):
        b.problem(
            "L102",
            node.place,
            "a change of the state inside an expression",
            "a statement of its own",
            "assign the result to a local first",
        )
        return b.wrong(node.place)
    b.hoisted.append(made)
    if isinstance(made, ir.Step):
        b.stepped()
    elif isinstance(made, ir.Update):
        b.updated(made.target)
    elif isinstance(made, ir.Branch) and isinstance(made.test, ir.Op):
        b.updated(made.test.args[1])
    else:
        b.forget_state(made)
    return read_of(local)


def _made(b: Body, node: tree.Apply, cls: type[Any], expected: t.Type | None) -> ir.Expr | None:
    """A record, a sort's element, a part, a timer or a clock; None for other classes."""
    if issubclass(cls, words.Timer | words.Clock):
        return clocks.made(b, node, cls)
    if not (issubclass(cls, words.Sort | Declaration) or records.is_record(cls)):
        return None
    kind = b.scene.annotation(cls, node.place, b.names)
    if isinstance(kind, t.Record):
        return _record(b, node, cls, kind)
    if isinstance(kind, t.Part):
        return _part(b, node, kind)
    match node.args:
        case (tree.Literal(value=str() as name),) if isinstance(kind, t.Sort):
            return ir.Const(node.place, kind, name)
        case _:
            return refused(b, node, 'an element by its name: Node("a")')


def _member(b: Body, node: tree.Apply, cls: type) -> ir.Expr | None:
    """The member of an enum that has this value; None of other classes."""
    if not issubclass(cls, enum.Enum) or len(node.args) != 1 or node.keywords:
        return None
    from .short_forms.enum_values import by_value  # Few machines look members up.

    return by_value(b, node, cls)


def _record(b: Body, node: tree.Apply, cls: Any, kind: t.Record) -> ir.Expr:
    given = {name for name, _ in node.keywords} | {n for n, _ in kind.fields[: len(node.args)]}
    left_out = {
        f.name: constant(b, _default_of(f), node.place, dict(kind.fields)[f.name])
        for f in records.fields_of(cls)
        if f.name not in given and _default_of(f) is not dataclasses.MISSING
    }
    if any(f.name in left_out and _default_of(f) != _default_of(f) for f in records.fields_of(cls)):
        found = f"{cls.__name__}(...), a field of which gets another default each time"
        rewrite = "give the field its value: take it as a parameter of the event"
        b.problem("L204", node.place, found, "a default that is always the same", rewrite)
        return b.wrong(node.place)
    params = tuple(field for field in kind.fields if field[0] not in left_out)
    args = dict(zip((name for name, _ in params), arguments(b, node, params), strict=False))
    values = [args.get(name) or left_out.get(name) for name, _ in kind.fields]
    known = tuple(value for value in values if value is not None)
    return ir.Make(node.place, kind, known) if len(known) == len(values) else b.wrong(node.place)


def _default_of(f: dataclasses.Field[Any]) -> Any:
    """A field's default, made if a function makes it; `MISSING` where it has none."""
    made = f.default_factory
    return f.default if made is dataclasses.MISSING else made()


def _part(b: Body, node: tree.Apply, kind: t.Part) -> ir.Expr:
    interface = b.interface(kind)
    if interface is None:
        known = ", ".join(sorted(set(b.scene.interfaces) - {b.scene.own.name})) or "none"
        b.problem(
            "L204",
            node.place,
            f"{kind}, which is no part of {b.scene.own.name}",
            f"a part that its fields declare: {known}",
            f"declare the field with {kind}: a place holds the class that it names, "
            "and none that inherits from it",
        )
        return b.wrong(node.place)
    if node.args:
        return refused(b, node, "a part made with its parameters by keyword")
    args: list[tuple[str, ir.Expr]] = []
    for name, value in node.keywords:
        if name not in interface.fixed:
            b.problem(
                "L204",
                value.place,
                name,
                f"one of {', '.join(sorted(interface.fixed))}",
                "give parameters only: variables start from their defaults",
            )
        else:
            args.append((name, expressions.expr(b, value, interface.fields[name])))
    return ir.New(node.place, kind, tuple(args))


def _module_function(
    b: Body, node: tree.Apply, function: python_types.FunctionType | python_types.MethodType
) -> ir.Expr:
    if function.__module__.partition(".")[0] in sys.stdlib_module_names:
        name = f"{function.__module__}.{function.__qualname__}"
        b.problem("L204", node.place, f"{name}(...)", "a function of the language", IN_PYTHON)
        return b.wrong(node.place)
    found = b.scene.module_function(function, node.place, None)
    if found is None:
        return b.wrong(node.place)
    name, body = found
    plain = function.__func__ if isinstance(function, python_types.MethodType) else function
    defaults, by_name = defaults_of(plain), keyword_only(plain)
    args = arguments(b, node, body.params, defaults, by_name)
    return ir.Call(node.place, body.output, name, None, args)


def _method(
    b: Body, node: tree.Apply, function: tree.Attribute, expected: t.Type | None
) -> ir.Expr:
    """A method that changes nothing: of a machine, a container or a record."""
    name = function.name
    if name == "values" and (values := values_by_texts(b, node, function.of)) is not None:
        return values
    of = expressions.expr(b, function.of)
    interface = b.interface(of.type)
    if interface is not None:
        return _machine_method(b, node, of, name)
    row = METHODS.get((type(of.type).__name__, name))
    if isinstance(of.type, t.Record) and not records.copies_by(b.scene.records[of.type.name], name):
        row = None
    if row is not None:
        return row(b, node, of)
    if isinstance(of.type, t.Text):
        made = text_method(b, node, of, name)
    else:
        from .of_values.method_calls import method_of  # Few machines have such methods.

        made = method_of(b, node, of, name)
    if made is not None:
        return made
    if isinstance(of.type, t.Union) and t.NOTHING in of.type.options:
        return expressions.may_be_none(b, function.of.place, of.type, f"a value that has .{name}")
    if not isinstance(of.type, t.Unknown):
        kind = type(of.type).__name__
        known = sorted({*(m for k, m in METHODS if k == kind), *UPDATES.get(kind, ())} - {"delete"})
        instead = f"write a function of the module: {name}(...)" if kind == "Record" else ""
        if kind == "Union":
            instead = "give each class the method, or narrow it first: if isinstance(x, Ack): ..."
        if kind == "Opaque":
            instead = "its content is not known: give the event what you ask, such as admin: bool"
        if kind == "Opaque" and name == "total_seconds":
            instead = "keep its seconds, as a Param[float] or an integer: a timer takes both"
        if kind == "Text":
            instead = f"leave out .{name}(...), and change the text where it is used; known texts"
            instead += " (of an enum's members) have it"
        if isinstance(of, ir.If) and name in UPDATES.get(kind, ()):
            known, instead = [], "change each in a statement of its own: if c: self.a.append(x)"
        found = NO_METHOD.get((kind, name)) or nearest(name, known, instead or "use one of these")
        rewrite = found.replace("{0}", _written(function.of))
        b.problem(
            "L205",
            node.place,
            f"{name} of {a(of.type)}",
            f"one of {', '.join(known)}" if known else "a value that has methods",
            rewrite,
        )
    return b.wrong(node.place)


def _written(node: tree.Expression) -> str:
    """A place as the declaration writes it."""
    match node:
        case tree.Name(name=name):
            return name
        case tree.Attribute(of=of, name=name):
            return f"{_written(of)}.{name}"
        case tree.Subscript(of=of):
            return f"{_written(of)}[...]"
        case _:
            return "it"


def _ancestors(b: Body, node: tree.Apply, name: str) -> ir.Expr:
    """`super().name(...)` of a property, or of a helper that only reads."""
    found = b.scene.base(b.owner, name)
    if found is None:
        return b.wrong(node.place)  # That it has none was noted.
    key, signature = found
    b.evaluated = None
    args = call_of(b, node, signature)
    own = ir.Self(node.place, t.Part(b.scene.own.name))
    return ir.Call(node.place, signature.output, key, own, args)


def _machine_method(b: Body, node: tree.Apply, of: ir.Expr, name: str) -> ir.Expr:
    interface = b.interface(of.type)
    assert interface is not None
    signature = interface.methods.get(name)
    if signature is None and interface is b.scene.own:
        held = b.scene.constant(name)
        if isinstance(held, staticmethod) and isinstance(held.__func__, python_types.FunctionType):
            return _module_function(b, node, held.__func__)
        if b.scene.unfit(name):
            return b.wrong(node.place)
    if signature is not None and isinstance(signature.output, t.Part):
        return refused(b, node, "a property that is true or false")
    if signature is None or signature.kind not in ("helper", "property"):
        b.problem(
            "L204",
            node.place,
            f"{name} of {a(of.type)}",
            f"one of {', '.join(sorted(interface.methods)) or 'no methods'}"
            if signature is None
            else "a helper or a property",
            "call a part's transitions in a transition, and only there"
            if signature
            else nearest(name, interface.methods),
        )
        return b.wrong(node.place)
    b.evaluated = None
    if interface is b.scene.own and signature.kind == "helper" and b.scene.helper(name) is None:
        return b.wrong(node.place)  # It is resolved on first use, and refused itself.
    args = call_of(b, node, signature)
    return ir.Call(node.place, signature.output, name, of, args)
