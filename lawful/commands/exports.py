"""Verdicts for other tools: JUnit, SARIF, traces in the format ITF, annotations of GitHub."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from lawful.checks.report import ci, github, itf
from lawful.checks.verdict import PropertyResult, Trace
from lawful.spec import ir

from . import files
from .options import Reports
from .output import printable

Files = Iterator[tuple[Path, str]]


def lawful_version() -> str:
    """The version that is installed."""
    from importlib.metadata import version  # Its imports take longer than most checks.

    return version("lawful")


def verdicts(reports: Reports, command: str, suites: Sequence[ci.Suite]) -> Files:
    """The files of `--junit` and `--sarif`, where they are asked for, with their texts."""
    if reports.junit is not None:
        yield reports.junit, ci.junit(command, suites)
    if reports.sarif is not None:
        yield reports.sarif, files.json_text(ci.sarif(suites, lawful_version()))


def annotate(wanted: bool, suites: Sequence[ci.Suite]) -> None:
    """Print the annotations of `--github`, where they are wanted.

    They go to standard error, which the runner of GitHub reads, too: standard output may be JSON.
    """
    for line in github.lines(suites) if wanted else ():
        print(printable(line), file=sys.stderr, flush=True)


def counterexample(folder: Path, machine: ir.Machine, p: PropertyResult) -> Files:
    """The file of `--itf` of a property's counterexample, if it has one."""
    if p.verdict.failed and p.trace is not None and p.trace.states:
        about = f"{machine.name}.{p.name} is {p.verdict.value}: {p.why}"
        yield trace(folder, machine, p.name, about, p.trace)


def trace(
    folder: Path, machine: ir.Machine, name: str, about: str, steps: Trace
) -> tuple[Path, str]:
    """A file of `--itf`, with its text; `about` says what the trace shows."""
    path = folder / f"{machine.name}.{name}.itf.json"
    return path, files.json_text(itf.itf(machine, steps, about))
