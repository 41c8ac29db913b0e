"""Rules about tables that stand once: of operators in `spec/ops.py`, of verdicts beside it."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence

from lawful.spec.ops import TABLE, UPDATES
from lawful.spec.verdicts import BUILT_IN, KINDS, Verdict

from .sources import PRODUCT, Source, python

OPERATORS = frozenset(TABLE).union(*UPDATES.values())
VERDICTS = frozenset(verdict.value for verdict in Verdict)
FEW = 3  # A list of so many names is a table, and has a home.


def operators_are_listed_once(sources: Sequence[Source]) -> Iterator[str]:
    """Which operators commute, compare or may fail is a column or a set of `spec/ops.py`."""
    for s in python(sources, PRODUCT):
        if s.path != "spec/ops.py":
            for line, names in _lists(s.tree, OPERATORS):
                yield f"{s.path}:{line}: lists operators ({names}); name the set in spec/ops.py"


def verdicts_are_listed_once(sources: Sequence[Source]) -> Iterator[str]:
    """So are the built-in properties, and the kinds of properties."""
    for s in python(sources, PRODUCT):
        if s.path != "spec/verdicts.py" and not s.path.startswith("machines/"):
            for known in (VERDICTS, frozenset(BUILT_IN), frozenset(KINDS)):
                for line, names in _lists(s.tree, known):
                    yield f"{s.path}:{line}: lists {names}; name the set in spec/verdicts.py"


def _lists(tree: ast.AST, known: Collection[str]) -> Iterator[tuple[int, str]]:
    """The displays of a few names or more that are all known, without a value for each."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Set | ast.Tuple | ast.List) and len(node.elts) >= FEW:
            values = [e.value if isinstance(e, ast.Constant) else None for e in node.elts]
            if all(value in known for value in values):
                yield node.lineno, ", ".join(map(str, values))
