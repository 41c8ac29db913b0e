"""The common part of `check` and `simulate`: run a target's machines and report their verdicts."""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path

from lawful import kept_answers
from lawful.checks.explore import CheckResult, verdicts
from lawful.checks.explore.argument_counts import many_arguments
from lawful.checks.explore.space import Space
from lawful.checks.report import ci, ci_checks, exploration
from lawful.checks.report.exploration import check_text
from lawful.checks.verdict import PropertyResult, exit_code
from lawful.progress import Tell, progress
from lawful.project import Settings
from lawful.run_summary import Judged
from lawful.spec.errors import Unsupported
from lawful.spec.quick_dataclass import dataclass
from lawful.spec.resolve import resolve
from lawful.targets import Chosen, ScopedMachine, scoped

from . import exports, files
from .errors import CommandError
from .exit_codes import ExitCode, gravest
from .options import ExplorationOptions, Reports
from .output import Output

Run = Callable[[ScopedMachine, Settings, Tell], CheckResult]
MakeRow = Callable[[], kept_answers.Row]


@dataclass(frozen=True, slots=True)
class Checked:
    """One machine, its result within a scope, and what makes the result as JSON: few ask for that,
    and its fingerprint takes as long as a small search.

    `result` is None where an answer was kept that was as expected.
    """

    machine: Chosen
    scope: Sequence[str]
    result: CheckResult | None
    row: MakeRow

    @property
    def text(self) -> str:
        """The result as text."""
        return exploration.kept_text(self.row()) if not self.result else check_text(self.result)

    @property
    def judged(self) -> Judged:
        """The exit code of this machine alone."""
        name, result = self.machine.cls.__name__, self.result
        if result is None:
            return Judged(name, ExitCode.AS_EXPECTED, unchanged=True)
        return Judged(name, code_of(result))

    @property
    def suite(self) -> ci.Suite:
        """The cases for CI."""
        if self.result is None:
            return ci_checks.kept_suite(self.row())
        return ci_checks.suite(resolve(self.machine.cls).machine, self.result)


def report(
    options: ExplorationOptions,
    reports: Reports,
    output: Output,
    run: Run,
    changed: Sequence[str] | None = None,
) -> int:
    """Run every machine of the targets, print the verdicts, write the files, return the exit code.

    With `changed`, on which answers depend, only the machines without a kept answer. Raises
    CommandError where a machine cannot be run or a file cannot be written.
    """
    found = output.chosen(options.targets, scope=options.scope)
    checked = [answered(each, options, output, run, changed) for each in found]
    text = "\n\n".join(each.text for each in checked)
    verdicts = [each.judged for each in checked]
    # Verdicts are printed first: a file that cannot be written must not take them away.
    output.answer(text, [each.row() for each in checked] if output.json else [], verdicts)
    asked = reports.junit or reports.sarif or reports.github
    suites = [each.suite for each in checked] if asked else []
    exports.annotate(reports.github, suites)
    verdict_files = exports.verdicts(reports, output.command, suites)
    trace_files = _counterexamples(options, reports, checked)
    files.save_all(chain(verdict_files, trace_files), reports.itf, options.pytest)
    return gravest(each.code for each in verdicts)


def answered(
    chosen: Chosen,
    options: ExplorationOptions,
    output: Output,
    run: Run,
    changed: Sequence[str] | None,
) -> Checked:
    """The answer for one machine: kept from an earlier run, or found now."""
    settings = output.settings(chosen.cls)
    scope = (*settings.scope, *options.scope)
    machine = scoped(chosen.cls, scope, settings.expects)
    name = None if changed is None else kept_answers.key(machine, *changed)
    row = None if name is None else kept_answers.kept(name)
    if row is not None:
        kept: kept_answers.Row = {**row, "unchanged": True}
        return Checked(chosen, scope, None, lambda: kept)
    result, made = checked_now(machine, settings, options, output, run)
    found = Checked(chosen, scope, result, made)
    if name is not None and found.judged.code == ExitCode.AS_EXPECTED and result.complete:
        kept_answers.keep(name, made())
    return found


def code_of(result: CheckResult) -> int:
    """The exit code of one result."""
    return gravest((exit_code(result.properties), _agreement(result)))


def _agreement(result: CheckResult) -> ExitCode:
    """A fault where the runtime does something else, unknown where not all was compared."""
    if result.played is not None and result.played.faults:
        return ExitCode.FAULT
    if result.embedded is None:
        return ExitCode.AS_EXPECTED
    if result.embedded.differing:
        return ExitCode.FAULT
    return ExitCode.AS_EXPECTED if result.embedded.complete else ExitCode.UNKNOWN


def checked_now(
    machine: ScopedMachine,
    settings: Settings,
    options: ExplorationOptions,
    output: Output,
    run: Run,
) -> tuple[CheckResult, MakeRow]:
    """The result of a run and what makes its JSON, with counterexamples played on the class.

    Raises CommandError where the machine cannot be run.
    """
    began, cls = time.perf_counter(), machine.cls
    with progress(f"checking {cls.__name__}", output.quiet, options.progress) as tell:
        try:
            space = Space(machine.flat, machine.world)
            require_properties(space, options.only)
            for name, count in many_arguments(space):
                output.note(f"{cls.__name__}: {name} has {count:,} arguments to try in a state")
            result = run(machine, settings, tell)
        except (ValueError, Unsupported) as error:
            raise CommandError(str(error)) from error
    result = _only(result, options.only)
    if any(p.trace is not None for p in result.properties):
        # Most of the time of a short check is imports: what only some checks need comes here.
        from lawful.checks.conform.trace_player import played

        result = played(cls, machine.scope, result)
    total = time.perf_counter() - began
    return result, lambda: exploration.check_json(result, machine.fingerprint, total)


def require_properties(space: Space, wanted: Sequence[str]) -> None:
    """Raises CommandError for the name of a property that the machine does not have."""
    names = [name for name, _ in verdicts.rows(space)]
    for name in wanted:
        if name not in names:
            known = ", ".join(names)
            raise CommandError(f"{space.machine.name} has no property {name}; it has {known}")


def _only(result: CheckResult, names: Sequence[str]) -> CheckResult:
    kept = tuple(p for p in result.properties if not names or p.name in names)
    return dataclasses.replace(result, properties=kept)


def _counterexamples(
    options: ExplorationOptions, reports: Reports, checked: Sequence[Checked]
) -> exports.Files:
    """Each counterexample as a file of `--itf` and as a test of `--pytest`."""
    for each in checked:
        cls, result = each.machine.cls, each.result
        name = cls.__name__
        for p in filter(_has_counterexample, result.properties if result else ()):
            if reports.itf is not None:
                yield from exports.counterexample(reports.itf, resolve(cls).machine, p)
            if options.pytest is not None:
                from lawful.checks.report import regression_test

                file = f"test_{name}_{p.name.replace('.', '_')}.py"
                test = regression_test.as_test(
                    each.machine.target, each.scope, p, os.path.relpath(Path.cwd(), options.pytest)
                )
                yield options.pytest / file, test


def _has_counterexample(p: PropertyResult) -> bool:
    return p.verdict.failed and p.trace is not None and bool(p.trace.states)
