"""Finding the source text of a class or function, as `ast` nodes with their places."""

from __future__ import annotations

import ast
import functools
import linecache
from types import FrameType

from ..errors import DeclarationError, Place, Problem


def place_of(node: ast.AST, file: str) -> Place:
    """The place of an `ast` node."""
    line = getattr(node, "lineno", 1)
    column = getattr(node, "col_offset", 0)
    end_line = getattr(node, "end_lineno", None) or line
    end_column = getattr(node, "end_col_offset", None) or column + 1
    return Place(file, line, column, end_line, end_column)


def read_class(name: str, frame: FrameType) -> ast.ClassDef | None:
    """The class statement of that name that runs in `frame`; None without source."""
    file, line = frame.f_code.co_filename, frame.f_lineno
    linecache.checkcache(file)
    text = "".join(linecache.getlines(file, frame.f_globals))
    for node in ast.walk(_module(text)) if text else ():
        if isinstance(node, ast.ClassDef) and node.name == name:
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            if first <= line <= node.lineno:
                return node
    return None


def earlier_class(node: ast.ClassDef, frame: FrameType) -> int | None:
    """The line of a class of the same name that the module declares before this one."""
    text = "".join(linecache.getlines(frame.f_code.co_filename, frame.f_globals))
    rows = [each for each in _module(text).body if isinstance(each, ast.ClassDef)]
    if not any(each.lineno == node.lineno for each in rows):
        return None  # It stands in a function, or under a condition.
    before = [each.lineno for each in rows if each.name == node.name and each.lineno < node.lineno]
    return before[-1] if before else None


def read_function(name: str, file: str, line: int) -> ast.FunctionDef:
    """The function of that name whose first line this is; `DeclarationError` without source."""
    linecache.checkcache(file)
    for node in ast.walk(_module("".join(linecache.getlines(file)))):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            if first <= line <= node.lineno:
                return node
    raise unreadable(f"def {name}", file, line)


def unreadable(what: str, file: str, line: int, module: str = "") -> DeclarationError:
    """The error for a class whose source cannot be found; `module`, if given, has a file of its
    own."""
    return DeclarationError(
        [
            Problem(
                "L101",
                Place(file, line, 0, line, 1),
                f"{what}, with no readable source text",
                "a declaration in a file that Python can read, or what was frozen of it",
                f"run `lawful freeze {module}` where its source is, and ship what it writes"
                if module
                else "declare it in a module; exec and the interactive prompt keep no source",
            )
        ]
    )


@functools.lru_cache(maxsize=8)
def _module(text: str) -> ast.Module:
    return ast.parse(text)
