"""`lawful learn-scope`: the values of recorded events, and reachable states that none had."""

from __future__ import annotations

from dataclasses import dataclass

from lawful import targets
from lawful.checks.explore.argument_counts import many_arguments
from lawful.checks.explore.limits import Limits
from lawful.checks.explore.space import Space
from lawful.checks.explore.state_graph import state_graph
from lawful.checks.explore.state_json import shown
from lawful.checks.replay import ReplayError, ReplayProgram
from lawful.checks.replay.flaws.mapping_names import MappingError
from lawful.checks.replay.mapping import TraceMapping, read_mapping
from lawful.checks.replay.studies.scope_learning import Learned, compared, compared_names, learned
from lawful.progress import Tell, progress
from lawful.runtime.instance import Machine
from lawful.spec.errors import DeclarationError
from lawful.spec.ir import Json
from lawful.spec.resolve import resolve

from .errors import CommandError
from .exit_codes import ExitCode
from .options import LearnScopeOptions
from .output import Output

SHOWN = 10  # States that were never seen, the first that an exploration reaches.


@dataclass(frozen=True)
class Reached:
    """The states within the learned scope, as `compared` shows them, in the order in which they are
    reached; `why` says why there are none, or that there are more."""

    states: tuple[str, ...] = ()
    why: str = ""


def learn_scope(options: LearnScopeOptions, output: Output) -> int:
    """Replay the traces, explore the scope that they need, and print both."""
    mapping = _mapping(options)
    named = ["" if mapping is None else mapping.machine]
    classes = output.replayed([options.target], named, options.mapping)
    with progress("replaying", output.quiet) as tell:
        found = _learned(classes, mapping, options, tell)
        reached = {cls.__name__: _reached(cls, found[cls.__name__], options) for cls in classes}
    both = [(found[name], reached[name]) for name in reached]
    output.answer("\n".join(_text(*each) for each in both), [_to_json(*each) for each in both])
    judged = all(each.tally.counts["judged"] for each in found.values())
    return ExitCode.AS_EXPECTED if judged else ExitCode.UNKNOWN


def _mapping(options: LearnScopeOptions) -> TraceMapping | None:
    try:
        return None if options.mapping is None else read_mapping(options.mapping)
    except ReplayError as error:
        raise CommandError(str(error)) from error


def _learned(
    classes: list[type[Machine]],
    mapping: TraceMapping | None,
    options: LearnScopeOptions,
    tell: Tell,
) -> dict[str, Learned]:
    try:
        machines = tuple(resolve(cls).machine for cls in classes)
        return learned(options.traces, ReplayProgram(machines, mapping=mapping), tell)
    except MappingError as error:
        raise CommandError(f"{options.mapping}: {error}") from error
    except (ReplayError, ValueError) as error:
        raise CommandError(str(error)) from error


def _reached(cls: type[Machine], found: Learned, options: LearnScopeOptions) -> Reached:
    names = compared_names(found.machine)
    if not names or not found.states:
        return Reached(why="no variable can be compared" if found.states else "no state was seen")
    try:
        machine = targets.scoped(cls, found.scope)
    except (DeclarationError, targets.TargetError) as error:
        return Reached(why=f"the scope needs more: {' '.join(str(error).split())}")
    space = Space(machine.flat, machine.world)
    for name, count in many_arguments(space):
        return Reached(why=f"not explored: {name} has {count:,} arguments in each state")
    try:
        made = state_graph(space, Limits(states=options.max_states)).found
    except ValueError as error:
        return Reached(why=str(error))
    rows = [compared(found.machine, shown(space.machine, s, space.machine)) for s in made.states]
    why = "" if made.complete else f"only the first {len(rows):,} states were explored"
    return Reached(tuple(dict.fromkeys(rows)), why)


def _never(found: Learned, reached: Reached) -> list[str]:
    return [state for state in reached.states if state not in found.states]


def _text(found: Learned, reached: Reached) -> str:
    tally = found.tally
    lines = [
        f"{found.machine.name}: {tally.instances:,} instance{'s' * (tally.instances != 1)}, "
        f"{tally.counts['judged']:,} events judged, {len(found.states):,} states seen"
    ]
    for name, each in sorted(found.numbers.items()):
        lines.append(f"  {name}: {each.low}..{each.high}")
    for name, each in sorted(found.sizes.items()):
        lines.append(f"  {name}: {each.low} to {each.high} items")
    for name, values in sorted(found.parameters.items()):
        lines.append(f"  parameter {name}: {', '.join(sorted(values))}")
    lines += [f"  --scope {each}" for each in found.scope]
    if reached.states:
        never = _never(found, reached)
        by = ", ".join(compared_names(found.machine))
        of = f"{len(never):,} of {len(reached.states):,} reachable states"
        lines.append(f"  {of} were never seen (by {by})")
        lines += [f"    {state}" for state in never[:SHOWN]]
        beyond = len(found.states.difference(reached.states))
        lines += [f"  {beyond:,} states were seen beyond those"] if beyond else []
    return "\n".join([*lines, f"  {reached.why}"] if reached.why else lines)


def _to_json(found: Learned, reached: Reached) -> Json:
    never = _never(found, reached)
    states: dict[str, Json] = {
        "compared": list(compared_names(found.machine)),
        "seen": len(found.states),
        "reachable": len(reached.states),
        "never_seen": len(never),
        "first_never_seen": list(never[:SHOWN]),
        "why": reached.why,
    }
    parameters: dict[str, Json] = {
        name: list(sorted(values)) for name, values in sorted(found.parameters.items())
    }
    return {
        "machine": found.machine.name,
        "instances": found.tally.instances,
        "judged": found.tally.counts["judged"],
        "numbers": {name: [r.low, r.high] for name, r in sorted(found.numbers.items())},
        "sizes": {name: [r.low, r.high] for name, r in sorted(found.sizes.items())},
        "parameters": parameters,
        "scope": list(found.scope),
        "states": states,
    }
