"""`lawful replay`: recorded events against the machine."""

from __future__ import annotations

import sys
import time
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lawful import targets
from lawful.checks.replay import (
    Demands,
    Increment,
    JointIncrement,
    JointProgram,
    ReplayError,
    ReplayProgram,
    ReplayResult,
    joint_program,
    read_mappings,
    replay_increment,
    replay_joint_increment,
    validation,
)
from lawful.checks.replay.flaws.absent_values import absent_values
from lawful.checks.replay.flaws.mapping_names import MappingError
from lawful.checks.replay.flaws.unmet_conditions import unmet_conditions
from lawful.checks.replay.flaws.unplaced_rows import places_of
from lawful.checks.replay.increments.fold_snapshots import StateError
from lawful.checks.replay.increments.given_files import NO_FILES
from lawful.checks.replay.increments.state_files import (
    JointKept,
    Kept,
    joint_states_text,
    read_joint_states,
    read_states,
    states_text,
)
from lawful.checks.replay.joint.joint_program import ALONE
from lawful.checks.replay.mapping import TraceMapping
from lawful.checks.replay.storing import only_store, write_store
from lawful.checks.replay.studies.version_comparison import compared
from lawful.checks.report import (
    ci,
    ci_replays,
    deviation_tests,
    replay_metrics,
    replays,
    version_comparison,
)
from lawful.progress import Tell, progress
from lawful.runtime.instance import Machine
from lawful.spec.resolve import resolve

from . import exports, files
from .errors import CommandError
from .options import ReplayOptions
from .output import Output


def replay(options: ReplayOptions, output: Output) -> int:
    """Replay the traces, print the verdicts, and then write the files that were asked for."""
    classes, mappings = _given(options, output)
    if options.against:
        return _against(classes, mappings, options, output)
    with progress("replaying", output.quiet) as tell, _plain_errors():
        program, demands = _program(classes, mappings, options), _demands(options)
        result = _replayed(options, program, demands, tell)
    output.write(replays.text(result), result.to_json())
    suites = ci_replays.suites(result)
    exports.annotate(options.reports.github, suites)
    files.save_all(_files(options, result, classes, suites), options.reports.itf, options.pytest)
    return result.exit_code


def _given(
    options: ReplayOptions, output: Output
) -> tuple[list[type[Machine]], tuple[TraceMapping, ...]]:
    """The machines that judge, and the mappings."""
    with _plain_errors():
        mappings = _mappings(options)
        if len(mappings) > 1:
            _alone(options)
    given = [options.target, *options.also]
    return output.replayed(given, [each.machine for each in mappings], options.mapping), mappings


@contextmanager
def _plain_errors() -> Generator[None]:
    try:
        yield
    except (ReplayError, ValueError) as error:
        raise CommandError(str(error)) from error


def _against(
    classes: Sequence[type[Machine]],
    mappings: Sequence[TraceMapping],
    options: ReplayOptions,
    output: Output,
) -> int:
    """Replay by two versions, and print where they differ."""
    _for_one(options)
    with progress("replaying", output.quiet) as tell, _plain_errors():
        older = tuple(resolve(targets.machine(each)).machine for each in options.against)
        rest = options.engine, options.master
        program = _single(classes, mappings, options)
        found = compared(options.traces, program, older, *rest, tell=tell)
    output.write(version_comparison.text(found), version_comparison.to_json(found))
    return found.exit_code


def _for_one(options: ReplayOptions) -> None:
    """Raise CommandError for what is of one version, where two are compared."""
    given = {
        "--store": options.store,
        "--resume": options.resume,
        "--keep": options.keep,
        "--pytest": options.pytest,
        "--report": options.report,
        "--metrics": options.metrics,
        "--itf": options.reports.itf,
    }
    for name, value in given.items():
        if value is not None:
            raise CommandError(f"{name} is for a replay by one version; leave it or --against out")


def _replayed(
    options: ReplayOptions, program: ReplayProgram | JointProgram, demands: Demands, tell: Tell
) -> ReplayResult:
    if options.resume is not None or options.keep is not None:
        return _increment(options, program, demands, tell)
    if isinstance(program, JointProgram):
        rest = options.engine, options.master, demands
        return validation.replay(options.traces, program, *rest, tell=tell)
    engine, master = options.engine, options.master
    if options.store is None:
        return validation.replay(options.traces, program, engine, master, demands, tell=tell)
    write_store(options.traces, program, options.store, engine, master=master)
    return validation.replay([options.store], program, engine, master, demands, tell=tell)


def _increment(
    options: ReplayOptions, program: ReplayProgram | JointProgram, demands: Demands, tell: Tell
) -> ReplayResult:
    """Replay from the states of an earlier replay, and keep those after this one."""
    if options.engine == "spark" or options.store is not None:
        raise CommandError("--resume and --keep are for a replay in this process, without a store")
    if options.resume is not None:
        _whole_log(options)
    begun = time.perf_counter()
    with _from_file(options.resume):
        found, kept = _continued(options, program, tell)
    if options.keep is not None:
        files.save(options.keep, kept)
    traces = program.sources(options.traces, some=False)
    whys = found.remark, absent_values(traces, program), unmet_conditions(traces, program)
    remark = "; ".join(filter(None, whys))
    unplaced = places_of(found.tallies, traces, program)
    seconds = time.perf_counter() - begun
    rest = seconds, demands, remark
    return ReplayResult(program, "local", found.tallies, *rest, unplaced=unplaced)


