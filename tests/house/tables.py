"""Rules about tables that stand once: of operators in `spec/ops.py`, of verdicts beside it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeGuard

from lawful.spec import ops
from lawful.spec.ops import TABLE, UPDATES
from lawful.spec.verdicts import BUILT_IN, KINDS, Verdict

from .sources import PRODUCT, Source, python

OPERATORS = frozenset(TABLE).union(*UPDATES.values())
NAMED: dict[object, str] = {
    names: name for name, names in vars(ops).items() if type(names) is frozenset
}
VERDICTS = frozenset(verdict.value for verdict in Verdict)
# Words of others: the marks of annotated-types, the functions that Python has built in.
OTHERS = ("spec/resolve/annotations.py", "runtime/interop/reading.py")
FEW = 3  # A list of so many names is a table, and has a home.


def operators_are_listed_once(sources: Sequence[Source]) -> Iterator[str]:
    """Which operators commute, compare or may fail is a column or a set of `spec/ops.py`."""
    for s in python(sources, PRODUCT):
        if s.path != "spec/ops.py" and s.path not in OTHERS:
            for line, names in _lists(s.nodes):
                if OPERATORS.issuperset(names):
                    text = ", ".join(names)
                    yield f"{s.path}:{line}: lists operators ({text}); name the set in spec/ops.py"
            for line, name in _alternatives(s.nodes):
                yield f"{s.path}:{line}: a pattern lists all of ops.{name}; test for membership"


def verdicts_are_listed_once(sources: Sequence[Source]) -> Iterator[str]:
    """So are the built-in properties, and the kinds of properties."""
    homes = (VERDICTS, frozenset(BUILT_IN), frozenset[str](KINDS))
    for s in python(sources, PRODUCT):
        if s.path != "spec/verdicts.py" and not s.path.startswith("machines/"):
            for line, names in _lists(s.nodes):
                if any(known.issuperset(names) for known in homes):
                    text = ", ".join(names)
                    yield f"{s.path}:{line}: lists {text}; name the set in spec/verdicts.py"


def _lists(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, list[str]]]:
    """The displays of a few strings or more, without a value for each."""
    rows, displays = list[ast.expr](), list[ast.Set | ast.Tuple | ast.List]()
    for node in nodes:
        if isinstance(node, ast.Set | ast.Tuple | ast.List):
            displays.append(node)
        elif _is_table(node):
            rows.append(node.args[0])  # Rows of a table, each with its value.
    for node in displays:
        own = [e for e in node.elts if not isinstance(e, ast.Starred)]
        values = [e.value for e in own if isinstance(e, ast.Constant) and isinstance(e.value, str)]
        if len(values) == len(own) >= FEW and node not in rows:
            yield node.lineno, values


def _alternatives(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    """The patterns whose alternatives are, all together, a named set of operators."""
    for node in nodes:
        if isinstance(node, ast.MatchOr) and len(node.patterns) >= FEW:
            values = [p.value for p in node.patterns if isinstance(p, ast.MatchValue)]
            names = frozenset(v.value for v in values if isinstance(v, ast.Constant))
            if len(names) == len(node.patterns) and names in NAMED:
                yield node.lineno, NAMED[names]


def _is_table(node: ast.AST) -> TypeGuard[ast.Call]:
    """Whether it is `dict.fromkeys(...)`."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="dict"), attr="fromkeys")):
            return True
        case _:
            return False
