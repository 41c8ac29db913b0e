"""Templates of the operators: their text in `spec.ops` as syntax trees with holes for operands."""

from __future__ import annotations

import ast
import functools
from collections import Counter
from collections.abc import Callable
from typing import Any

from lawful.spec import ops
from lawful.spec.words import subsets

from .python_ast import name


@functools.cache
def template(op: str, arity: int) -> ast.expr:
    """The syntax tree of an operator over operands named `_0`, `_1`, ..."""
    return ast.parse(ops.text(op, [f"_{i}" for i in range(arity)]), mode="eval").body


class TemplateFiller(ast.NodeTransformer):
    """Puts operands, and the global names of functions, into a copy of a template."""

    def __init__(self, args: list[ast.expr], put: Callable[[str, Any], str]) -> None:
        self.args = args
        self.put = put

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id.startswith("_"):
            return self.args[int(node.id[1:])]
        return name(self.put(node.id, BUILTINS[node.id]))


BUILTINS: dict[str, Any] = {
    f.__name__: f
    for f in (
        abs,
        format,
        min,
        max,
        int,
        bool,
        len,
        all,
        any,
        sum,
        sorted,
        set,
        frozenset,
        list,
        tuple,
        dict,
        Counter,
        range,
        reversed,
        enumerate,
        zip,
        iter,
        next,
        subsets,
    )
}
