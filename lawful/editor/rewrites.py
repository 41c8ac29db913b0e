"""The change of the text that a problem's rewrite means, where it means one exactly."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

WRITE = "write "


def replacement(problem: Mapping[str, Any], text: str) -> str | None:
    """What stands instead of the marked `text`; None where somebody has to think first.

    A rewrite says `write X`. It is exact where X stands for all of the marked text, or for the name
    at its end that is unknown.
    """
    rewrite, found = str(problem["rewrite"]), str(problem["found"])
    if not rewrite.startswith(WRITE):
        return None
    new = rewrite[len(WRITE) :]
    if not _is_python(new):
        return None
    if found == text:
        return new
    name, of, _ = found.partition(" of ")
    if of and new.isidentifier() and text.endswith(f".{name}"):
        return text[: -len(name)] + new
    same = (
        _is_python(text) and _is_python(found) and ast.dump(_tree(text)) == ast.dump(_tree(found))
    )
    return new if same else None


def _tree(text: str) -> ast.AST:
    return ast.parse(text.strip())


def _is_python(text: str) -> bool:
    try:
        _tree(text)
    except (SyntaxError, ValueError):
        return False
    return bool(text.strip())
