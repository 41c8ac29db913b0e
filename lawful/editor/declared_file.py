"""The declarations of a file whose text may not be saved: their problems, properties and places.

    python -m lawful.editor.declared_file < {"path", "text"} > answer

    answer   := {"problems": [problem], "machines": [machine], "stopped": stopped or null}
    problem  := {"number", "what", "found", "expected", "rewrite",
                 "line", "start", "end_line", "end"}
    machine  := {"name", "line", "fingerprint" or null, "members": [member]}
    stopped  := {"why", "line", "start", "end_line", "end"}
    member   := {"name", "kind", "line", "doc"}

Lines count from 0, columns in characters. `stopped`: the text cannot be run, so nothing is known of
it. Importing a declaration runs its module: the language
server starts this as a process of its own, which it can end.
"""

from __future__ import annotations

import json
import linecache
import sys
from collections.abc import Iterator
from pathlib import Path
from traceback import extract_tb

from lawful import targets
from lawful.runtime.instance import Machine
from lawful.spec.codec.as_json import whole
from lawful.spec.errors import RULES, DeclarationError, Problem
from lawful.spec.ir import Json
from lawful.spec.resolve import resolve, settings_of
from lawful.spec.syntax.declare import declared
from lawful.spec.syntax.members import gather


def judged(path: Path, text: str) -> dict[str, Json]:
    """The answer for a file with this text."""
    lines = text.splitlines(keepends=True)
    linecache.cache[str(path)] = len(text), None, lines, str(path)
    try:
        machines, problems = targets.all_of_text(path, text)
    except targets.TargetError as error:
        return {"problems": [], "machines": [], "stopped": _stopped(error.__cause__, path)}
    except DeclarationError as error:  # A decorator raises it: the module ended there.
        machines, problems = [], list(error.problems)
    here = [_problem(each, lines) for each in problems if each.place.file == str(path)]
    rows: list[Json] = [_machine(cls) for cls in machines]
    return {"problems": [*here], "machines": rows, "stopped": None}


def _stopped(error: BaseException | None, path: Path) -> Json:
    """Where in the file Python stopped, and why."""
    line, start = 1, 0
    if isinstance(error, SyntaxError) and error.filename == str(path):
        line, start = error.lineno or 1, max(0, (error.offset or 1) - 1)
    elif error is not None:
        places = [f for f in extract_tb(error.__traceback__) if f.filename == str(path)]
        line = places[-1].lineno or 1 if places else 1
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    place: dict[str, Json] = {"line": line - 1, "start": start}
    why = f"{type(error).__name__}: {text}"
    return {"why": why, **place, "end_line": line - 1, "end": start + 1}


def _problem(each: Problem, lines: list[str]) -> Json:
    place = each.place
    return {
        "number": each.number,
        "what": RULES[each.number],
        "found": each.found,
        "expected": each.expected,
        "rewrite": each.rewrite,
        "line": place.line - 1,
        "start": _characters(lines, place.line, place.column),
        "end_line": place.end_line - 1,
        "end": _characters(lines, place.end_line, place.end_column),
    }


def _characters(lines: list[str], line: int, column: int) -> int:
    """Places count bytes of UTF-8, as `ast` does."""
    text = lines[line - 1] if 0 < line <= len(lines) else ""
    return len(text.encode()[:column].decode(errors="ignore"))


def _machine(cls: type[Machine]) -> Json:
    try:
        found = resolve(cls)
        fingerprint = whole(found.machine, settings_of(found))
    except DeclarationError:
        fingerprint = None
    members: list[Json] = list(_members(cls))
    line = declared(cls).tree.place.line - 1
    return {"name": cls.__name__, "line": line, "fingerprint": fingerprint, "members": members}


def _members(cls: type[Machine]) -> Iterator[Json]:
    """The transitions and properties that stand in the class itself."""
    for name, member in gather(cls).methods.items():
        if member.owner is cls and member.header is not None:
            place, doc = member.tree.place, member.tree.doc
            yield {"name": name, "kind": member.header.kind, "line": place.line - 1, "doc": doc}


def main() -> None:
    """Read the request from standard input, and print the answer alone on standard output."""
    request = json.load(sys.stdin)
    answer, sys.stdout = sys.stdout, sys.stderr  # The module may print.
    print(json.dumps(judged(Path(request["path"]), request["text"])), file=answer)


if __name__ == "__main__":
    main()