def _whole_log(options: ReplayOptions) -> None:
    """Raise CommandError for what needs all rows of an instance: earlier ones are not read."""
    for name, value in (("--pytest", options.pytest), ("--itf", options.reports.itf)):
        if value is not None:
            what = "needs all rows of an instance, and --resume leaves out earlier ones"
            raise CommandError(f"{name} {what}; replay the whole log for it")


@contextmanager
def _from_file(path: Path | None) -> Generator[None]:
    """Name the file of a state that cannot be used."""
    try:
        yield
    except StateError as error:
        raise ReplayError(f"{path}: {error}") from error


def _continued(
    options: ReplayOptions, program: ReplayProgram | JointProgram, tell: Tell
) -> tuple[Increment | JointIncrement, str]:
    """What was found, and the text of the states after it."""
    traces, resume = options.traces, options.resume
    if isinstance(program, JointProgram):
        kept = JointKept({}, NO_FILES) if resume is None else read_joint_states(resume, program)
        joint = replay_joint_increment(traces, program, kept.states, tell, files=kept.files)
        return joint, joint_states_text(joint.states, program, joint.files)
    known = Kept({}, NO_FILES) if resume is None else read_states(resume, program)
    found = replay_increment(traces, program, known.states, tell, files=known.files)
    return found, states_text(found.states, program, found.files)


def _alone(options: ReplayOptions) -> None:
    """Raise ReplayError for what is done by one mapping, where there are several."""
    given = {
        "--store": options.store,
        "--against": options.against,
    }
    for name, value in given.items():
        if value:
            raise ReplayError(ALONE.format(name))


def _mappings(options: ReplayOptions) -> tuple[TraceMapping, ...]:
    """The mappings that are given, or else that of the store."""
    if options.mapping is not None:
        return read_mappings(options.mapping)
    store = only_store(options.traces)
    return () if store is None else (store.mapping_alone,)


def _program(
    classes: Sequence[type[Machine]], mappings: Sequence[TraceMapping], options: ReplayOptions
) -> ReplayProgram | JointProgram:
    if len(mappings) < 2:
        return _single(classes, mappings, options)
    machines = [resolve(cls).machine for cls in classes]
    with _from_mapping(options):
        return joint_program(machines, mappings, **_options(options))


@contextmanager
def _from_mapping(options: ReplayOptions) -> Generator[None]:
    """Name the file of a mapping that does not suit its machine, or the store that has it."""
    try:
        yield
    except MappingError as error:
        raise ReplayError(f"{options.mapping or options.traces[0]}: {error}") from error


def _single(
    classes: Sequence[type[Machine]], mappings: Sequence[TraceMapping], options: ReplayOptions
) -> ReplayProgram:
    machines = tuple(resolve(cls).machine for cls in classes)
    mapping = mappings[0] if mappings else None
    with _from_mapping(options):
        return ReplayProgram(machines, mapping=mapping, **_options(options))


def _options(options: ReplayOptions) -> dict[str, Any]:
    kept = {} if options.remember is None else {"remembered": options.remember}
    if kept and options.resume is None and options.keep is None:
        raise CommandError("--remember is for increments: give --keep or --resume, too")
    return {
        **kept,
        "older": tuple(resolve(targets.machine(each)).machine for each in options.older),
        "after": options.after,
        "every": options.all,
        "pass_unknown": options.unknown_events is not None,
        "until": options.until,
    }


def _demands(options: ReplayOptions) -> Demands:
    if options.unknown_events is None:
        return Demands(options.allow_empty)
    return Demands(options.allow_empty, options.unknown_events)


def _files(
    options: ReplayOptions,
    result: ReplayResult,
    classes: Iterable[type[Machine]],
    suites: Sequence[ci.Suite],
) -> exports.Files:
    """The files of `--junit`, `--sarif` and `--report`, the way to each deviation, and tests."""
    yield from exports.verdicts(options.reports, "replay", suites)
    if options.reports.itf is not None:
        if only_store(options.traces) is not None:
            raise CommandError("--itf needs the traces themselves, not a store")
        found = ci_replays.traces(options.traces, result)
        for number, (machine, _, about, trace) in enumerate(found, 1):
            # Instances may have any name, so it is inside the file and not in the file's name.
            name = f"deviation_{number}"
            yield exports.trace(options.reports.itf, machine, name, about, trace)
    if options.pytest is not None:
        yield from _tests(options, options.pytest, result, classes)
    if options.report is not None:
        yield options.report, replays.html(result)
    if options.metrics is not None:
        yield options.metrics, replay_metrics.metrics(result)


def _tests(
    options: ReplayOptions, folder: Path, result: ReplayResult, classes: Iterable[type[Machine]]
) -> exports.Files:
    """A test for the first deviation of each kind."""
    if only_store(options.traces) is not None:
        raise CommandError("--pytest needs the traces themselves, not a store")
    modules = {cls.__name__: sys.modules[cls.__module__].__file__ for cls in classes}
    for made in deviation_tests.deviation_tests(options.traces, result):
        module = modules[made.machine]
        if module is None:
            raise CommandError(f"--pytest needs the file of {made.machine}")
        test = deviation_tests.as_test(made, result, Path(module), folder)
        yield folder / f"test_{made.name}.py", test
