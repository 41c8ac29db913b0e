"""`lawful prove`: proofs with Z3, and the results of a short exploration for open properties."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain

from lawful import targets
from lawful.checks.certificate.proof_scripts import ProofScripts
from lawful.checks.prove import strategy, strengthening
from lawful.checks.prove.nonvacuity import Walk
from lawful.checks.prove.result import ProofResult
from lawful.checks.report import ci, ci_proofs, proofs
from lawful.checks.smt.solver import cache as proof_cache
from lawful.progress import Tell, progress
from lawful.project import Settings
from lawful.run_summary import Judged
from lawful.runtime.instance import Machine
from lawful.spec import ir
from lawful.spec.analysis.named_elements import without_defaults
from lawful.spec.errors import DeclarationError
from lawful.spec.flat import Flat
from lawful.spec.lower import lower, sized
from lawful.spec.lower.pipeline import given
from lawful.spec.resolve import Resolved, abstract_scopes, resolve
from lawful.spec.words import Expected, Scope

from . import exports, files
from .errors import CommandError
from .exit_codes import gravest
from .options import ProveOptions
from .output import Output

# Why `--strengthen` has nothing to search for, or nowhere.
NOTHING_OPEN = "no obligation is open for which a stronger invariant could help"
NOT_EXPLORED = "no state within the scope can be explored, and its clauses come from such states"


@dataclass(frozen=True)
class _Proved:
    """One machine, its proof results, and its expected verdicts."""

    cls: type[Machine]
    options: ProveOptions
    result: ProofResult
    expects: Mapping[str, Expected]

    @property
    def judged(self) -> Judged:
        """The exit code of this machine alone."""
        return Judged(self.cls.__name__, proofs.exit_code(self.result, self.expects))


def prove(options: ProveOptions, output: Output) -> int:
    """Prove the properties of the target's machines, and write the files that were asked for."""
    rows: list[_Proved] = []
    for cls, _ in output.chosen(options.targets, or_unscoped=True, scope=options.scope):
        with progress(f"proving {cls.__name__}", output.quiet) as tell:
            rows.append(_proved(cls, options, output.settings(cls), tell))
    text = "\n\n".join(proofs.text(each.result, each.expects) for each in rows)
    verdicts = [each.judged for each in rows]
    output.answer(text, [proofs.to_json(each.result) for each in rows], verdicts)
    suites = [ci_proofs.suite(resolve(row.cls).machine, row.result, row.expects) for row in rows]
    exports.annotate(options.reports.github, suites)
    files.save_all(_files(options, rows, suites), options.reports.itf, options.smtlib)
    return gravest(each.code for each in verdicts)


def _proved(cls: type[Machine], options: ProveOptions, settings: Settings, tell: Tell) -> _Proved:
    own = replace(options, scope=(*settings.scope, *options.scope))
    expects = {**targets.expectations(cls, own.scope), **settings.expects}
    return _Proved(cls, own, proved(cls, own, tell), expects)


def _files(
    options: ProveOptions, rows: Sequence[_Proved], suites: Sequence[ci.Suite]
) -> exports.Files:
    """The files of `--junit`, `--sarif`, `--smtlib` and `--itf`."""
    yield from exports.verdicts(options.reports, "prove", suites)
    if options.smtlib is not None:
        for name, text in chain(*(scripts(row.cls, row.options, row.result) for row in rows)):
            yield options.smtlib / name, text
    if options.reports.itf is not None:
        for each in rows:
            machine = resolve(each.cls).machine
            for name, about, trace in ci_proofs.traces(machine, each.result):
                yield exports.trace(options.reports.itf, machine, name, about, trace)


def scripts(
    cls: type[Machine], options: ProveOptions, result: ProofResult
) -> Iterator[tuple[str, str]]:
    """A file name and the SMT-LIB text for each obligation. Only proved properties are assumed."""
    lowered = sized(machine_of(cls, options), sizes_of(cls, options))
    rows = [(o.obligation, o.property) for o in result.obligations]
    lost = {o.property for o in result.obligations if not o.verdict.good}
    proved = {name for _, name in rows if name not in lost}
    made = ProofScripts(lowered, options.solver.effort, workers(), proved)
    for script in (*made.of(rows), *made.of_timers()):
        yield script.name, script.text


def sizes_of(cls: type[Machine], options: ProveOptions) -> dict[str, int]:
    """The sizes that the scope gives, except those of sorts that may have any number."""
    bounds = targets.scope_of(cls, options.scope).bounds
    return {k: n for k, n in bounds.items() if type(n) is int and k not in options.any_size}


def machine_of(cls: type[Machine], options: ProveOptions) -> ir.Machine:
    """The machine without the defaults of the parameters to which the scope gives values: proofs
    are of all values of parameters, and elements that only such a default names do not count."""
    machine = resolve(cls).machine
    return without_defaults(machine, given(machine, targets.scope_of(cls, options.scope)))


def _explorable(found: Resolved, scope: Scope) -> Flat | None:
    """The machine within its scope; None without a complete scope, because proofs need none.

    Raises DeclarationError where the scope names something that does not exist (L302).
    """
    try:
        return lower(found.machine, scope, abstract_scopes(found))
    except DeclarationError as error:
        if any(problem.number == "L302" for problem in error.problems):
            raise
        return None
    except ValueError:
        return None


def workers() -> int:
    """The number of processes in which Z3 searches. There are two at least, because Z3 may crash
    the process that it runs in."""
    return max(2, os.cpu_count() or 1)


def proved(cls: type[Machine], options: ProveOptions, tell: Tell) -> ProofResult:
    """Prove a machine. The scope gives the sizes of its sorts, except those of `--any-size`.

    Raises CommandError for options that do not fit together, TargetError for unknown names.
    """
    if options.depth is not None and options.method in ("induction", "spacer"):
        raise CommandError(
            f"--depth has no meaning for --method {options.method}; use bounded or k-induction"
        )
    scope, found = targets.scope_of(cls, options.scope), resolve(cls)
    targets.check_sorts(cls, options.any_size)
    sizes, machine = sizes_of(cls, options), machine_of(cls, options)
    flat = _explorable(found, scope)

    walk = None if flat is None else Walk(flat, found.world)
    slow: list[str] = []  # Why the reference engine explored, where it did.

    @cache
    def explored() -> strengthening.Seen | None:
        tell("looking at what is reachable")
        if flat is None:
            return None
        with suppress(ValueError):  # No initial state is within the scope.
            seen = strengthening.Seen(flat, found.world, found.machine)
            slow.append(seen.search.not_generated)
            return seen
        return None

    how = strategy.How(options.method, options.solver.effort, options.depth, workers())
    with proof_cache.kept_in(None if options.no_cache else proof_cache.users()):
        result = strategy.prove(
            machine,
            sizes=sizes,
            how=how,
            progress=tell,
            transitions_seen=frozenset if walk is None else walk.met,
            guards_needed=frozenset if walk is None else walk.needed,
            explored=explored,
        )
        open = strengthening.open_of(result)
        seen = explored() if open else None
        slow.insert(0, "" if walk is None else walk.not_generated)
        result = replace(result, not_generated=next(filter(None, slow), ""))
        if seen is None:
            why = NOT_EXPLORED if open else NOTHING_OPEN
            return replace(result, no_proposal=why) if options.strengthen else result
        result = strengthening.looked_up(result, seen)
        if options.strengthen:
            tell("trying clauses")
            limits = sizes, options.solver.effort, workers()
            result = strengthening.proposed(machine, seen, limits, result)
        return result
