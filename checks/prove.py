"""Proofs with Z3: every obligation of a machine met, and what all of them amount to."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from functools import partial

from lawful.spec import ir

from .induction import Induction
from .obligation import Obligation, ProofResult
from .spread import spread

LONGEST = 4_000_000.0  # Seconds; Z3 counts milliseconds in 32 bits.


def prove(
    machine: ir.Machine,
    *,
    sizes: Mapping[str, int],
    timeout_seconds: float = 10.0,
    progress: Callable[[str], None] | None = None,
    happened: Callable[[], Collection[str | None]] = frozenset,
    workers: int = 1,
) -> ProofResult:
    """Prove the invariants and step properties by induction, obligation by obligation.

    `sizes` gives the number of elements of sorts; a sort without a size may have any number.
    `progress` is told how far it is; `happened` is asked which starts and transitions are known to
    happen, where Z3 does not see it soon. More than one of `workers` are processes of their own,
    started when the first seconds were not enough: the main module must be importable. Raises
    ValueError for a timeout that is no number of seconds.
    """
    if not 0 <= timeout_seconds <= LONGEST:  # False for NaN.
        raise ValueError(
            f"the timeout is {timeout_seconds} seconds; it must be from 0 to {LONGEST:.0f}"
        )
    began = time.perf_counter()
    make = partial(Induction, machine, sizes, timeout_seconds)
    induction = make()
    asked = list(induction.questions())
    found: dict[tuple[str, str], Obligation] = {}
    for each in spread(induction, make, asked, workers):
        found[each.obligation, each.property] = each
        if progress is not None:
            progress(f"{len(found)} of {len(asked)}, {each.obligation}: {each.property}")
    obligations = induction.grounded(induction.sift([found[each] for each in asked]), happened)
    properties = induction.conclude(obligations)
    seconds = time.perf_counter() - began
    return ProofResult(machine.name, tuple(obligations), tuple(properties), seconds)
