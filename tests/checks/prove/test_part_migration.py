"""What `lawful diff` says of parts and records is what `restore` does with them.

Of each change of a declaration, snapshots of older states are restored: those of random runs, and
the state that diff shows where it says that one is not taken over.
"""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from lawful import Machine, Refused, targets
from lawful.checks.prove.migration import Versions, evolve
from lawful.checks.prove.result import Obligation
from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.resolve import resolve

OLD = """
from typing import Annotated
from annotated_types import Le
from lawful import (
    Machine, Nat, Param, Record, Sort, State, assume, invariant, require, total, transition
)

class Phase(State):
    OPEN = "open"
    SHUT = "shut"

class Slip(Record):
    amount: Nat
    phase: Phase

class Desk(Sort): ...

class Drawer(Machine):
    count: Nat = 0
    depth: Param[Nat] = 4

    def doubled(self) -> Nat:
        return self.count * 2

    @transition
    def put(self) -> None:
        require(self.count < self.depth, "it is full")
        self.count += 1

    @invariant
    def fits(self) -> bool:
        return self.count <= self.depth

class Till(Machine):
    phase: Phase = Phase.OPEN
    drawer: Drawer = Drawer(depth=3)
    slips: set[Slip] = set()
    last: Slip | None = None

    def doubled(self) -> Nat:
        return self.drawer.doubled()

    @transition
    def pay(self, amount: Nat) -> None:
        require(amount < 5, "too much")
        self.drawer.put()
        self.last = Slip(amount, self.phase)
        self.slips.add(Slip(amount, Phase.OPEN))

    @transition(source=Phase.OPEN, target=Phase.SHUT)
    def shut(self) -> None: ...

    @invariant
    def amounts(self) -> bool:
        return all(s.amount < 5 for s in self.slips) and (self.last is None or self.last.amount < 5)

class Shop(Machine):
    main: Till = Till()
    tills: dict[Desk, Till] = {}
    spare: dict[Desk, Drawer] = total(Drawer(depth=2))

    @transition
    def add(self, desk: Desk) -> None:
        self.tills[desk] = Till()

    @transition
    def pay(self, desk: Desk, amount: Nat) -> None:
        require(desk in self.tills, "no such till")
        self.tills[desk].pay(amount)
        self.spare[desk].put()

    @transition
    def main_pay(self, amount: Nat) -> None:
        self.main.pay(amount)

    @transition
    def main_shut(self) -> None:
        self.main.shut()

    @invariant
    def few(self) -> bool:
        return self.main.doubled() < 8
"""
UNIVERSE = ["Desk1", "Desk2", "Desk3"]

