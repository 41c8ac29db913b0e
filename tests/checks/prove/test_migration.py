"""Whether a newer version takes over every state that the invariants of the older one allow."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful import Machine, Opaque, targets, transition
from lawful.checks.prove.migration import NO_STATE, Versions, evolve
from lawful.checks.prove.result import Obligation
from lawful.checks.verdict import Verdict
from lawful.cli import main
from lawful.commands.diff import Difference, to_json
from lawful.runtime.migration import Change, Migration, proved
from lawful.runtime.store import Store
from lawful.spec.resolve import resolve
from tests.checks.declarations.versions import After, Before, Kept, Member, Narrower, Never

RENAMED = {"total": "paid"}


def evolved(
    old: type[Machine], new: type[Machine], renamed: dict[str, str], **sizes: int
) -> dict[str, Obligation]:
    versions = Versions.of(resolve(old), resolve(new), renamed)
    return {o.property: o for o in evolve(versions, sizes)}


def verdicts(found: dict[str, Obligation]) -> dict[str, str]:
    return {name: o.verdict.value for name, o in found.items()}


def test_what_follows_is_proved_and_what_does_not_is_shown() -> None:
    found = evolved(Before.Till, After.Till, RENAMED, Member=2)
    assert verdicts(found) == {
        "bounds": "proved-within",
        "within": "proved-within",
        "nobody_is_owed_less_than_nothing": "proved-within",
        "strictly": "violated",
    }
    assert found["strictly"].counterexample == {
        "state": {"state": "OPEN", "paid": 1, "owed": {}, "note": 4, "history": 0, "most": 1},
        "after": {"state": "OPEN", "total": 1, "owed": {}, "fees": 1, "history": 0, "most": 1},
    }


def test_of_any_size() -> None:
    found = evolved(Before.Till, Kept.Till, RENAMED)
    assert set(verdicts(found).values()) == {"proved"}
    assert {o.covers for o in found.values()} == {"all integers; all parameter values; any Member"}


def test_the_state_that_is_shown_is_refused_at_run_time() -> None:
    found = evolved(Before.Till, After.Till, RENAMED, Member=2)["strictly"].counterexample
    assert found is not None
    shown: Any = found["state"]
    old = Before.Till.lawful.state(paid=shown["paid"], most=shown["most"])
    with pytest.raises(ValueError, match="strictly: false"):
        After.Till.lawful.restore(old.lawful.snapshot(), renamed=RENAMED, universe={Member: ["a"]})


@given(st.integers(0, 9), st.integers(0, 9), st.integers(0, 3))
def test_what_is_proved_is_never_refused_at_run_time(paid: int, most: int, owed: int) -> None:
    """Kept is proved to take over all that Before allows."""
    values: dict[str, Any] = {"paid": min(paid, most), "most": most, "owed": {Member("a"): owed}}
    old = Before.Till.lawful.state(universe={Member: ["a", "b"]}, **values)
    new = Kept.Till.lawful.restore(
        old.lawful.snapshot(), renamed=RENAMED, universe={Member: ["a", "b"]}
    )
    assert (new.total, new.most, new.owed, new.fees) == (
        min(paid, most),
        most,
        {Member("a"): owed},
        1,
    )


def test_assumptions_are_to_be_met_and_what_has_no_value_is_false() -> None:
    found = evolved(Before.Till, Narrower.Till, {})
    assert verdicts(found) == {"bounds": "proved", "some": "violated", "divided": "violated"}


def test_nothing_is_proved_where_the_older_version_has_no_state() -> None:
    found = evolved(Never.Till, Narrower.Till, {})
    assert {(o.verdict, o.note) for o in found.values()} == {(Verdict.UNKNOWN, NO_STATE)}


@pytest.mark.parametrize(
    "renamed", [{"total": "none"}, {"none": "paid"}, {"total": "most"}], ids=str
)
def test_names_that_are_none_are_refused(renamed: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="was not"):
        evolved(Before.Till, After.Till, renamed)


# The command.

OLD = """
from lawful import Machine, Nat, Scope, State, invariant

class Phase(State):
    OPEN = "open"
    SHUT = "shut"

class Lamp(Machine):
    phase: Phase = Phase.OPEN
    on: Nat = 0
    deadlock_ok = True

    @invariant
    def few(self) -> bool:
        return self.on < 9

    scope = Scope(Nat=range(0, 9))
