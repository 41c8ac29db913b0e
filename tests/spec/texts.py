"""Declarations given as text: written to a file, imported, resolved; or the problems they have."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
import tempfile
import textwrap
from pathlib import Path
from types import ModuleType

from lawful import Machine
from lawful.spec.errors import DeclarationError, Problem
from lawful.spec.lower import lower
from lawful.spec.resolve import Resolved, resolve

HEAD = """\
from __future__ import annotations
from collections import Counter
from collections.abc import Mapping
from enum import Enum
from typing import Annotated
from annotated_types import Interval, MaxLen
from lawful import *
"""
FOLDER = Path(tempfile.mkdtemp(prefix="lawful-texts-"))


def load(path: Path) -> ModuleType:
    """The module in that file, imported under a name of its own."""
    name = "declared_" + hashlib.sha256(str(path).encode()).hexdigest()[:12]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def module(text: str, head: str = HEAD) -> ModuleType:
    """The module that the text is, with the usual imports before it."""
    whole = head + textwrap.dedent(text)
    path = FOLDER / f"{hashlib.sha256(whole.encode()).hexdigest()[:16]}.py"
    path.write_text(whole, encoding="utf-8")
    return load(path)


def last_machine(found: ModuleType) -> type[Machine]:
    """The machine that a module declares last."""
    rows = [
        value
        for value in vars(found).values()
        if isinstance(value, type) and issubclass(value, Machine) and value is not Machine
    ]
    own = [cls for cls in rows if cls.__module__ == found.__name__]
    return own[-1]


def machine(text: str, head: str = HEAD) -> type[Machine]:
    """The machine that a text declares last."""
    return last_machine(module(text, head))


def resolved(text: str) -> Resolved:
    """The last machine of a text, resolved."""
    return resolve(machine(text))


def problems(text: str, head: str = HEAD) -> tuple[Problem, ...]:
    """What is wrong in a text: at class creation, at resolution, or in its scope."""
    try:
        found = resolve(machine(text, head))
        if "scope" in found.scopes:
            lower(found.machine, found.scopes["scope"])
    except DeclarationError as error:
        return error.problems
    return ()


def numbers(text: str) -> list[str]:
    """The numbers of what is wrong in a text, in the order of the lines."""
    return [problem.number for problem in problems(text)]


def body(
    statements: str, fields: str = "x: int = 0", params: str = "", output: str = "None"
) -> str:
    """A machine with one transition that has this body."""
    given = f"self, {params}" if params else "self"
    return "\n".join(
        [
            "class M(Machine):",
            textwrap.indent(textwrap.dedent(fields), "    "),
            "    @transition()",
            f"    def go({given}) -> {output}:",
            textwrap.indent(textwrap.dedent(statements), "        "),
        ]
    )


def corpus(name: str) -> list[tuple[str, list[str], str]]:
    """The machines of a file in `hostile/`: title, the numbers that refuse it, text.

    A title is a line `### title`, or `### title ! L203 L201` where the text is wrong.
    """
    whole = (Path(__file__).parent / "hostile" / f"{name}.txt").read_text(encoding="utf-8")
    rows: list[tuple[str, list[str], str]] = []
    for block in whole.split("### ")[1:]:
        head, _, text = block.partition("\n")
        title, _, refused = head.partition(" ! ")
        rows.append((title, refused.split(), text))
    return rows
