"""The common part of `check` and `simulate`: run a target's machines and report their verdicts."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from itertools import chain

from lawful.checks.explore import CheckResult, verdicts
from lawful.checks.explore.space import Space
from lawful.checks.report import ci_checks, exploration
from lawful.checks.verdict import PropertyResult, exit_code
from lawful.progress import Tell, progress
from lawful.runtime.instance import Machine
from lawful.spec.errors import Unsupported
from lawful.spec.ir import Json
from lawful.spec.quick_dataclass import dataclass
from lawful.spec.resolve import resolve
from lawful.targets import ScopedMachine, scoped

from . import exports, files
from .errors import CommandError
from .exit_codes import ExitCode, gravest
from .options import ExplorationOptions, Reports
from .output import Output

Run = Callable[[ScopedMachine, Tell], CheckResult]


@dataclass(frozen=True, slots=True)
class _Checked:
    """One machine, its result, and the result as JSON."""

    cls: type[Machine]
    result: CheckResult
    row: Json


def report(options: ExplorationOptions, reports: Reports, output: Output, run: Run) -> int:
    """Run every machine of the target, print the verdicts, write the files, return the exit code.

    Raises CommandError where a machine cannot be run or a file cannot be written.
    """
    checked = [_checked(cls, options, output, run) for cls in output.machines(options.target)]
    text = "\n\n".join(exploration.check_text(each.result) for each in checked)
    # Verdicts are printed first: a file that cannot be written must not take them away.
    output.answer(text, [each.row for each in checked])
    suites = [ci_checks.suite(resolve(each.cls).machine, each.result) for each in checked]
    verdict_files = exports.verdicts(reports, output.command, suites)
    trace_files = _counterexamples(options, reports, checked)
    files.save_all(chain(verdict_files, trace_files), reports.itf, options.pytest)
    return gravest(code for each in checked for code in _codes(each.result))


def _codes(result: CheckResult) -> tuple[int, ExitCode]:
    return exit_code(result.properties), _agreement(result)


def _agreement(result: CheckResult) -> ExitCode:
    """A fault where the runtime does something else, unknown where not all was compared."""
    if result.played is not None and result.played.faults:
        return ExitCode.FAULT
    if result.embedded is None:
        return ExitCode.AS_EXPECTED
    if result.embedded.differing:
        return ExitCode.FAULT
    return ExitCode.AS_EXPECTED if result.embedded.complete else ExitCode.UNKNOWN


def _checked(cls: type[Machine], options: ExplorationOptions, output: Output, run: Run) -> _Checked:
    began = time.perf_counter()
    machine = scoped(cls, options.scope)
    with progress(f"checking {cls.__name__}", output.quiet, options.progress) as tell:
        try:
            _require_properties(machine, options.only)
            result = run(machine, tell)
        except (ValueError, Unsupported) as error:
            raise CommandError(str(error)) from error
    result = _only(result, options.only)
    if any(p.trace is not None for p in result.properties):
        # Most of the time of a short check is imports: what only some checks need comes here.
        from lawful.checks.conform.trace_player import played

        result = played(cls, machine.scope, result)
    total = time.perf_counter() - began
    return _Checked(cls, result, exploration.check_json(result, machine.fingerprint, total))


def _require_properties(machine: ScopedMachine, wanted: Sequence[str]) -> None:
    """Raises CommandError for the name of a property that the machine does not have."""
    names = [name for name, _ in verdicts.rows(Space(machine.flat, machine.world))]
    for name in wanted:
        if name not in names:
            known = ", ".join(names)
            raise CommandError(f"{machine.cls.__name__} has no property {name}; it has {known}")


def _only(result: CheckResult, names: Sequence[str]) -> CheckResult:
    kept = tuple(p for p in result.properties if not names or p.name in names)
    return dataclasses.replace(result, properties=kept)


def _counterexamples(
    options: ExplorationOptions, reports: Reports, checked: Sequence[_Checked]
) -> exports.Files:
    """Each counterexample as a file of `--itf` and as a test of `--pytest`."""
    where = options.target.partition(":")[0]
    for each in checked:
        name = each.cls.__name__
        for p in filter(_has_counterexample, each.result.properties):
            if reports.itf is not None and p.trace is not None:
                about = f"{name}.{p.name} is {p.verdict.value}: {p.why}"
                machine = resolve(each.cls).machine
                yield exports.trace(reports.itf, machine, p.name, about, p.trace)
            if options.pytest is not None:
                from lawful.checks.report import regression_test

                file = f"test_{name}_{p.name.replace('.', '_')}.py"
                test = regression_test.as_test(f"{where}:{name}", options.scope, p)
                yield options.pytest / file, test


def _has_counterexample(p: PropertyResult) -> bool:
    return p.verdict.failed and p.trace is not None and bool(p.trace.states)
