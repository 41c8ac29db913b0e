"""`lawful check --vary`: the targets within many scopes, a row for each, in turn or as one job."""

from __future__ import annotations

import dataclasses
import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from lawful.checks.explore import CheckResult, Limits
from lawful.checks.explore.space import Space
from lawful.checks.report import ci, ci_checks
from lawful.checks.report.exploration import check_text
from lawful.checks.report.lines import table
from lawful.spec.ir import Json
from lawful.spec.resolve import resolve

from .commands import exploration, exports, files
from .commands.errors import CommandError
from .commands.exit_codes import gravest
from .commands.options import CheckOptions
from .commands.output import Output
from .progress import progress
from .project import Settings
from .run_summary import Judged
from .spark_session import spark_session
from .targets import ScopedMachine, scoped

LimitsOf = Callable[[Settings], Limits]
HEAD = ("machine and scope", "verdict", "states", "generated", "depth", "cut", "seconds", "")
OF_ONE = ("--coverage", "--advice", "--runtime", "--spill")  # That Spark does not give of many.


def scopes(given: Sequence[str]) -> list[tuple[str, ...]]:
    """The scopes that `--vary` names, as `--scope` reads them: each with one value of each option.

    `KEY=A/B` are values of a bound, `NAME/NAME` are named scopes. Raises CommandError for an empty
    value.
    """
    rows: list[list[str]] = []
    for text in given:
        key, equals, values = text.rpartition("=")
        rows.append([f"{key}{equals}{value}" for value in values.split("/")])
        if not all(values.split("/")) or (equals and not key):
            raise CommandError(f"--vary {text}: expected KEY=VALUE/VALUE or NAME/NAME")
    return list(itertools.product(*rows))


class _Asked(NamedTuple):
    """A machine within one of the scopes; `name` tells it from the same machine in another."""

    name: str
    machine: ScopedMachine
    settings: Settings


class _Answered(NamedTuple):
    """The result, and its JSON."""

    name: str
    machine: ScopedMachine
    result: CheckResult
    row: dict[str, Json]

    @property
    def suite(self) -> ci.Suite:
        """The cases for CI."""
        suite = ci_checks.suite(resolve(self.machine.cls).machine, self.result)
        return dataclasses.replace(suite, name=self.name)


def check_scopes(
    options: CheckOptions, output: Output, limits: LimitsOf, run: exploration.Run
) -> int:
    """Check every machine of the targets within every scope, and report a row for each.

    `limits` gives the limits of a machine for Spark; `run` checks where the engine is another.
    Raises CommandError where a machine cannot be checked, or for an option that asks for more.
    """
    _fits(options)
    begun = time.perf_counter()
    asked = list(_asked(options, output))
    if options.engine == "spark":
        run = _as_one_job(asked, options, output, limits)
    answers: list[_Answered] = []
    for name, machine, settings in asked:
        result, made = exploration.checked_now(machine, settings, options.exploration, output, run)
        answers.append(_Answered(name, machine, result, dict(made())))
    for each in answers:
        each.row["total_seconds"] = round(time.perf_counter() - begun, 4)
    judged = [Judged(each.name, exploration.code_of(each.result)) for each in answers]
    output.answer(_text(answers), [each.row for each in answers], judged)
    suites = [each.suite for each in answers]
    exports.annotate(options.reports.github, suites)
    files.save_all(exports.verdicts(options.reports, output.command, suites))
    return gravest(each.code for each in judged)


def _fits(options: CheckOptions) -> None:
    asked: dict[str, object] = {
        "--changed": options.changed,
        "--resume": options.resume,
        "--itf": options.reports.itf,
        "--pytest": options.exploration.pytest,
    }
    if options.engine == "spark":
        asked |= {
            "--coverage": options.coverage,
            "--advice": options.advice,
            "--runtime": options.runtime,
            "--spill": options.spill,
        }
    for name, wanted in asked.items():
        if wanted:
            engine = " and --engine spark" if name in OF_ONE else ""
            raise CommandError(f"{name} cannot be had with --vary{engine}")


def _asked(options: CheckOptions, output: Output) -> Iterator[_Asked]:
    given = options.exploration
    for chosen in output.chosen(given.targets):
        settings = output.settings(chosen.cls)
        for more in scopes(options.vary):
            scope = (*settings.scope, *given.scope, *more)
            machine = scoped(chosen.cls, scope, settings.expects)
            exploration.require_properties(Space(machine.flat, machine.world), given.only)
            yield _Asked(f"{chosen.cls.__name__} {' '.join(more)}", machine, settings)


def _as_one_job(
    asked: Sequence[_Asked], options: CheckOptions, output: Output, limits: LimitsOf
) -> exploration.Run:
    """A run that gives the results of one job of Spark, in the order in which they were asked."""
    from lawful.checks.explore.spark.check_frames import BoundedCheck, results, results_frame

    checks = [
        BoundedCheck(each.machine.flat, each.machine.expects, limits(each.settings))
        for each in asked
    ]
    with progress(f"{len(checks)} checks", output.quiet), spark_session(options.master) as session:
        try:
            found = iter(results(results_frame(session, checks, symmetry=options.symmetry)))
        except ValueError as error:
            raise CommandError(str(error)) from error
    return lambda _machine, _settings, _tell: next(found)


def _text(answers: Sequence[_Answered]) -> str:
    """A table with a row for each scope, and the whole result of those that are not as expected."""
    rows: list[Sequence[str]] = [HEAD]
    for name, _, result, _ in answers:
        end = "" if result.as_expected else "NOT as expected"
        counts = (result.distinct, result.generated, result.depth, result.cuts)
        numbers = [f"{count:,}" for count in counts]
        rows.append((name, result.verdict.value, *numbers, f"{result.seconds:.1f}", end))
    wrong = [check_text(each.result) for each in answers if not each.result.as_expected]
    return "\n\n".join(["\n".join(table(rows)), *wrong])
