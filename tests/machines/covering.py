"""What declared scopes exercise: guards that never hold or never refuse, what is never reached."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lawful import Machine
from lawful.checks.explore import Limits, explore
from lawful.spec.lower import lower
from lawful.spec.resolve import abstract_scopes, resolve
from lawful.targets import scope_of

Guard = tuple[str, str]  # The module, and the text of the guard.


@dataclass(frozen=True)
class Exercised:
    """Over several scopes: the guards with what is odd about them in all of these, the properties
    that hold in none, and the transitions that happen in none."""

    odd: Mapping[Guard, str]
    unreached: frozenset[str]
    never: frozenset[str]


def exercised(*asked: tuple[type[Machine], str], counting: bool = True) -> Exercised:
    """What these machines exercise together, each within its scope of that name.

    A guard is known by its place, also where a part of another machine has it; a property or a
    transition by its name, without the part that has it. Guards are counted on request: that takes
    minutes where events have many arguments.
    """
    true, refused = Counter[tuple[str, int, str]](), Counter[tuple[str, int, str]]()
    good, fired = defaultdict[str, bool](bool), defaultdict[str, bool](bool)
    for cls, scope in asked:
        found = resolve(cls)
        flat = lower(found.machine, scope_of(cls, [scope]), abstract_scopes(found))
        result = explore(flat, found.world, {}, limits=Limits(), coverage=counting)
        assert result.complete
        for guard in result.coverage.guards if result.coverage is not None else ():
            place = (Path(guard.place.file).stem, guard.place.line, guard.clause)
            true[place] += guard.true
            refused[place] += guard.refused
        for each in result.properties:
            good[each.name.rpartition(".")[2]] |= each.verdict.good
        for name, row in result.transitions.items():
            fired[name.rpartition(".")[2]] |= bool(row["enabled"])
    return Exercised(
        {
            (place[0], place[2]): "never refuses" if true[place] else "never true"
            for place in true
            if not (true[place] and refused[place])
        },
        frozenset(name for name, is_good in good.items() if not is_good),
        frozenset(name for name, has_fired in fired.items() if not has_fired),
    )


def texts(folder: Path, guards: Mapping[Guard, str]) -> dict[Guard, bool]:
    """Whether the text of each guard, up to a reason that is left out, is in its module."""
    return {
        (module, clause): clause.removesuffix(")")
        in " ".join((folder / f"{module}.py").read_text(encoding="utf-8").split())
        for module, clause in guards
    }
