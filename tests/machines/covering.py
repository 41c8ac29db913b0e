"""What declared scopes exercise: guards that never hold or never refuse, what is never reached."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lawful import Machine
from lawful.checks.explore import Limits, explore
from lawful.checks.explore.compiled.single_steps import with_room
from lawful.checks.explore.coverage import coverage
from lawful.checks.explore.space import Space
from lawful.checks.prove.nonvacuity import TRIED, GeneratedSteps, taken
from lawful.checks.reference.states import State
from lawful.spec.lower import lower
from lawful.spec.resolve import abstract_scopes, resolve
from lawful.targets import scope_of

Guard = tuple[str, str]  # The module, and the text of the guard.
Placed = tuple[str, int, str]  # The same, with its line.
MOST = 500  # States of the walks of one scope.


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
    true, refused = Counter[Placed](), Counter[Placed]()
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
        odd(true, refused),
        frozenset(name for name, is_good in good.items() if not is_good),
        frozenset(name for name, has_fired in fired.items() if not has_fired),
    )


def odd(true: Counter[Placed], refused: Counter[Placed]) -> dict[Guard, str]:
    """What is odd about each guard that is never true, or never refuses."""
    return {
        (place[0], place[2]): "never refuses" if true[place] else "never true"
        for place in true
        if not (true[place] and refused[place])
    }


def odd_on_walks(*asked: tuple[type[Machine], str]) -> dict[Guard, str]:
    """What is odd about guards in all the states that random walks reach, within these scopes.

    So what is odd may happen elsewhere; but of each other guard it is known that it is true and
    refuses. The walks of one scope go on until every transition has happened, or for long.
    """
    true, refused = Counter[Placed](), Counter[Placed]()
    for cls, scope in asked:
        found = resolve(cls)
        flat = lower(found.machine, scope_of(cls, [scope]), abstract_scopes(found))
        states = walked(Space(flat, found.world))
        for guard in coverage(Space(flat, found.world), states, Limits()).guards:
            place = (Path(guard.place.file).stem, guard.place.line, guard.clause)
            true[place] += guard.true
            refused[place] += guard.refused
    return odd(true, refused)


def walked(space: Space) -> Sequence[State]:
    """The states from which walks went on."""
    return with_room(
        lambda form: taken(space, lambda: GeneratedSteps(space, form), TRIED, MOST).states
    )


def texts(folder: Path, guards: Mapping[Guard, str]) -> dict[Guard, bool]:
    """Whether the text of each guard, up to a reason that is left out, is in its module."""
    return {
        (module, clause): clause.removesuffix(")")
        in " ".join((folder / f"{module}.py").read_text(encoding="utf-8").split())
        for module, clause in guards
    }
