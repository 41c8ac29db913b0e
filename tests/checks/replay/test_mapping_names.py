"""Names in a mapping that no machine has are refused, with their place and the nearest name."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from lawful import Machine, Nat, Param, event, notebook, transition
from lawful.checks.replay import ReplayError, ReplayProgram, joint_program
from lawful.checks.replay.flaws.mapping_names import MappingError
from lawful.checks.replay.joint.joint_mappings import mappings_in
from lawful.checks.replay.mapping import mapping_of
from lawful.checks.replay.studies.version_comparison import compared
from lawful.cli import main
from lawful.commands.exit_codes import ExitCode
from tests.checks.replay.journals import written

KEYS: dict[str, Any] = {"instance": "$.i", "seq": "$.n", "event": "$.e"}


class Till(Machine):
    limit: Param[Nat] = 9
    sum: Nat = 0

    @event(choice=True)
    def pay(self, amount: Nat) -> None: ...

    @transition(event="pay")
    def pay_cash(self, amount: Nat) -> None:
        self.sum += amount

    @transition()
    def close(self) -> None:
        self.sum = 0


def till_of_last_year() -> type[Machine]:
    class Till(Machine):
        limit: Param[Nat] = 9
        sum: Nat = 0

        @transition()
        def close(self) -> None:
            self.sum = 0

    return Till


def program(**more: Any) -> ReplayProgram:
    return ReplayProgram((Till.lawful.ir,), mapping=mapping_of({**KEYS, **more}))


FITTING: dict[str, Any] = {
    "events": {"PAID": "pay", "CASH": "pay_cash"},
    "args": {"pay": {"amount": "$.a"}, "pay_cash": {"amount": "$.a"}, "close": {}},
    "observed": {"sum": "$.s"},
    "parameters": {"limit": 3},
}
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"events": {"PAID": "pya"}}, 'events.PAID is "pya": Till has no event pya; write pay'),
    (
        {"events": {"X": "quit"}},
        'events.X is "quit": Till has no event quit; it has close, pay, pay_cash',
    ),
    ({"args": {"PAY": {}}}, "args.PAY: Till has no event PAY; write pay"),
    (
        {"events": {"X": "pay"}, "args": {"X": {"amount": 1}}},
        "args.X: Till has no event X; write args.pay",
    ),
    (
        {"args": {"pay": {"amuont": "$.a"}}},
        "args.pay.amuont: pay of Till has no argument amuont; write amount",
    ),
    (
        {"args": {"close": {"by": "$.a"}}},
        "args.close.by: close of Till has no argument by; it has none",
    ),
    ({"args": {"pay": "$.a"}}, "args.pay has to be a table with the arguments of pay (amount)"),
    ({"observed": {"sun": "$.s"}}, "observed.sun: Till has no variable sun; write sum"),
    ({"observed": {"sums.a": "$.s"}}, "observed.sums.a: Till has no variable sums; write sum"),
    ({"parameters": {"most": 3}}, "parameters.most: Till has no parameter most; it has limit"),
    ({"hidden": ["clos"]}, "hidden has clos: Till has no event clos; write close"),
    ({"hidden": ["pay_cash"]}, "hidden has pay_cash, which is no event of Till, but a transition"),
    ({"machine": "Tile"}, 'machine is "Tile", and is not given; write Till'),
    (
        {"time": "$.t", "deadlines": {"OPEN": 1.0}},
        "deadlines.OPEN is no control state of Till; it has none",
    ),
]


def test_what_the_machine_has() -> None:
    program(**FITTING)


@pytest.mark.parametrize(("more", "told"), WRONG)
def test_what_it_does_not_have(more: dict[str, Any], told: str) -> None:
    with pytest.raises(MappingError) as error:
        program(**more)
    assert str(error.value) == told


KEYS_AND_KINDS: list[tuple[dict[str, Any], str]] = [
    ({"evnts": {}}, "evnts is no key of a mapping; write events"),
    ({"colour": 1}, "colour is no key of a mapping; the keys are instance, "),
    ({"dense": "yes"}, "dense has to be true or false, not 'yes'"),
    ({"args": []}, "args has to be a table, not []"),
    ({"preparation": {"formt": 1}}, "preparation.formt is no key of a preparation; write format"),
    ({"preparation": {"hash": "$.a"}}, "preparation.hash has to be a list, not '$.a'"),
]


@pytest.mark.parametrize(("more", "told"), KEYS_AND_KINDS)
def test_keys_of_a_mapping(more: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError) as error:
        mapping_of({**KEYS, **more})
    assert str(error.value).startswith(told)


def test_versions(tmp_path: Path) -> None:
    """A name may be of an older version alone, and of two that are compared of one."""
    before = till_of_last_year().lawful.ir
    now = program(**FITTING)
    told = {**FITTING, "events": {"PAID": "pay", "END": "close"}, "observed": {}}
    ReplayProgram((before,), mapping=mapping_of({**KEYS, **told}), older=now.machines)
    rows = [json.dumps({"i": "a", "n": n, "e": e, "a": 1}) for n, e in ((1, "PAID"), (2, "END"))]
    newer = dataclasses.replace(now, mapping=mapping_of({**KEYS, **told}))
    found = compared([written(tmp_path / "t.jsonl", rows)], newer, (before,))
    assert (found.old.verdicts["quarantined"], found.new.verdicts["fits"]) == (1, 1)


class Door(Machine):
    open: bool = False

    @transition()
    def knock(self, times: Nat) -> None:
        self.open = times > 1


def test_what_is_said_of_all_machines() -> None:
    shared = {**KEYS, "events": {"PAID": "pay", "K": "knock"}, "args": FITTING["args"]}
    machines = (Till.lawful.ir, Door.lawful.ir)
    door = {"args": {"knock": {"times": "$.a"}}}

    def both(**more: Any) -> Any:
        data: Any = {**shared, **more, "machines": {"Till": {}, "Door": door}}
        return joint_program(machines, tuple(map(mapping_of, mappings_in(data).values())))

    assert [dict(each.events) for each in both().mappings] == [{"PAID": "pay"}, {"K": "knock"}]
    with pytest.raises(MappingError, match=r'events.K is "nock": .* write knock'):
        both(events={"K": "nock"})


def test_the_command_names_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    day = written(tmp_path / "day.jsonl", ['{"i": "a", "n": 1, "e": "pay", "a": 1}'])
    mapping = tmp_path / "m.json"
    mapping.write_text(json.dumps({**KEYS, "args": {"pay": {"amout": "$.a"}}}), encoding="utf-8")
    target = f"{__name__}:Till"
    told = f"{mapping}: args.pay.amout: pay of Till has no argument amout; write amount"
    for command in ("replay", "learn-scope"):
        assert main([command, str(day), target, "--mapping", str(mapping)]) == ExitCode.USAGE
        assert told in capsys.readouterr().err
    with pytest.raises(ReplayError, match=r"args.pay.amout"):
        notebook.replay(Till, day, mapping=mapping)
    door = {"knock": {"tmes": 1}}
    tables = {"Till": {}, "Door": {"args": door}}
    mapping.write_text(json.dumps({**KEYS, "machines": tables}), encoding="utf-8")
    given = ["replay", str(day), target, "--also", f"{__name__}:Door", "--mapping", str(mapping)]
    assert main(given) == ExitCode.USAGE
    assert f"{mapping}: args.knock.tmes: knock of Door has no" in capsys.readouterr().err
    mapping.write_text(json.dumps({**KEYS, "machine": "Tell"}), encoding="utf-8")
    assert main([*given[:3], "--mapping", str(mapping)]) == ExitCode.USAGE
    assert f"{mapping}: the mapping is of Tell; {target} has Till; write Till" in (
        capsys.readouterr().err
    )
