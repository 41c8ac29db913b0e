"""The operators of `spec.ops.TABLE` in TLA+.

An operator has a template in `TEMPLATES`, with `{0}` and `{1}` for the operands and `{n}` for a
bound name, or a function in `WRITERS`, where the text depends on the types of the operands.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from lawful.spec import ir, ops
from lawful.spec import types as t

from .collections import as_sequence, as_set, is_sequence, not_empty
from .kinds import NONE, less
from .names import CAP, word
from .terms import Check, Checks, Env, Expression, Writer, unwritten

TEMPLATES: dict[str, str] = {
    "neg": "(-{0})",
    "add": "({0} + {1})",
    "sub": "({0} - {1})",
    "mul": "({0} * {1})",
    "abs": "Abs({0})",
    "serial_add": "(({0} + {1}) % {2})",
    "serial_sub": "(({0} - {1}) % {2})",
    "before": "(((({0} - {1}) % {2}) * 2) > {2})",
    "eq": "({0} = {1})",
    "ne": "({0} # {1})",
    "not": "(~{0})",
    "union": "({0} \\cup {1})",
    "intersection": "({0} \\cap {1})",
    "difference": "({0} \\ {1})",
    "symmetric_difference": "(({0} \\ {1}) \\cup ({1} \\ {0}))",
    "subset": "({0} \\subseteq {1})",
    "superset": "({1} \\subseteq {0})",
    "proper_subset": "(({0} \\subseteq {1}) /\\ ({0} # {1}))",
    "proper_superset": "(({1} \\subseteq {0}) /\\ ({0} # {1}))",
    "disjoint": "(({0} \\cap {1}) = {{}})",
    "concat": "({0} \\o {1})",
    "count": "Cardinality({{{n} \\in DOMAIN {0} : {0}[{n}] = {1}}})",
    "keys": "(DOMAIN {0})",
    "items": "{{<<{n}, {0}[{n}]>> : {n} \\in DOMAIN {0}}}",
    "values": "MapSeq(AsSeq(DOMAIN {0}), LAMBDA {n} : {0}[{n}])",
    "get": "(IF {1} \\in DOMAIN {0} THEN {0}[{1}] ELSE {2})",
    "total": "Sum(DOMAIN {0}, LAMBDA {n} : {0}[{n}])",
    "subsets": "(SUBSET {0})",
    "reversed": "Reversed({0})",
    "enumerate": "[{n} \\in DOMAIN {0} |-> <<{n} - 1, {0}[{n}]>>]",
    "all_of": "(\\A {n} \\in {0} : {n})",
    "any_of": "(\\E {n} \\in {0} : {n})",
    "set_of": "{0}",
    "frozenset_of": "{0}",
    "list_of": "{0}",
    "tuple_of": "{0}",
}


def operation(w: Writer, e: ir.Op, env: Env) -> Expression:
    """The operation. Raises CannotWrite where neither table has it."""
    if e.op in WRITERS:
        return WRITERS[e.op](w, e, env)
    if e.op not in TEMPLATES:
        raise unwritten(e, e.op)
    texts, checks = _operands(w, e, env)
    name = w.names.fresh("n") if "{n}" in TEMPLATES[e.op] else ""
    return Expression(TEMPLATES[e.op].format(*texts, n=name), checks)


def _operands(w: Writer, e: ir.Op, env: Env) -> tuple[list[str], Checks]:
    """The operands, converted to the form that the operator takes."""
    reads = ops.TABLE[e.op].reads
    found: list[Expression] = []
    for i, arg in enumerate(e.args):
        if reads == "set":
            found.append(as_set(w, arg, env))
        elif reads == "sequence" and (i == 0 or e.op == "concat"):
            found.append(as_sequence(w, arg, env))
        else:
            found.append(w.expr(arg, env))
    return [expression.text for expression in found], tuple(
        c for expression in found for c in expression.checks
    )


def _divided(sign: str, helper: str) -> OperationWriter:
    def divided(w: Writer, e: ir.Op, env: Env) -> Expression:
        (a, b), checks = w.all(e.args, env)
        by = e.args[1]
        if isinstance(by, ir.Const) and isinstance(by.value, int) and by.value > 0:
            return Expression(f"({a} {sign} {b})", checks)
        return Expression(f"{helper}({a}, {b})", (*checks, Check(f"({b} # 0)", "undefined")))

    return divided


def _text(w: Writer, e: ir.Op, env: Env) -> Expression:
    raise unwritten(e, "text")


def _compared(w: Writer, e: ir.Op, env: Env) -> Expression:
    (a, b), checks = w.all(e.args, env)
    if e.op in ("gt", "ge"):
        a, b = b, a
    return Expression(less(a, b, e.args[0].type, equal=e.op in ("le", "ge")), checks)


def _chosen(w: Writer, e: ir.Op, env: Env) -> Expression:
    texts, checks = w.all(e.args, env)

    def better(a: str, b: str) -> str:
        first = less(a, b, e.type, equal=True) if e.op == "min" else less(b, a, e.type, equal=True)
        return f"(IF {first} THEN {a} ELSE {b})"

    return Expression(reduce(better, texts), checks)


def least(w: Writer, text: str, kind: t.Type, op: str) -> str:
    """The minimum or maximum of a set, by `op`."""
    one, other = w.names.fresh("m"), w.names.fresh("n")
    pair = (one, other) if op.startswith("min") else (other, one)
    first = less(*pair, kind, equal=True)
    return f"(CHOOSE {one} \\in {text} : \\A {other} \\in {text} : {first})"


def _least_of(w: Writer, e: ir.Op, env: Env) -> Expression:
    text, checks = as_set(w, e.args[0], env)
    kind = t.element(e.args[0].type)
    assert kind is not None
    found = least(w, text, kind, e.op)
    if e.op in ("min_of", "max_of"):
        return Expression(found, (*checks, not_empty(text, "{}")))
    default = w.expr(e.args[1], env)
    return Expression(
        f"(IF {text} = {{}} THEN {default.text} ELSE {found})", (*checks, *default.checks)
    )


def _first_or(w: Writer, e: ir.Op, env: Env) -> Expression:
    of, default = as_sequence(w, e.args[0], env), w.expr(e.args[1], env)
    text = f"(IF {of.text} = <<>> THEN {default.text} ELSE Head({of.text}))"
    return Expression(text, (*of.checks, *default.checks))


def _number(w: Writer, e: ir.Op, env: Env) -> Expression:
    expression = w.expr(e.args[0], env)
    kind = e.args[0].type
    match e.op, kind:
        case ("int", t.Bool()):
            return Expression(f"(IF {expression.text} THEN 1 ELSE 0)", expression.checks)
        case ("bool", t.Int()):
            return Expression(f"({expression.text} # 0)", expression.checks)
        case ("int", t.Int()) | ("bool", t.Bool()):
            return expression
        case _:
            raise unwritten(e, f"{e.op} of {kind}")


def _ranked(w: Writer, e: ir.Op, env: Env) -> Expression:
    text, checks = w.expr(e.args[0], env)
    kind = e.args[0].type
    assert isinstance(kind, t.Sort)
    name = word(kind.name)
    rank = f"{name}_rank[{text}]"
    if e.op == "rank":
        return Expression(rank, checks)
    step = "+ 1" if e.op == "successor" else "- 1"
    return Expression(f"{name}_order[(({rank} {step}) % Len({name}_order)) + 1]", checks)


def _in(w: Writer, e: ir.Op, env: Env) -> Expression:
    item, held = w.expr(e.args[0], env), as_set(w, e.args[1], env)
    sign = "\\in" if e.op == "in" else "\\notin"
    return Expression(f"({item.text} {sign} {held.text})", (*item.checks, *held.checks))


def _len(w: Writer, e: ir.Op, env: Env) -> Expression:
    of = e.args[0]
    if is_sequence(of):
        text, checks = w.expr(of, env)
        return Expression(f"Len({text})", checks)
    text, checks = as_set(w, of, env)
    return Expression(f"Cardinality({text})", checks)


def _slice(w: Writer, e: ir.Op, env: Env) -> Expression:
    of, low, high = (w.expr(arg, env) for arg in e.args)
    if any(isinstance(arg.type, t.Union) for arg in e.args[1:]):
        raise unwritten(e, "a slice whose ends may be None")
    first = "0" if low.text == NONE else low.text
    last = f"Len({of.text})" if high.text == NONE else high.text
    return Expression(f"Slice({of.text}, {first}, {last})", (*of.checks, *low.checks, *high.checks))


def _index(w: Writer, e: ir.Op, env: Env) -> Expression:
    (of, item), checks = w.all(e.args, env)
    there = Check(f"({item} \\in Range({of}))", "undefined")
    return Expression(f"Index({of}, {item})", (*checks, there))


def _sum_of(w: Writer, e: ir.Op, env: Env) -> Expression:
    of, one = e.args[0], w.names.fresh("n")
    if is_sequence(of):
        text, checks = w.expr(of, env)
        return Expression(f"Sum(DOMAIN {text}, LAMBDA {one} : {text}[{one}])", checks)
    text, checks = as_set(w, of, env)
    return Expression(f"Sum({text}, LAMBDA {one} : {one})", checks)


def _sorted(w: Writer, e: ir.Op, env: Env) -> Expression:
    text, checks = as_sequence(w, e.args[0], env)
    kind = t.element(e.args[0].type)
    assert kind is not None
    a, b = w.names.fresh("a"), w.names.fresh("b")
    return Expression(f"SortSeq({text}, LAMBDA {a}, {b} : {less(a, b, kind)})", checks)


def _dict_of(w: Writer, e: ir.Op, env: Env) -> Expression:
    of = e.args[0]
    if isinstance(of.type, t.Map):
        return w.expr(of, env)
    text, checks = as_sequence(w, of, env)
    return Expression(f"FromPairs(<<>>, {text})", checks)


def _counter_of(w: Writer, e: ir.Op, env: Env) -> Expression:
    of = e.args[0]
    if isinstance(of.type, t.Map | t.Bag):
        text, checks = w.expr(of, env)
        return Expression(f"Positive({text})", checks)
    text, checks = as_sequence(w, of, env)
    return Expression(f"Counts({text})", checks)


def _range(w: Writer, e: ir.Op, env: Env) -> Expression:
    texts, checks = w.all(e.args, env)
    if len(texts) < 3:
        low, high = texts if len(texts) == 2 else ("0", texts[0])
        return Expression(f"Upwards({low}, {high})", checks)
    there = Check(f"({texts[2]} # 0)", "undefined")
    return Expression(f"Steps({', '.join(texts)})", (*checks, there))


def _zip(w: Writer, e: ir.Op, env: Env) -> Expression:
    found = [as_sequence(w, arg, env) for arg in e.args]
    one, every = w.names.fresh("i"), [expression.text for expression in found]
    rows = ", ".join(f"{each}[{one}]" for each in every)
    text = f"[{one} \\in {CAP.join(f'DOMAIN {each}' for each in every)} |-> <<{rows}>>]"
    return Expression(text, tuple(c for expression in found for c in expression.checks))


def _display(w: Writer, e: ir.Op, env: Env) -> Expression:
    texts, checks = w.all(e.args, env)
    inside = ", ".join(texts)
    return Expression(f"{{{inside}}}" if e.op == "set" else f"<<{inside}>>", checks)


def _map(w: Writer, e: ir.Op, env: Env) -> Expression:
    texts, checks = w.all(e.args, env)
    text = "<<>>"
    for key, value in zip(texts[::2], texts[1::2], strict=True):
        text = f"Put({text}, {key}, {value})"
    return Expression(text, checks)


OperationWriter = Callable[[Writer, ir.Op, Env], Expression]
WRITERS: dict[str, OperationWriter] = {
    "floordiv": _divided("\\div", "FloorDiv"),
    "mod": _divided("%", "FloorMod"),
    **dict.fromkeys(("format", "join"), _text),
    **dict.fromkeys(ops.TEXTS, _text),
    **dict.fromkeys(("lt", "le", "gt", "ge"), _compared),
    **dict.fromkeys(("min", "max"), _chosen),
    **dict.fromkeys(("min_of", "max_of", "min_or", "max_or"), _least_of),
    **dict.fromkeys(("int", "bool"), _number),
    **dict.fromkeys(("rank", "successor", "predecessor"), _ranked),
    **dict.fromkeys(("in", "not_in"), _in),
    **dict.fromkeys(("set", "list", "tuple"), _display),
    "first_or": _first_or,
    "len": _len,
    "slice": _slice,
    "index": _index,
    "sum_of": _sum_of,
    "sorted": _sorted,
    "dict_of": _dict_of,
    "counter_of": _counter_of,
    "range": _range,
    "zip": _zip,
    "map": _map,
}
