"""What a command writes into the files that it was asked for where it has no answer to write.

    error   := {"kind", "exit", "message", "problems": [problem]}
    problem := {"number", "what", "file", "line", "column", "found", "expected", "rewrite"}

`kind` is `refused`, `usage`, `stopped` or `fault`. Problems are those of a refused declaration;
lines and columns count from 1.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Literal, NamedTuple

from lawful.spec.errors import NOWHERE, RULES, DeclarationError, Place, Problem
from lawful.spec.ir import Json

Kind = Literal["refused", "usage", "stopped", "fault"]
REPORTING = ("check", "simulate", "prove", "replay")  # The commands that take --junit and --sarif.


class Ended(NamedTuple):
    """How a command ended that has no answer."""

    kind: Kind
    code: int
    message: str
    problems: tuple[Problem, ...] = ()

    @classmethod
    def refused(cls, error: DeclarationError, code: int) -> Ended:
        """By a declaration that is outside the language."""
        return cls("refused", code, str(error), error.problems)

    def to_json(self) -> dict[str, Json]:
        """The key `error` of the answer in JSON."""
        problems: list[Json] = [_problem(each) for each in self.problems]
        return {"kind": self.kind, "exit": self.code, "message": self.message, "problems": problems}


def _problem(each: Problem) -> Json:
    return {
        "number": each.number,
        "what": RULES[each.number],
        "file": each.place.file,
        "line": each.place.line,
        "column": each.place.column + 1,
        "found": each.found,
        "expected": each.expected,
        "rewrite": each.rewrite,
    }


def asked_in(words: Sequence[str]) -> argparse.Namespace:
    """The command of a command line that cannot be parsed, and the files that it asks for."""
    parser = argparse.ArgumentParser(add_help=False, exit_on_error=False, allow_abbrev=False)
    for option in ("--json", "--junit", "--sarif"):
        parser.add_argument(option)
    try:
        given, rest = parser.parse_known_args(words)
    except argparse.ArgumentError:  # One of them is without its file.
        return argparse.Namespace(json=None, command="", answered=False)
    given.command = rest[0] if rest and not rest[0].startswith("-") else ""
    given.answer, given.answered = sys.stdout, False
    return given


def write(given: argparse.Namespace, ended: Ended) -> None:
    """Write the files that were asked for; those of a command that has answered stay."""
    if given.answered:
        return
    if given.json is not None:
        answer = {"version": 1, "command": given.command, "error": ended.to_json()}
        text = json.dumps(answer, indent=1) + "\n"
        if given.json == "-":
            with contextlib.suppress(OSError):
                print(text, end="", file=given.answer, flush=True)
        else:
            _save(Path(given.json), text)
    if given.command in REPORTING and (given.junit or given.sarif):
        _reports(given, ended)


def _reports(given: argparse.Namespace, ended: Ended) -> None:
    try:
        from lawful.checks.report import ci
    except ImportError:  # What explores is not installed: nothing of it is reported.
        return
    target = str(getattr(given, "target", given.command))
    rows = ended.problems
    cases = tuple(
        ci.Case(
            f"{each.number} {_where(each.place)}",
            each.number,
            "error",
            f"{RULES[each.number]}: found {each.found}, expected {each.expected}",
            each.number,
            tuple(each.render().split("\n")),
            _place(each.place),
        )
        for each in rows
    ) or (ci.Case(ended.kind, ended.kind, "error", ended.message, ended.kind),)
    suites = [ci.Suite(target, 0.0, cases)]
    if given.junit:
        _save(Path(given.junit), ci.junit(given.command, suites))
    if given.sarif:
        document = ci.sarif(suites, version("lawful"))
        _save(Path(given.sarif), json.dumps(document, indent=1) + "\n")


def _where(place: Place) -> str:
    return f"{place.file}:{place.line}" if place != NOWHERE else ""


def _place(place: Place) -> Place | None:
    return place if place.file else None


def _save(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        print(f"cannot write {path}: {error.strerror}", file=sys.stderr)