"""


def written(folder: Path, name: str, text: str) -> str:
    path = folder / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_the_command_says_what_changed_and_what_is_proved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = written(tmp_path, "old", OLD)
    wider = written(
        tmp_path, "wider", OLD.replace("on:", "lit:").replace("self.on < 9", "self.lit < 10")
    )
    narrow = written(tmp_path, "narrow", OLD.replace("< 9", "< 8"))
    assert main(["diff", old, wider, "--renamed", "lit=on"]) == 0
    out = capsys.readouterr().out
    assert "lit was on" in out and "2 of 2 proved" in out
    assert main(["diff", old, narrow]) == 1
    out = capsys.readouterr().out
    assert "few: violated" in out and "      on = 8" in out
    assert "shape      the same" in out
    assert main(["diff", old, wider, "--renamed", "lit"]) == 5
    assert main(["diff", old, wider, "--renamed", "lit=gone"]) == 5


def test_a_record_with_other_fields_is_shown_and_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = OLD.replace("on: Nat = 0", "on: Nat = 0\n    last: Slip = Slip(0)")
    record = record.replace("class Phase", "class Slip(Record):\n    of: Nat\n\nclass Phase")
    record = record.replace("import Machine", "import Machine, Record")
    old = written(tmp_path, "before", record)
    new = written(tmp_path, "after", record.replace("of: Nat", "of: Nat\n    by: Nat = 0"))
    assert main(["diff", old, new]) == 1
    out = capsys.readouterr().out
    assert "  Slip has by, too: restore takes over no older Slip\n" in out
    assert "last is a Slip, and this Slip (older) is none" in out and "last = Slip(of=0)" in out
    snapshot = targets.machine(old)().lawful.snapshot()
    told = (
        "last: expected a Slip of of, by, found one without by; "
        "renamed=Migration({}, function) gives the variable anew, a part as a whole"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(told)}$"):
        targets.machine(new).lawful.restore(snapshot, renamed={})


SLIPS = """
from lawful import Machine, Nat, Record, invariant

class Slip(Record):
    amount: Nat
    paid: bool

class Desk(Machine):
    slips: set[Slip] = set()
    deadlock_ok = True

    @invariant
    def few(self) -> bool:
        return all(s.amount < 5 for s in self.slips)
"""


@pytest.mark.parametrize(("most", "verdict"), [(5, "proved"), (4, "violated")])
def test_a_record_whose_fields_stand_in_another_order_is_the_same_key(
    most: int, verdict: str, tmp_path: Path
) -> None:
    new = SLIPS.replace("    amount: Nat\n    paid: bool", "    paid: bool\n    amount: Nat")
    _, row = diff_of(tmp_path, new.replace("< 5", f"< {most}"), old=SLIPS)
    assert outcome(row)[1] == {"bounds": "proved", "few": verdict}


def test_another_type_of_the_same_name_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sort = OLD.replace("on: Nat = 0", "on: Nat = 0\n    last: Slip | None = None")
    sort = sort.replace("class Phase", "class Slip(Sort): ...\n\nclass Phase")
    sort = sort.replace("import Machine", "import Machine, OrderedSort, Sort")
    old = written(tmp_path, "before", sort)
    other = written(tmp_path, "after", sort.replace("Slip(Sort)", "Slip(OrderedSort)"))
    assert main(["diff", old, other]) == 3
    why = "not encodable: Slip, which is another type in the older version"
    assert capsys.readouterr().out.count(why) == 2


LAMP = OLD.replace("on: Nat = 0", "on: Nat = 0\n    seen: dict[Phase, set[Phase]] = {}")


def diff_of(folder: Path, new: str, *options: str, old: str = LAMP) -> tuple[int, Any]:
    """What `lawful diff` ends with, and the machine's row in its JSON."""
    paths = [written(folder, name, text) for name, text in (("older", old), ("newer", new))]
    code = main(["diff", *paths, *options, "--quiet", "--json", str(folder / "diff.json")])
    data = json.loads((folder / "diff.json").read_text())
    return code, data["machines"][0] if "machines" in data else data["error"]["message"]


def outcome(row: Any) -> tuple[list[str], dict[str, str]]:
    return row["changes"], {each["property"]: each["verdict"] for each in row["obligations"]}


def test_a_state_more_is_proved_and_the_runtime_takes_it_over(tmp_path: Path) -> None:
    more = LAMP.replace('SHUT = "shut"', 'SHUT = "shut"\n    PAUSED = "paused"')
    code, row = diff_of(tmp_path, more)
    changes = ["Phase has PAUSED, too"]
    assert (code, *outcome(row)) == (0, changes, {"bounds": "proved", "few": "proved"})
    old, new = (targets.machine(str(tmp_path / f"{name}.py")) for name in ("older", "newer"))
    taken: Any = new.lawful.restore(
        old.lawful.state(on=3).lawful.snapshot(), renamed=proved(tmp_path / "diff.json")
    )
    assert (taken.on, taken.phase.name) == (3, "OPEN")