# What changes in the text, and the properties that are not proved.
Change = tuple[tuple[str, str], ...]
DEEP = """
    @assume
    def deep(self) -> bool:
        return self.depth > 2

    def doubled(self) -> Nat:
"""
ANOTHER_ORDER: Change = (
    ("    amount: Nat\n    phase: Phase", "    phase: Phase\n    amount: Nat"),
    ("Slip(amount, self.phase)", "Slip(self.phase, amount)"),
    ("Slip(amount, Phase.OPEN)", "Slip(Phase.OPEN, amount)"),
)
SIMPLE: Change = (
    ("        self.tills[desk] = Till()\n", "        self.tills[desk] = 0\n"),
    ("        self.tills[desk].pay(amount)\n", ""),
)
TAKEN: dict[str, Change] = {
    "nothing": (),
    "a guard": (("amount < 5,", "amount < 4,"),),
    "a weaker invariant of a part": (("return self.count <=", "return self.count < 2 +"),),
    "a state more": (('    SHUT = "shut"', '    PAUSED = "paused"\n    SHUT = "shut"'),),
    "a wider type in a part": (("count: Nat", "count: int"),),
    "a wider type in a record": (("amount: Nat", "amount: int"),),
    "a record in another order": ANOTHER_ORDER,
    "a part in another order": (
        (
            "    count: Nat = 0\n    depth: Param[Nat] = 4",
            "    depth: Param[Nat] = 4\n    count: Nat = 0",
        ),
    ),
    "a part more": (
        ("    main: Till = Till()", "    main: Till = Till()\n    other: Till = Till()"),
    ),
    "a variable of the whole": (("    main: Till", "    days: Nat = 0\n    main: Till"),),
    "a deeper drawer": (("Drawer(depth=3)", "Drawer(depth=4)"), ("< 8", "< 9")),
}
LOST: dict[str, tuple[Change, set[str]]] = {
    "a stronger invariant of a part": (
        (("return self.count <=", "return self.count <"),),
        {"main.drawer.fits", "tills.drawer.fits", "spare.fits"},
    ),
    "a stronger invariant of the whole": ((("< 8", "< 6"),), {"few"}),
    "another meaning of a part's helper": ((("self.count * 2", "self.count * 3"),), {"few"}),
    "another meaning of a helper of a part": (
        (("return self.drawer.doubled()", "return 9"),),
        {"few"},
    ),
    "a state less": (
        (('    SHUT = "shut"\n', ""), ("target=Phase.SHUT", "target=Phase.OPEN")),
        {"bounds"},
    ),
    "a narrower type in a part": (
        (("count: Nat", "count: Annotated[Nat, Le(2)]"),),
        {"bounds"},
    ),
    "a variable more in a part": (
        (("    count: Nat", "    days: Nat = 0\n    count: Nat"),),
        {"*"},
    ),
    "a variable less in a part": (
        (
            ("    last: Slip | None = None\n", ""),
            ("        self.last = Slip(amount, self.phase)\n", ""),
            (" and (self.last is None or self.last.amount < 5)", ""),
        ),
        {"*"},
    ),
    "a flatter drawer": (
        (("Drawer(depth=3)", "Drawer(depth=2)"),),
        {"main.drawer.fits", "tills.drawer.fits"},
    ),
    "flatter spare drawers": ((("Drawer(depth=2)", "Drawer(depth=1)"),), {"spare.fits"}),
    "an assumption about a part": (
        (
            (
                "    def doubled(self) -> Nat:\n        return self.count",
                DEEP + "        return self.count",
            ),
        ),
        {"spare.deep"},
    ),
}

# Z3 decides nothing of these, and so they are not proved.
OPEN: dict[str, tuple[Change, set[str]]] = {
    "a record in another order, and a stronger invariant": (
        (*ANOTHER_ORDER, ("s.amount < 5", "s.amount < 4")),
        {"main.amounts", "tills.amounts"},
    ),
    "a field more in a record": (
        (("    phase: Phase\n\nclass Desk", "    phase: Phase\n    at: Nat = 0\n\nclass Desk"),),
        {"bounds"},
    ),
}


def version(folder: Path, name: str, change: Change) -> type[Machine]:
    text = OLD
    for was, now in change:
        assert was in text, was
        text = text.replace(was, now)
    path = folder / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    return targets.machine(f"{path}:Shop")


def obligations(old: type[Machine], new: type[Machine]) -> dict[str, Obligation]:
    found = evolve(Versions.of(resolve(old), resolve(new), {}), {})
    return {each.property: each for each in found}


def desks(version: type[Machine]) -> dict[Any, list[str]]:
    return {resolve(version).world.sorts["Desk"]: UNIVERSE}


def walked(old: type[Machine], seed: int) -> dict[str, Any]:
    """The snapshot of a random run."""
    rng, desk = random.Random(seed), resolve(old).world.sorts["Desk"]
    shop = old(universe=desks(old))
    for _ in range(rng.randrange(25)):
        where, amount = desk(rng.choice(UNIVERSE)), rng.randrange(5)
        event = rng.choice(["add", "pay", "pay", "main_pay", "main_shut"])
        args = {"add": (where,), "pay": (where, amount), "main_pay": (amount,), "main_shut": ()}
        with suppress(Refused):
            shop.lawful.take(event, *args[event])
    return shop.lawful.snapshot()


