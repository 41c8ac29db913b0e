"""Proves every obligation of the repaired machines of the five systems again, and measures the
time.

A row for each machine says how many obligations are proved, in how many seconds; below it are those
that are not proved, with the reason. The last row compares the total with the goal, on the cores of
this computer. With names of machines as arguments, only these are proved: for example machines with
another repair than `Fixed`, or with an additional condition, which are not part of the goal.
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from lawful import Machine
from lawful.checks.prove.result import ProofResult
from lawful.commands.options import ProveOptions
from lawful.commands.prove import proved
from lawful.targets import TargetError, expectations, machines

ROOT = Path(__file__).parent.parent
GOAL = 120.0  # Seconds for all of them, on two cores.


def main(names: list[str]) -> int:
    """Print a row for each machine; the exit code says whether everything is proved in time."""
    print(f"{'':34}{'proved':>10}{'seconds':>10}")
    done = asked = 0
    began = time.perf_counter()
    every = list(repaired())
    others = [cls for cls in every if is_another(cls, every)]
    for cls in every:
        if cls.__name__ not in names if names else cls in others:
            continue
        result = shown(cls)
        good = sum(o.verdict.proved for o in result.obligations)
        counts = f"{good}/{len(result.obligations)}"
        print(f"{cls.__name__:34}{counts:>10}{result.seconds:10.1f}", flush=True)
        for line in left(result):
            print(f"  {line}")
        done, asked = done + good, asked + len(result.obligations)
    seconds = time.perf_counter() - began
    missed = "" if seconds <= GOAL else ": MISSED"
    print(f"{'all of them':34}{f'{done}/{asked}':>10}{seconds:10.1f}  at most {GOAL:.0f}{missed}")
    print(f"{'':34}{os.cpu_count()} cores")
    if not names:
        print(f"not among them: {', '.join(cls.__name__ for cls in others)}")
    return 0 if done == asked and not missed else 1


def repaired() -> Iterator[type[Machine]]:
    """The repaired machines of each module: those with a scope that expect no violation and have no
    repaired variant."""
    for path in sorted((ROOT / "machines").glob("*/*.py")):
        if "scope = Scope(" not in path.read_text(encoding="utf-8") or "as_seed" in path.stem:
            continue
        try:
            every = machines(f"lawful.machines.{path.parent.name}.{path.stem}")
        except TargetError:  # All that this module defines is abstract.
            continue
        found = {cls.__name__: cls for cls in every}
        for own, cls in found.items():
            wrong = any("violated" in each for each in expectations(cls, []).values())
            if f"{own}Fixed" not in found and not own.endswith("AsSeed") and not wrong:
                yield cls


def is_another(cls: type[Machine], every: list[type[Machine]]) -> bool:
    """Whether a base class has a variant called `Fixed` that is not this one."""
    wrong = {
        base
        for each in every
        for base in each.__mro__[1:]
        if each.__name__ == f"{base.__name__}Fixed"
    }
    fixed = {each for each in every if each.__name__.endswith("Fixed")}
    return cls not in fixed and bool({*cls.__mro__[1:]} & (wrong | fixed))


def shown(cls: type[Machine]) -> ProofResult:
    """What induction proves about a machine, with an empty cache.

    Lists are as long as in the scope `short`, which is for proofs, if the machine has one.
    """
    scope = ["short"] if hasattr(cls, "short") else []
    how = ProveOptions((cls.__module__,), scope, method="induction", no_cache=True)
    return proved(cls, how, lambda told: None)


def left(result: ProofResult) -> Iterator[str]:
    """The obligations that are not proved, by reason."""
    open_ = [o for o in result.obligations if not o.verdict.proved]
    for why, count in Counter(o.note for o in open_).most_common():
        names = [f"{o.obligation}: {o.property}" for o in open_ if o.note == why]
        some = ", ".join(names[:2]) + (", ..." if count > 2 else "")
        yield f"{count} {why or 'not proved'} ({some})"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
