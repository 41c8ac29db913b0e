"""The files of a command that has no answer: `--json`, `--junit` and `--sarif` say why, and so does
an annotation of `--github`."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from lawful.spec.errors import NOWHERE, RULES, Problem
from lawful.spec.ir import Json

from . import files
from .errors import CommandError, Ended
from .options import Reports
from .output import Output, printable

if TYPE_CHECKING:
    from lawful.checks.report import ci


def write(ended: Ended, output: Output, reports: Reports, target: str) -> None:
    """Write the files that were asked for. A command that has answered keeps its files."""
    if output.answered:
        return
    document: dict[str, Json] = {"version": 1, "command": output.command, "error": ended.to_json()}
    if output.json == "-":
        with contextlib.suppress(OSError):
            print(files.json_text(document), end="", file=output.stdout, flush=True)
    elif output.json is not None:
        _save(Path(output.json), files.json_text(document))
    if reports.junit or reports.sarif or reports.github:
        _write_reports(ended, output.command, reports, target)


def _write_reports(ended: Ended, command: str, reports: Reports, target: str) -> None:
    try:
        from lawful.checks.report import ci
    except ImportError:  # The engines are not installed; the message on standard error says so.
        return
    whole = ci.Case(ended.kind, ended.kind, "error", ended.message, ended.kind)
    cases = tuple(_case(each) for each in ended.problems) or (whole,)
    suites = [ci.Suite(target, 0.0, cases)]
    if reports.github:
        from .exports import annotate

        annotate(True, suites)
    if reports.junit:
        _save(reports.junit, ci.junit(command, suites))
    if reports.sarif:
        from .exports import lawful_version

        _save(reports.sarif, files.json_text(ci.sarif(suites, lawful_version())))


def _case(problem: Problem) -> ci.Case:
    from lawful.checks.report import ci

    place = problem.place
    where = "" if place == NOWHERE else f"{place.file}:{place.line}"
    message = f"{RULES[problem.number]}: found {problem.found}, expected {problem.expected}"
    return ci.Case(
        f"{problem.number} {where}",
        problem.number,
        "error",
        message,
        problem.number,
        tuple(problem.render().split("\n")),
        place if place.file else None,
    )


def _save(path: Path, text: str) -> None:
    """Write a file; a second failure is named and changes no exit code."""
    try:
        files.save(path, text)
    except CommandError as error:
        print(printable(str(error)), file=sys.stderr)
