"""The operators: one table, each with its Python meaning.

The template of a row is the meaning: `{0}`, `{1}` stand for the operands, `{*}` for all of them,
comma-separated. The reference engine evaluates it, the runtime compiles it, `show` prints it. An
engine that is not Python keeps a second table over the same names; a missing row fails a test.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Row:
    """`atom`: the text needs no parentheses; `partial`: undefined for some operands."""

    template: str
    atom: bool = False
    partial: bool = False


TABLE: dict[str, Row] = {
    # Integers do not overflow; `//` and `%` floor.
    "neg": Row("-{0}"),
    "add": Row("{0} + {1}"),
    "sub": Row("{0} - {1}"),
    "mul": Row("{0} * {1}"),
    "floordiv": Row("{0} // {1}", partial=True),
    "mod": Row("{0} % {1}", partial=True),
    "abs": Row("abs({0})", atom=True),
    "min": Row("min({*})", atom=True),
    "max": Row("max({*})", atom=True),
    "int": Row("int({0})", atom=True),
    "bool": Row("bool({0})", atom=True),
    # Of serial numbers; the last operand is how many there are. Half the way round, neither of two
    # comes before the other.
    "serial_add": Row("({0} + {1}) % {2}"),
    "serial_sub": Row("({0} - {1}) % {2}"),
    "before": Row("({0} - {1}) % {2} * 2 > {2}"),
    # Comparisons; equality is of values of one type.
    "eq": Row("{0} == {1}"),
    "ne": Row("{0} != {1}"),
    "lt": Row("{0} < {1}"),
    "le": Row("{0} <= {1}"),
    "gt": Row("{0} > {1}"),
    "ge": Row("{0} >= {1}"),
    # Of ordered sorts: `universe=` gives the order of the elements, or the scope.
    "rank": Row("rank({0})", atom=True),
    "successor": Row("successor({0})", atom=True),
    "predecessor": Row("predecessor({0})", atom=True),
    "not": Row("not {0}"),
    "in": Row("{0} in {1}"),
    "not_in": Row("{0} not in {1}"),
    # Collections.
    "len": Row("len({0})", atom=True),
    "union": Row("{0} | {1}"),
    "intersection": Row("{0} & {1}"),
    "difference": Row("{0} - {1}"),
    "symmetric_difference": Row("{0} ^ {1}"),
    "subset": Row("{0} <= {1}"),
    "proper_subset": Row("{0} < {1}"),
    "superset": Row("{0} >= {1}"),
    "proper_superset": Row("{0} > {1}"),
    "disjoint": Row("{0}.isdisjoint({1})", atom=True),
    "concat": Row("{0} + {1}"),
    "slice": Row("{0}[{1}:{2}]", atom=True),
    "count": Row("{0}.count({1})", atom=True),
    "index": Row("{0}.index({1})", atom=True, partial=True),
    "total": Row("{0}.total()", atom=True),
    "keys": Row("{0}.keys()", atom=True),
    "values": Row("{0}.values()", atom=True),
    "items": Row("{0}.items()", atom=True),
    "get": Row("{0}.get({1}, {2})", atom=True),
    # Folds and conversions of what can be iterated.
    "all_of": Row("all({0})", atom=True),
    "any_of": Row("any({0})", atom=True),
    "sum_of": Row("sum({0})", atom=True),
    "min_of": Row("min({0})", atom=True, partial=True),
    "max_of": Row("max({0})", atom=True, partial=True),
    # The default is evaluated in any case, as an argument is; so it comes to no more than a value.
    "min_or": Row("min({0}, default={1})", atom=True),
    "max_or": Row("max({0}, default={1})", atom=True),
    "first_or": Row("next(iter({0}), {1})", atom=True),
    "sorted": Row("sorted({0})", atom=True),
    "subsets": Row("subsets({0})", atom=True),
    "set_of": Row("set({0})", atom=True),
    "frozenset_of": Row("frozenset({0})", atom=True),
    "list_of": Row("list({0})", atom=True),
    "tuple_of": Row("tuple({0})", atom=True),
    "dict_of": Row("dict({0})", atom=True),
    "counter_of": Row("Counter({0})", atom=True),
    "range": Row("range({*})", atom=True, partial=True),
    "reversed": Row("reversed({0})", atom=True),
    "enumerate": Row("enumerate({0})", atom=True),
    "zip": Row("zip({*})", atom=True),
    # Displays.
    "set": Row("{{{*}}}", atom=True),
    "list": Row("[{*}]", atom=True),
    "tuple": Row("({*},)", atom=True),
}

# What gives something that a container holds, and nothing new.
HELD = frozenset({"get", "first_or"})

# What an update does where it stands; `gives` says whether it has a value.
UPDATES: dict[str, frozenset[str]] = {
    "Set": frozenset({"add", "discard", "remove", "update", "clear"}),
    "Seq": frozenset({"append", "extend", "insert", "pop", "clear", "remove"}),
    "Map": frozenset({"pop", "update", "clear", "delete"}),
    "Bag": frozenset({"clear"}),
    "Timer": frozenset({"start", "stop"}),
}


def text(op: str, args: Sequence[str]) -> str:
    """The Python text of an operation over operands that are Python text, parenthesised."""
    row = TABLE[op]
    if "{*}" in row.template:
        if op == "set" and not args:
            return "set()"
        if op == "tuple" and not args:
            return "()"
        head, tail = row.template.split("{*}")
        return head.replace("{{", "{") + ", ".join(args) + tail.replace("}}", "}")
    return row.template.format(*args)


def meaning(op: str, arity: int, names: dict[str, Any]) -> Callable[..., Any]:
    """The function that the row stands for; `names` are what its template may call."""
    params = [f"a{i}" for i in range(arity)]
    body = text(op, params)
    # The table is this module's own text, so evaluating it evaluates nothing from outside.
    function: Callable[..., Any] = eval(f"lambda {', '.join(params)}: {body}", dict(names))
    return function