def shown(old: type[Machine], state: Any) -> dict[str, Any]:
    """The snapshot of a state that diff shows."""
    machine = resolve(old).machine
    parts = {part.name: part for part in machine.parts}

    def part(of: ir.Machine, values: Any) -> dict[str, Any]:
        rows = {v.name: field(v.type, values[v.name]) for v in of.variables}
        given = {p.name: values[p.name] for p in of.parameters}
        return {"machine": of.name, "parameters": given, "variables": rows}

    def field(kind: t.Type, value: Any) -> Any:
        held = t.part_of(kind)
        if held is None:
            return value
        if isinstance(kind, t.Map):
            return [[key, part(parts[held.machine], each)] for key, each in value.items()]
        return part(parts[held.machine], value)

    names = {each for name in ("tills", "spare") for each in state[name]}
    empty = old(universe={key: sorted({*names, "Desk1"}) for key in desks(old)}).lawful.snapshot()
    return empty | part(machine, state)


def is_taken(new: type[Machine], snapshot: dict[str, Any]) -> bool:
    try:
        new.lawful.restore(snapshot, renamed={})
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("name", TAKEN)
def test_what_is_proved_of_parts_is_taken_over(name: str, tmp_path: Path) -> None:
    old, new = version(tmp_path, "older", ()), version(tmp_path, "newer", TAKEN[name])
    found = obligations(old, new)
    assert {each.verdict.value for each in found.values()} == {"proved"}, found
    assert {"bounds", "few", "main.drawer.fits", "tills.amounts", "spare.fits"} <= found.keys()
    assert all(is_taken(new, walked(old, seed)) for seed in range(20))


@pytest.mark.parametrize("name", LOST)
def test_what_is_lost_of_parts_is_shown(name: str, tmp_path: Path) -> None:
    change, names = LOST[name]
    old, new = version(tmp_path, "older", ()), version(tmp_path, "newer", change)
    found = obligations(old, new)
    lost = {each for each, o in found.items() if not o.verdict.proved}
    if "*" in names:  # No state has values of the newer types.
        assert lost == found.keys()
        names = {"bounds"}
    assert {each for each, o in found.items() if o.verdict.value == "violated"} == names
    for each in names:
        row = found[each].counterexample
        assert row is not None
        assert not is_taken(new, shown(old, row["state"])), row
        assert is_taken(old, shown(old, row["state"])), row


@pytest.mark.nightly
@pytest.mark.parametrize("name", OPEN)
def test_what_is_lost_and_not_decided_is_left_open(name: str, tmp_path: Path) -> None:
    change, names = OPEN[name]
    found = obligations(version(tmp_path, "older", ()), version(tmp_path, "newer", change))
    assert {each for each, o in found.items() if not o.verdict.proved} == names
    assert {found[each].verdict.value for each in names} == {"unknown"}


@pytest.mark.parametrize(
    ("was", "now", "why"),
    [
        (": Drawer", ": Box", "a part Drawer that is read as a Box"),
        ("dict[Desk, Till] = {}", "dict[Desk, Nat] = {}", "dict[Desk, Till (older)]"),
    ],
)
def test_parts_that_are_read_as_something_else_are_left_open(
    was: str, now: str, why: str, tmp_path: Path
) -> None:
    box = ("class Till(", "class Box(Drawer): ...\n\nclass Till(")
    other = (was, now), ("Drawer(depth=3)", "Box(depth=3)" if "Box" in now else "Drawer(depth=3)")
    simple = SIMPLE if "Nat" in now else ()
    new = version(tmp_path, "newer", (box, *other, *simple))
    found = obligations(version(tmp_path, "older", ()), new)
    assert {each.verdict.value for each in found.values()} == {"unknown"}
    assert all(why in each.note for each in found.values())


def test_what_a_part_has_more_is_told(tmp_path: Path) -> None:
    change, _ = LOST["a variable more in a part"]
    old, new = version(tmp_path, "older", ()), version(tmp_path, "newer", change)
    lines = [*Versions.of(resolve(old), resolve(new), {}).lines()]
    assert lines == ["Drawer has days, too: restore takes over no older Drawer"]
    with pytest.raises(ValueError, match=r"a snapshot of Drawer has \['count', 'days'\], not"):
        new.lawful.restore(walked(old, 1), renamed={})
