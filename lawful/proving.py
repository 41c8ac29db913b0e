"""`lawful prove`: one machine's proofs, and what a short search says of what is left open."""

from __future__ import annotations

import argparse
import os
from collections.abc import Collection, Iterator
from contextlib import suppress
from functools import cache

from lawful.checks.prove import strategy as proofs
from lawful.checks.prove import strengthening, timer_invariants
from lawful.checks.prove.induction import Induction
from lawful.checks.prove.nonvacuity import transitions_seen
from lawful.checks.prove.result import ProofResult
from lawful.checks.prove.scope_text import sorts
from lawful.checks.smt.solver import cache as remembered
from lawful.checks.smt.solver.budget import PER_SECOND, SECONDS, UNITS, Effort
from lawful.runtime.instance import Machine
from lawful.spec.errors import DeclarationError
from lawful.spec.flat import Flat
from lawful.spec.lower import lower
from lawful.spec.resolve import abstract_scopes, resolve

from . import targets
from .output import OutOfReach
from .progress import Tell


def scripts(
    cls: type[Machine], given: argparse.Namespace, result: ProofResult
) -> Iterator[tuple[str, str]]:
    """A file name and the SMT-LIB text for each obligation; only what is proved is assumed."""
    machine = resolve(cls).machine
    induction = Induction(machine, sorts(machine, _sizes(cls, given)), effort(given), workers())
    lost = {o.property for o in result.obligations if not o.verdict.good}
    induction.exact.dropped.update(lost)
    for o in result.obligations:
        text = induction.script(o.obligation, o.property)
        if text is not None:
            about = f"; {machine.name}: {o.obligation} keeps {o.property}: {o.verdict.value}\n"
            step = o.obligation.replace(" ", "-")
            yield f"{machine.name}.{step}.{o.property}.smt2", about + text
    # What is assumed of timers was shown before; of this nothing is declared.
    for case, text in timer_invariants.scripts(induction.machine, induction.sizes, induction.shown):
        about = f"; {machine.name}: {case} keeps what is assumed of timers: proved\n"
        yield f"{machine.name}.{case.replace(' ', '-')}.of-timers.smt2", about + text


def _sizes(cls: type[Machine], given: argparse.Namespace) -> dict[str, int]:
    bounds = targets.scope_of(cls, given.scope).bounds
    return {k: n for k, n in bounds.items() if type(n) is int and k not in given.any_size}


def effort(given: argparse.Namespace) -> Effort:
    """How much is spent on each obligation: `--budget` units of Z3's work, `--timeout` seconds.

    With more seconds alone there are as many units as Z3 does in these, about.
    """
    seconds = SECONDS if given.timeout is None else given.timeout
    if given.budget is not None:
        return Effort(given.budget, seconds)
    more = 0 if given.timeout is None else given.timeout * PER_SECOND
    return Effort(max(UNITS, more), seconds)


def workers() -> int:
    """In how many processes Z3 searches: one more than this one at least, which outlives what Z3
    does not."""
    return max(2, os.cpu_count() or 1)


def proved(cls: type[Machine], given: argparse.Namespace, tell: Tell) -> ProofResult:
    """The proofs of a machine, within the scope's sizes of its sorts but for those of any size."""
    if given.depth is not None and given.method in ("induction", "spacer"):
        raise OutOfReach(f"--depth is for runs and k-induction, not for --method {given.method}")
    scope, found = targets.scope_of(cls, given.scope), resolve(cls)
    targets.check_sorts(cls, given.any_size)
    sizes = _sizes(cls, given)
    flat: Flat | None = None
    # Without a whole scope nothing is explored, and proofs go without.
    with suppress(DeclarationError, ValueError):
        flat = lower(found.machine, scope, abstract_scopes(found))

    def met() -> Collection[str | None]:
        return () if flat is None else transitions_seen(flat, found.world)

    @cache
    def explored() -> strengthening.Seen | None:
        tell("looking at what is reachable")
        with suppress(ValueError):  # No initial state is within the scope.
            return None if flat is None else strengthening.Seen(flat, found.world, found.machine)
        return None

    how = proofs.How(given.method, effort(given), given.depth, workers())
    with remembered.kept_in(None if given.no_cache else remembered.users()):
        result = proofs.prove(
            found.machine,
            sizes=sizes,
            how=how,
            progress=tell,
            transitions_seen=met,
            explored=explored,
        )
        seen = explored() if strengthening.open_of(result) else None
        if seen is None:
            return result
        result = strengthening.looked_up(result, seen)
        if given.strengthen:
            tell("trying clauses")
            limits = sizes, effort(given), workers()
            result = strengthening.proposed(found.machine, seen, limits, result)
        return result
