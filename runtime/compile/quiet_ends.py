"""Whether a step can stop between its first change and its end; if not, nothing is undone."""

from __future__ import annotations

import ast
from collections.abc import Sequence


def ends_quietly(made: Sequence[ast.stmt]) -> bool:
    """Whether nothing can fail, and no interrupt can come, after the first change of the state.

    CPython delivers an interrupt after a call, where a function begins, and where a loop goes
    round; plain loads and stores of slots and locals do none of these.
    """
    left = [*made]
    while left and _changes_nothing(left[0]):
        left.pop(0)
    match left:
        case []:
            return True
        case [ast.Assign(targets=[ast.Attribute(value=ast.Name())]), *rest]:
            return all(map(_is_quiet, rest))
        case _:
            return False


def _changes_nothing(stmt: ast.stmt) -> bool:
    """Whether it only assigns a local, returns, or raises."""
    match stmt:
        case ast.Assign(targets=[ast.Name()], value=value):
            return not any(isinstance(each, ast.Call) for each in ast.walk(value))
        case ast.If(test=test, body=[ast.Raise()], orelse=[]):
            return not any(isinstance(each, ast.Call) for each in ast.walk(test))
        case ast.Return(value=value):
            return value is None or _is_plain(value)
        case _:
            return False


def _is_quiet(stmt: ast.stmt) -> bool:
    match stmt:
        case ast.Assign(targets=[ast.Name() | ast.Attribute(value=ast.Name())], value=value):
            return _is_plain(value)
        case ast.Return(value=value):
            return value is None or _is_plain(value)
        case _:
            return False


def _is_plain(value: ast.expr) -> bool:
    """Whether it is a constant, a local, a global, or a slot of the instance."""
    match value:
        case ast.Constant() | ast.Name() | ast.Attribute(value=ast.Name(id="self")):
            return True
        case _:
            return False