@pytest.mark.nightly
def test_a_state_less_is_proved_where_no_state_has_it(tmp_path: Path) -> None:
    less = OLD.replace('    SHUT = "shut"\n', "")
    code, row = diff_of(tmp_path, less, old=OLD)
    assert (code, *outcome(row)) == (
        1,
        ["Phase no longer has SHUT"],
        {"bounds": "violated", "few": "proved"},
    )
    assert row["obligations"][0]["counterexample"] == {
        "state": {"phase": "SHUT", "on": 0},
        "after": {"on": 0},
    }
    never = OLD.replace("self.on < 9", "self.on < 9 and self.phase == Phase.OPEN")
    code, row = diff_of(tmp_path, less, old=never)
    assert (code, outcome(row)[1]) == (0, {"bounds": "proved", "few": "proved"})
    inside = LAMP.replace("self.on < 9", "self.on < 9 and self.phase == Phase.OPEN")
    code, row = diff_of(tmp_path, LAMP.replace('    SHUT = "shut"\n', ""), old=inside)
    assert (code, outcome(row)[1]) == (1, {"bounds": "violated", "few": "proved"})


@pytest.mark.nightly
def test_a_variable_that_vanishes_is_told_and_may_be_dropped_on_purpose(tmp_path: Path) -> None:
    less = OLD.replace("on: Nat = 0", "lit: Nat = 0").replace("self.on", "self.lit")
    old = LAMP.replace("on: Nat = 0", "on: Nat = 0\n    used: Nat = 0")
    both = {"bounds": "proved", "few": "proved"}
    code, row = diff_of(tmp_path, less, "--renamed", "lit=on", old=old)
    assert (code, *outcome(row)) == (
        0,
        [
            "lit was on",
            "used vanishes with its values; --dropped used says that it shall",
            "seen vanishes with its values; --dropped seen says that it shall",
        ],
        both,
    )
    assert (row["dropped"], row["vanished"]) == ([], ["used", "seen"])
    named = ("--renamed", "lit=on", "--dropped", "used")
    assert diff_of(tmp_path, less, *named, old=old) == (5, "Lamp drops seen, too")
    code, row = diff_of(tmp_path, less, *named, "--dropped", "seen", old=old)
    changes = ["lit was on", "used is dropped", "seen is dropped"]
    assert (code, *outcome(row)) == (0, changes, both)
    assert (row["dropped"], row["vanished"]) == (["used", "seen"], [])
    assert dict(proved(tmp_path / "diff.json")) == {"lit": "on"}
    for name, why in (("on", "it is taken over"), ("nothing", "there is none")):
        found = diff_of(tmp_path, less, "--renamed", "lit=on", "--dropped", name, old=old)
        assert found == (5, f"Lamp does not drop {name}: {why}")


# In a service.


def diffed(old: type[Machine], new: type[Machine], path: Path) -> Path:
    """What `lawful diff` writes of two versions."""
    renamed = {"total": "paid"} if hasattr(new, "total") else {}
    versions = Versions.of(resolve(old), resolve(new), renamed)
    both = (old.lawful.fingerprint, new.lawful.fingerprint)
    found = Difference(versions, both, tuple(evolve(versions, {"Member": 2})))
    path.write_text(json.dumps({"version": 1, "command": "diff", "machines": [to_json(found)]}))
    return path


def test_a_migration_that_is_proved_is_taken(tmp_path: Path) -> None:
    migration = proved(diffed(Before.Till, Kept.Till, tmp_path / "till.json"))
    assert dict(migration) == RENAMED
    members = {Member: ["a", "b"]}
    old = Before.Till.lawful.state(paid=3)
    new = Kept.Till.lawful.restore(old.lawful.snapshot(), renamed=migration, universe=members)
    assert (new.total, new.fees) == (3, 1)
    same = Kept.Till.lawful.restore(new.lawful.snapshot(), renamed=migration, universe=members)
    assert same == new
    for cls, data, what in (
        (After.Till, old.lawful.snapshot(), "a migration to Till "),
        (Kept.Till, Narrower.Till(most=3).lawful.snapshot(), "a migration from the shape"),
    ):
        with pytest.raises(ValueError, match=what):
            cls.lawful.restore(data, renamed=migration, universe=members)
    with Store(tmp_path / "tills.db") as store:
        store.add(old, "t")
        assert store.restore(Kept.Till, "t", renamed=migration, universe=members) == new


def fewer(old: dict[str, Any]) -> dict[str, Any]:
    return {"total": old["paid"] - 1, "fees": 5}


