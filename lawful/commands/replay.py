"""`lawful replay`: recorded events against the machine."""

from __future__ import annotations

import time
from collections.abc import Iterable

from lawful import targets
from lawful.checks.replay import (
    Demands,
    ReplayError,
    ReplayProgram,
    ReplayResult,
    replay_increment,
    validation,
)
from lawful.checks.replay.increments.state_files import read_states, states_text
from lawful.checks.replay.mapping import TraceMapping, read_mapping
from lawful.checks.replay.storing import only_store, write_store
from lawful.checks.report import ci_replays, replay_metrics, replays
from lawful.progress import Tell, progress
from lawful.runtime.instance import Machine
from lawful.spec.resolve import resolve

from . import exports, files
from .errors import CommandError
from .options import ReplayOptions
from .output import Output


def replay(options: ReplayOptions, output: Output) -> int:
    """Replay the traces, write the files that were asked for, and print the verdicts."""
    classes = output.machines(options.target)
    with progress("replaying", output.quiet) as tell:
        try:
            program, demands = _program(classes, options), _demands(options)
            result = _replayed(options, program, demands, tell)
        except (ReplayError, ValueError) as error:
            raise CommandError(str(error)) from error
    files.save_all(_files(options, result), options.reports.itf)
    output.write(replays.text(result), result.to_json())
    return result.exit_code


def _replayed(
    options: ReplayOptions, program: ReplayProgram, demands: Demands, tell: Tell
) -> ReplayResult:
    if options.resume is not None or options.keep is not None:
        return _increment(options, program, demands, tell)
    engine, master = options.engine, options.master
    if options.store is None:
        return validation.replay(options.traces, program, engine, master, demands, tell=tell)
    write_store(options.traces, program, options.store, engine, master=master)
    return validation.replay([options.store], program, engine, master, demands, tell=tell)


def _increment(
    options: ReplayOptions, program: ReplayProgram, demands: Demands, tell: Tell
) -> ReplayResult:
    """Replay from the states of an earlier replay, and keep those after this one."""
    if options.engine == "spark" or options.store is not None:
        raise CommandError("--resume and --keep are for a replay in this process, without a store")
    begun = time.perf_counter()
    states = {} if options.resume is None else read_states(options.resume)
    found = replay_increment(options.traces, program, states, tell)
    if options.keep is not None:
        files.save(options.keep, states_text(found.states))
    seconds = time.perf_counter() - begun
    return ReplayResult(program, "local", found.tallies, seconds, demands)


def _mapping(options: ReplayOptions) -> TraceMapping | None:
    """The mapping that is given, or else that of the store."""
    if options.mapping is not None:
        return read_mapping(options.mapping)
    store = only_store(options.traces)
    return None if store is None else store.mapping_alone


def _program(classes: Iterable[type[Machine]], options: ReplayOptions) -> ReplayProgram:
    return ReplayProgram(
        tuple(resolve(cls).machine for cls in classes),
        mapping=_mapping(options),
        older=tuple(resolve(targets.machine(each)).machine for each in options.older),
        after=options.after,
        every=options.all,
        pass_unknown=options.unknown_events is not None,
    )


def _demands(options: ReplayOptions) -> Demands:
    if options.unknown_events is None:
        return Demands(options.allow_empty)
    return Demands(options.allow_empty, options.unknown_events)


def _files(options: ReplayOptions, result: ReplayResult) -> exports.Files:
    """The files of `--junit`, `--sarif` and `--report`, and the way to each deviation."""
    yield from exports.verdicts(options.reports, "replay", ci_replays.suites(result))
    if options.reports.itf is not None:
        if only_store(options.traces) is not None:
            raise CommandError("--itf needs the traces themselves, not a store")
        found = ci_replays.traces(options.traces, result)
        for number, (machine, _, about, trace) in enumerate(found, 1):
            # Instances may have any name, so it is inside the file and not in the file's name.
            name = f"deviation_{number}"
            yield exports.trace(options.reports.itf, machine, name, about, trace)
    if options.report is not None:
        yield options.report, replays.html(result)
    if options.metrics is not None:
        yield options.metrics, replay_metrics.metrics(result)
