"""`lawful lint`: what is odd about a declaration, and small changes that no property notices."""

from __future__ import annotations

from dataclasses import dataclass

from lawful.checks.explore import Limits
from lawful.checks.lint import findings, mutants
from lawful.progress import progress
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
        if options.mutants is not None:
            with progress(f"changing {cls.__name__}", output.quiet):
                survey = mutants.survey(machine.resolved, machine.scope, options.mutants, limits)
            row["mutants"] = mutants.to_json(survey)
            text = f"{text}\n{mutants.text(survey)}"
    except ValueError as error:
        raise CommandError(str(error)) from error
    return _Report(bool(found.rows), text, row)
