"""The operators: one table, each with its Python meaning.

The template of a row is the meaning: `{0}`, `{1}` stand for the operands, `{*}` for all of them,
comma-separated. The reference engine evaluates it, the runtime compiles it, `show` prints it. An
engine that is not Python keeps a second table over the same names; a missing row fails a test.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from .quick_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Operator:
    """One operator of the language.

    `atom`: the text needs no parentheses. `partial`: undefined for some operands. `opposite`: the
    operator that is true where this one is false. `accumulates`: `x = x op a` and `x = x op b`
    give the same in either order, for all operators of the group; `left_only`: only where `x` is
    the left operand. `reads`: what counts of the collections it takes, their elements as a
    `set`, or also their order and repetitions, as a `sequence`. `iterates`: it goes through its
    operand when it is evaluated.
    """

    template: str
    atom: bool = False
    partial: bool = False
    iterates: bool = False
    opposite: str | None = None
    accumulates: str | None = None
    left_only: bool = False
    reads: Literal["set", "sequence"] | None = None


TABLE: dict[str, Operator] = {
    # Integers do not overflow; `//` and `%` floor.
    "neg": Operator("-{0}"),
    "add": Operator("{0} + {1}", accumulates="sum"),
    "sub": Operator("{0} - {1}", accumulates="sum", left_only=True),
    "mul": Operator("{0} * {1}"),
    "floordiv": Operator("{0} // {1}", partial=True),
    "mod": Operator("{0} % {1}", partial=True),
    "abs": Operator("abs({0})", atom=True),
    # Text of a number or a text; the second operand, which is written out, says how.
    "format": Operator("format({0}, {1})", atom=True),
    # Text of a text.
    "lower": Operator("{0}.lower()", atom=True),
    "upper": Operator("{0}.upper()", atom=True),
    "strip": Operator("{0}.strip()", atom=True),
    "capitalize": Operator("{0}.capitalize()", atom=True),
    "title": Operator("{0}.title()", atom=True),
    "join": Operator("{0}.join({1})", atom=True, iterates=True, reads="sequence"),
    "min": Operator("min({*})", atom=True, accumulates="min"),
    "max": Operator("max({*})", atom=True, accumulates="max"),
    "int": Operator("int({0})", atom=True),
    "bool": Operator("bool({0})", atom=True),
    # On serial numbers; the last operand is how many there are. Half the way round, neither of two
    # comes before the other.
    "serial_add": Operator("({0} + {1}) % {2}", accumulates="sum"),
    "serial_sub": Operator("({0} - {1}) % {2}", accumulates="sum", left_only=True),
    "before": Operator("({0} - {1}) % {2} * 2 > {2}"),
    # Comparisons; equality is of values of one type.
    "eq": Operator("{0} == {1}", opposite="ne"),
    "ne": Operator("{0} != {1}", opposite="eq"),
    "lt": Operator("{0} < {1}", opposite="ge"),
    "le": Operator("{0} <= {1}", opposite="gt"),
    "gt": Operator("{0} > {1}", opposite="le"),
    "ge": Operator("{0} >= {1}", opposite="lt"),
    # On ordered sorts: `universe=` gives the order of the elements, or the scope.
    "rank": Operator("rank({0})", atom=True),
    "successor": Operator("successor({0})", atom=True),
    "predecessor": Operator("predecessor({0})", atom=True),
    "not": Operator("not {0}"),
    "in": Operator("{0} in {1}", opposite="not_in"),
    "not_in": Operator("{0} not in {1}", opposite="in"),
    # Collections.
    "len": Operator("len({0})", atom=True),
    "union": Operator("{0} | {1}", accumulates="union", reads="set"),
    "intersection": Operator("{0} & {1}", accumulates="intersection", reads="set"),
    "difference": Operator("{0} - {1}", accumulates="difference", left_only=True, reads="set"),
    "symmetric_difference": Operator("{0} ^ {1}", reads="set"),
    "subset": Operator("{0} <= {1}", reads="set"),
    "proper_subset": Operator("{0} < {1}", reads="set"),
    "superset": Operator("{0} >= {1}", reads="set"),
    "proper_superset": Operator("{0} > {1}", reads="set"),
    "disjoint": Operator("{0}.isdisjoint({1})", atom=True, reads="set"),
    "concat": Operator("{0} + {1}", reads="sequence"),
    "slice": Operator("{0}[{1}:{2}]", atom=True),
    "count": Operator("{0}.count({1})", atom=True, reads="sequence"),
    "index": Operator("{0}.index({1})", atom=True, partial=True),
    "total": Operator("{0}.total()", atom=True),
    "keys": Operator("{0}.keys()", atom=True),
    "values": Operator("{0}.values()", atom=True),
    "items": Operator("{0}.items()", atom=True),
    "get": Operator("{0}.get({1}, {2})", atom=True),
    # Folds and conversions of what can be iterated.
    "all_of": Operator("all({0})", atom=True, iterates=True, reads="set"),
    "any_of": Operator("any({0})", atom=True, iterates=True, reads="set"),
    "sum_of": Operator("sum({0})", atom=True, iterates=True),
    "min_of": Operator("min({0})", atom=True, partial=True, iterates=True),
    "max_of": Operator("max({0})", atom=True, partial=True, iterates=True),
    # The default is evaluated in any case, as an argument is; so it comes to no more than a value.
    "min_or": Operator("min({0}, default={1})", atom=True, iterates=True),
    "max_or": Operator("max({0}, default={1})", atom=True, iterates=True),
    "first_or": Operator("next(iter({0}), {1})", atom=True, iterates=True),
    "sorted": Operator("sorted({0})", atom=True, iterates=True),
    "subsets": Operator("subsets({0})", atom=True, reads="set"),
    "set_of": Operator("set({0})", atom=True, iterates=True, reads="set"),
    "frozenset_of": Operator("frozenset({0})", atom=True, iterates=True, reads="set"),
    "list_of": Operator("list({0})", atom=True, iterates=True, reads="sequence"),
    "tuple_of": Operator("tuple({0})", atom=True, iterates=True, reads="sequence"),
    "dict_of": Operator("dict({0})", atom=True, iterates=True),
    "counter_of": Operator("Counter({0})", atom=True, iterates=True),
    "range": Operator("range({*})", atom=True, partial=True),
    "reversed": Operator("reversed({0})", atom=True, reads="sequence"),
    "enumerate": Operator("enumerate({0})", atom=True, reads="sequence"),
    "zip": Operator("zip({*})", atom=True),
    # Displays.
    "set": Operator("{{{*}}}", atom=True),
    "list": Operator("[{*}]", atom=True),
    "tuple": Operator("({*},)", atom=True),
}

OPPOSITES = {op: row.opposite for op, row in TABLE.items() if row.opposite is not None}
COMPARISONS = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})
# What it gives depends on which of two values are equal.
TELLING_APART = COMPARISONS | {"in", "not_in", "index", "count"}
TEXTS = frozenset({"lower", "upper", "strip", "capitalize", "title"})
SERIAL = frozenset({"serial_add", "serial_sub", "before"})  # The last operand is the modulus.
# Operators beside the relations that mean another thing with their first two operands exchanged.
ORDERED = frozenset({"sub", "floordiv", "mod", "difference", "concat"}) | SERIAL
RANKS = frozenset({"rank", "successor", "predecessor"})
DISPLAYS = frozenset({"set", "list", "tuple"})
COPIES = frozenset({"set_of", "frozenset_of", "list_of", "tuple_of"})  # Of all elements.
CHEAP = frozenset({"len", "abs", "min", "max"})  # A power may evaluate them several times.
OF_SEVERAL = frozenset({"union", "intersection", "difference"})  # Methods that take several.
# Functions that make a collection of any other.
CONSTRUCTORS = DISPLAYS | {"frozenset", "sorted"}
MAP_VIEWS = frozenset({"keys", "values", "items"})
ITERATORS = frozenset({"zip", "enumerate", "reversed", "subsets"})  # They have no length.
# What can be iterated and nothing else; it is no value that could be kept.
ITERABLES = MAP_VIEWS | ITERATORS | {"range"}
# Those of them that may give one value twice, or have an order.
SEQUENCES = ITERABLES - {"keys", "items", "subsets"}
# What gives elements of its first operand, and elements of any of its operands.
FROM_FIRST = COPIES | {"sorted", "reversed", "keys", "slice", "difference"}
FROM_ANY = frozenset({"union", "intersection", "symmetric_difference", "concat"})
# What gives a collection of elements that its operands hold, or are; a range gives others.
GATHERING = (FROM_FIRST - {"reversed"}) | FROM_ANY | DISPLAYS | MAP_VIEWS | {"get"}
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
# Methods of Python that change a container where it stands, too, and are short for assignments.
SHORT_UPDATES = frozenset(
    {
        "difference_update",
        "intersection_update",
        "symmetric_difference_update",
        "sort",
        "reverse",
        "setdefault",
    }
)
# Undefined where there is no such element or item.
PARTIAL_UPDATES = frozenset({"remove", "pop", "delete"})
# What changes one element, the one that the first operand names.
ELEMENT_UPDATES = frozenset({"add", "discard", "remove", "delete", "pop", "start", "stop"})


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
