"""The lines of a declaration that describe one row of a `transitions.Machine`."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from .names import name_of
from .transition_rows import TransitionRow

WIDTH = 96


def docstring(lines: Sequence[str]) -> str:
    """A docstring of a sentence, and of a line for each thing more."""
    more = "".join(f"    {line}\n" for line in lines[1:])
    return f"{lines[0]}\n\n{more}    " if more else lines[0]


def plain(func: object) -> str:
    """The name of a callback, safe inside a quoted text."""
    return "".join(c if c.isidentifier() or c.isdigit() or c == "." else "_" for c in name_of(func))


def said(row: TransitionRow) -> str:
    """The row's callbacks, and whether it leaves its state."""
    calls = [f"{kind}: {plain(func)}" for kind, func in row.calls if kind != "conditions"]
    calls = [each for each in calls if not each.startswith("unless")]
    inside = ["No state is left or entered"] if row.dest is None else []
    more = [f"{option}: {plain(value)}" for option, value in row.more]
    return "; ".join([*calls, *inside, *more] or ["No callbacks"]) + "."


def head(name: str, params: str) -> str:
    """The first line of a method, or two where it is long."""
    line = f"    def {name}(self{params}) -> None:"
    if len(line) <= WIDTH:
        return line
    lines = textwrap.indent(textwrap.fill(f"self{params},", WIDTH - 8), " " * 8)
    return f"    def {name}(\n{lines}\n    ) -> None:"


def guarded_body(doc: str, row: TransitionRow | None, earlier: Sequence[TransitionRow]) -> str:
    """The body of a row: its docstring, its guards, and that no earlier row is taken."""
    text = f'        """{doc}"""\n'
    for clause in row.clauses if row is not None else ():
        text += f"        require({clause.condition}, {clause.why!r})\n"
    for each in earlier:
        held = " and ".join(_inner(clause.condition, len(each.clauses)) for clause in each.clauses)
        text += f'        require(not ({held}), "an earlier row is taken")\n'
    return text


def _inner(text: str, among: int) -> str:
    """A condition as one of several."""
    return text if among == 1 or text.replace("not ", "").isidentifier() else f"({text})"