def test_a_store_takes_over_what_a_function_gives_or_leaves_all_as_it_was(tmp_path: Path) -> None:
    members = {Member: ["a"]}
    with Store(tmp_path / "tills.db") as store:
        old = store.add(Before.Till(most=3, universe=members), "t")
        old.pay(Member("a"), 3)
        store.snapshot("t")
    shown = r"strictly: false: Till\(.*total=3, .*most=3\)"
    for renamed in (RENAMED, Migration(RENAMED, lambda held: {"fees": 2})):
        with Store(tmp_path / "tills.db") as store, pytest.raises(ValueError, match=shown):
            store.restore(After.Till, "t", renamed=renamed, universe=members)
    with Store(tmp_path / "tills.db") as store:
        assert store.restore(Before.Till, "t", universe=members) == old
        rows = [(row["seq"], row["transition"]) for row in store.events("t")]
    assert rows == [(1, "pay")]
    with Store(tmp_path / "tills.db") as store:
        new = store.restore(After.Till, "t", renamed=Migration(RENAMED, fewer), universe=members)
        assert (new.total, new.fees, new.owed) == (2, 5, {Member("a"): 3})
    with Store(tmp_path / "tills.db") as store:
        assert store.restore(After.Till, "t", universe=members) == new


def test_a_function_beside_what_is_proved(tmp_path: Path) -> None:
    path = diffed(Before.Till, Kept.Till, tmp_path / "till.json")
    data, members = Before.Till.lawful.state(paid=3).lawful.snapshot(), {Member: ["a"]}
    new = Kept.Till.lawful.restore(data, renamed=proved(path, fewer), universe=members)
    assert (new.total, new.fees) == (2, 5)
    with pytest.raises(ValueError, match=r"within: false: Till\(.*total=11, .*most=10\)"):
        Kept.Till.lawful.restore(
            data, renamed=proved(path, lambda held: {"total": 11}), universe=members
        )


@pytest.mark.parametrize("change", [None, fewer], ids=["none", "fewer"])
def test_a_migration_that_is_not_proved_is_refused(tmp_path: Path, change: Change | None) -> None:
    with pytest.raises(ValueError, match=r"not every state of the older Till .*: strictly is v"):
        proved(diffed(Before.Till, After.Till, tmp_path / "till.json"), change)
    for text in ("", "[]", "{}", '{"command": "diff", "machines": []}', '{"command": "lint"}'):
        (tmp_path / "other.json").write_text(text)
        with pytest.raises(ValueError, match="is not a file that lawful diff wrote"):
            proved(tmp_path / "other.json")


class Told:
    """An opaque value of one Python type."""

    class Held(Machine):
        note: Annotated[str, Opaque("Note")] | None = None
        notes: set[Annotated[str, Opaque("Note")]] = set()

        @transition()
        def write(self, note: Annotated[str, Opaque("Note")]) -> None:
            self.note = note


class Counted:
    """The same, of another."""

    class Held(Machine):
        note: Annotated[int, Opaque("Note")] | None = None
        notes: set[Annotated[int, Opaque("Note")]] = set()

        @transition()
        def write(self, note: Annotated[int, Opaque("Note")]) -> None:
            self.note = note


class Either:
    """The same, of both."""

    class Held(Machine):
        note: Annotated[int | str, Opaque("Note")] | None = None
        notes: set[Annotated[int | str, Opaque("Note")]] = set()

        @transition()
        def write(self, note: Annotated[int | str, Opaque("Note")]) -> None:
            self.note = note


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        (Told.Held, Counted.Held, Verdict.VIOLATED),
        (Told.Held, Either.Held, Verdict.PROVED),
        (Either.Held, Told.Held, Verdict.UNKNOWN),
    ],
)
def test_the_python_type_of_an_opaque_value_is_part_of_what_is_taken_over(
    old: type[Machine], new: type[Machine], verdict: Verdict
) -> None:
    versions = Versions.of(resolve(old), resolve(new), {})
    found = {o.property: o.verdict for o in evolve(versions, {})}
    assert found == {"bounds": verdict}
    kept = old()
    kept.lawful.take("write", "a" if old is not Counted.Held else 1)
    if verdict is Verdict.PROVED:
        assert (
            new.lawful.restore(kept.lawful.snapshot()).lawful.snapshot()["variables"]
            == (kept.lawful.snapshot()["variables"])
        )
    elif verdict is Verdict.VIOLATED:
        with pytest.raises(ValueError, match="Note is of type int, not 'a', a str"):
            new.lawful.restore(kept.lawful.snapshot())
