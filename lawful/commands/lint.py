"""`lawful lint`: what is odd about a declaration, and mutants that no property notices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from lawful import targets
from lawful.checks.explore import Limits
from lawful.checks.lint import findings
from lawful.checks.mutation import survey_text
from lawful.checks.mutation.judge import Judge
from lawful.checks.mutation.mutants import Mutant, mutants
from lawful.checks.mutation.survey import Survey, chosen, survey
from lawful.progress import Tell, progress
from lawful.runtime.instance import Machine
from lawful.spec.ir import Json
from lawful.targets import scoped

from .errors import CommandError
from .exit_codes import ExitCode
from .options import LintOptions
from .output import Output


def lint(options: LintOptions, output: Output) -> int:
    """Report what is odd about the target's machines. The exit code says whether anything is."""
    reports = [_linted(cls, options, output) for cls in output.machines(options.target)]
    output.answer("\n\n".join(each.text for each in reports), [each.row for each in reports])
    return ExitCode.VIOLATED if any(each.odd for each in reports) else ExitCode.AS_EXPECTED


@dataclass(frozen=True)
class _Report:
    odd: bool
    text: str
    row: Json


def _linted(cls: type[Machine], options: LintOptions, output: Output) -> _Report:
    machine, limits = scoped(cls, options.scope), Limits(options.max_states)
    try:
        found = findings.lint(machine.flat, machine.world, limits)
        text, row = findings.text(cls.__name__, found), findings.to_json(cls.__name__, found)
        odd = bool(found.rows)
        if options.mutants is not None:
            with progress(f"changing {cls.__name__}", output.quiet) as tell:
                surveyed = _surveyed(cls, options, tell)
            row["mutants"] = survey_text.to_json(surveyed)
            text = f"{text}\n{survey_text.text(surveyed)}"
            odd = odd or bool(surveyed.wrong or surveyed.stale)
    except ValueError as error:
        raise CommandError(str(error)) from error
    return _Report(odd, text, row)


def _surveyed(cls: type[Machine], options: LintOptions, tell: Tell) -> Survey:
    target = f"{options.target.partition(':')[0]}:{cls.__name__}"
    make = partial(judge_of, target, options)
    return survey(make, workers=options.workers, kept=options.answers, tell=tell)


def judge_of(target: str, options: LintOptions) -> tuple[Judge, Sequence[Mutant]]:
    """A judge of the mutants of the target, one machine, and those that are to be judged.

    Each process that judges makes its own.
    """
    machine = scoped(targets.machine(target), options.scope)
    limits = Limits(options.max_states, options.max_seconds)
    judge = Judge(machine.resolved, machine.scope, limits, options.prove)
    most = None if options.mutants == "all" else options.mutants
    return judge, chosen(list(mutants(machine.resolved.machine)), most)
