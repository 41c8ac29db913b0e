"""`lawful lint`: what is odd about a declaration, and mutants that no property notices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from lawful import targets
from lawful.checks.explore import Limits
from lawful.checks.lint import findings
from lawful.checks.mutation import survey_text
from lawful.checks.mutation.judge import Judge
from lawful.checks.mutation.mutants import Mutant, mutants
from lawful.checks.mutation.survey import Survey, in_processes, survey
from lawful.checks.mutation.survey import chosen as chosen_mutants
from lawful.checks.report import ci
from lawful.progress import Tell, progress
from lawful.run_summary import Judged
from lawful.spark_session import spark_session
from lawful.spec.ir import Json
from lawful.targets import Chosen, scoped

from . import exports, files
from .errors import CommandError
from .exit_codes import ExitCode, gravest
from .options import LintOptions
from .output import Output


def lint(options: LintOptions, output: Output) -> int:
    """Report what is odd about the target's machines. The exit code says whether anything is."""
    if options.master is not None and options.engine != "spark":
        raise CommandError("--master is for --engine spark")
    found = output.chosen(options.targets, scope=options.scope)
    reports = [_linted(each, options, output) for each in found]
    output.answer(
        "\n\n".join(each.text for each in reports),
        [each.row for each in reports],
        [each.judged for each in reports],
    )
    suites = [each.suite for each in reports]
    exports.annotate(options.reports.github, suites)
    files.save_all(exports.verdicts(options.reports, "lint", suites))
    return gravest(each.judged.code for each in reports)


@dataclass(frozen=True)
class _Report:
    judged: Judged
    text: str
    row: Json
    suite: ci.Suite


def _linted(chosen: Chosen, options: LintOptions, output: Output) -> _Report:
    cls = chosen.cls
    options = replace(options, scope=(*output.settings(cls).scope, *options.scope))
    machine, limits = scoped(cls, options.scope), Limits(options.max_states, options.max_seconds)
    try:
        found = findings.lint(machine.flat, machine.world, limits)
        text, row = findings.text(cls.__name__, found), findings.to_json(cls.__name__, found)
        marks = ""
        if options.mutants is not None:
            with progress(f"changing {cls.__name__}", output.quiet) as tell:
                surveyed = _surveyed(chosen.target, options, tell)
            row["mutants"] = survey_text.to_json(surveyed)
            text = f"{text}\n{survey_text.text(surveyed)}"
            if surveyed.wrong or surveyed.stale:
                wrong, stale = len(surveyed.wrong), len(surveyed.stale)
                marks = f"of the marks of equivalent mutants {wrong} are wrong and {stale} stale"
    except ValueError as error:
        raise CommandError(str(error)) from error
    nothing = ExitCode.AS_EXPECTED if found.explored else ExitCode.UNKNOWN
    code = ExitCode.VIOLATED if found.rows or marks else nothing
    cases = [
        ci.Case(each.kind, each.kind, "failed", each.what, place=each.place) for each in found.rows
    ]
    if marks:
        cases.append(ci.Case("mutants", "mutants", "failed", marks))
    if not found.explored:
        cases.append(ci.Case("lint", "lint", "skipped", "a limit ended the search"))
    suite = ci.Suite(cls.__name__, 0.0, tuple(cases) or (ci.Case("lint", "lint", "passed"),))
    return _Report(Judged(cls.__name__, code), text, row, suite)


def _surveyed(target: str, options: LintOptions, tell: Tell) -> Survey:
    make = partial(judge_of, target, options)
    if options.engine == "local":
        judging = in_processes(make, options.workers)
        return survey(make, judging=judging, kept=options.answers, tell=tell)
    from lawful.checks.mutation.mutant_frames import on_session

    with spark_session(options.master) as session:
        return survey(make, judging=on_session(session), kept=options.answers, tell=tell)


def judge_of(target: str, options: LintOptions) -> tuple[Judge, Sequence[Mutant]]:
    """A judge of the mutants of the target, one machine, and those that are to be judged.

    Each process that judges makes its own.
    """
    machine = scoped(targets.machine(target), options.scope)
    limits = Limits(options.max_states, options.max_seconds)
    judge = Judge(machine.resolved, machine.scope, limits, options.prove)
    most = None if options.mutants == "all" else options.mutants
    return judge, chosen_mutants(list(mutants(machine.resolved.machine)), most)
