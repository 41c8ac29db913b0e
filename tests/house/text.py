"""Rules about what a line may not hold."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from .sources import PRODUCT, Source, python


def checks_never_print(sources: Sequence[Source]) -> Iterator[str]:
    for s in python(sources, ["checks"]):
        for call in (node for node in s.nodes if isinstance(node, ast.Call)):
            text = ast.unparse(call.func)
            if re.fullmatch(r"print|sys\.(stdout|stderr)\.\w+", text):
                where = f"{s.path}:{call.lineno}"
                yield f"{where}: {text}(); a check returns its result, the caller shows it"


def cancellations_arrive(sources: Sequence[Source]) -> Iterator[str]:
    """Before Python 3.12, `wait_for` loses a cancellation that comes with what it waits for."""
    for s in python(sources, PRODUCT):
        for node in s.nodes:
            if not isinstance(node, ast.Attribute) or node.attr != "wait_for":
                continue
            if ast.unparse(node) == "asyncio.wait_for":
                yield f"{s.path}:{node.lineno}: wait_for; say `async with asyncio.timeout`"


IGNORE = re.compile(r"type:\s*ignore|noqa|pyright:\s*(?!strict)\w+|mypy:\s*\w+")
EXPLAINED = re.compile(
    r"(type:\s*ignore\[[\w, -]+\]|pyright:\s*ignore\[\w+(, ?\w+)*\]|noqa:\s*[A-Z]+\d+(,\s*\w+)*"
    r"|(mypy|pyright):\s*[\w-]+(=\S+)?)\s*#+\s+\w+\W+\w+\W+\w+"
)


def ignores_say_why(sources: Sequence[Source]) -> Iterator[str]:
    for s in python(sources):
        # To tell comments from strings takes long, and few files have one of these words.
        for number, comment in s.comments if IGNORE.search(s.text) else ():
            if IGNORE.match(comment.lstrip("# ")) and not EXPLAINED.search(comment):
                yield (
                    f"{s.path}:{number}: {comment!r} hides a check; name the check in brackets"
                    " and say why in a second comment on the line, or mend the code"
                )


UNFINISHED = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X)\b")
ELSEWHERE = re.compile(
    r"(?<![\w.<~-])/(root|work|home|Users|tmp)/"
    r"|\b(pypi\.org|pythonhosted\.org|registry\.npmjs\.org|deb\.debian\.org|repo1?\.maven\.org)\b"
)


def nothing_is_left_for_later(sources: Sequence[Source]) -> Iterator[str]:
    for s in sources:
        for number, line in enumerate(s.lines, 1):
            if UNFINISHED.search(line):
                yield f"{s.path}:{number}: finish it, or file an issue: {line.strip()}"


def no_machine_or_registry_is_named(sources: Sequence[Source]) -> Iterator[str]:
    for s in sources:
        for number, line in enumerate(s.lines, 1):
            if ELSEWHERE.search(line):
                yield f"{s.path}:{number}: true of one machine only: {line.strip()}"
