"""The files for other tools of a command that has no verdicts: they say how it ended.

Where it has no answer, `--json`, `--junit`, `--sarif` and an annotation of `--github` say why.
Where it judges no properties, such as `lock`, the last three have one case: the command itself.
"""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from lawful.spec.errors import NOWHERE, RULES, Problem
from lawful.spec.ir import Json

from . import files
from .errors import CommandError, Ended
from .exit_codes import ExitCode
from .options import Reports
from .output import Output, printable

if TYPE_CHECKING:
    from lawful.checks.report import ci


def write_error(ended: Ended, output: Output, reports: Reports, target: str) -> None:
    """Write the files of a command without an answer; one that has answered keeps its files."""
    if output.answered:
        return
    document: dict[str, Json] = {"version": 1, "command": output.command, "error": ended.to_json()}
    if output.json == "-":
        with contextlib.suppress(OSError):
            print(files.json_text(document), end="", file=output.stdout, flush=True)
    elif output.json is not None:
        _save(Path(output.json), files.json_text(document), ended)
    if reports.junit or reports.sarif or reports.github:
        _write_reports(ended, output.command, reports, target)


def write_outcome(output: Output, code: int, reports: Reports, target: str, seconds: float) -> None:
    """Write the files of a command without verdicts: it ended with this code after these seconds.

    Raises CommandError where a file cannot be written.
    """
    if reports.junit or reports.sarif or reports.github:
        from . import exports

        suites = [_outcome(output, code, target, seconds)]
        exports.annotate(reports.github, suites)
        files.save_all(exports.verdicts(reports, output.command, suites))


def _outcome(output: Output, code: int, target: str, seconds: float) -> ci.Suite:
    from lawful.checks.report import ci

    name, lines = output.command, tuple(output.text.splitlines())
    if code == ExitCode.AS_EXPECTED:
        case = ci.Case(name, name, "passed")
    elif code == ExitCode.UNKNOWN:
        case = ci.Case(name, name, "skipped", f"{name} decided nothing", "unknown", lines)
    else:
        case = ci.Case(name, name, "failed", f"{name} ended with {code}", str(code), lines)
    return ci.Suite(target, seconds, (case,))


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
        _save(reports.junit, ci.junit(command, suites), ended)
    if reports.sarif:
        from .exports import lawful_version

        _save(reports.sarif, files.json_text(ci.sarif(suites, lawful_version())), ended)


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


def _save(path: Path, text: str, ended: Ended) -> None:
    """Write a file; another failure than the first is named and changes no exit code."""
    try:
        files.save(path, text)
    except CommandError as error:
        if str(error) != ended.message:
            print(printable(str(error)), file=sys.stderr)
