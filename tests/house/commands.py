"""Rules about the command line: short commands, which take typed options."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from .sizes import length
from .sources import PRODUCT, Source, python

COMMANDS = PurePosixPath("lawful/commands")
COMMAND_LINE = "lawful/cli.py"
LONGEST = 15


def commands_are_short(sources: Sequence[Source]) -> Iterator[str]:
    """The command `check` is the function of that name in `lawful/commands/check.py`."""
    for s in python(sources, ["lawful"]):
        path = PurePosixPath(s.path)
        for f in s.functions if path.parent == COMMANDS else ():
            if f.name == path.stem and length(f) > LONGEST:
                yield (
                    f"{s.path}:{f.lineno}: the command {f.name} has {length(f)} lines; say in at"
                    f" most {LONGEST} what it does, and how in functions beside it"
                )


def only_the_command_line_knows_namespaces(sources: Sequence[Source]) -> Iterator[str]:
    for s in python(sources, PRODUCT):
        for node in s.nodes if s.path != COMMAND_LINE else ():
            name = node.attr if isinstance(node, ast.Attribute) else None
            if isinstance(node, ast.Name | ast.alias):
                name = node.id if isinstance(node, ast.Name) else node.name
            if name == "Namespace":
                line = getattr(node, "lineno", 0)
                yield f"{s.path}:{line}: takes a Namespace; take options from commands/options.py"
