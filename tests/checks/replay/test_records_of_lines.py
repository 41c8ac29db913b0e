"""Records of several lines in logs of text: `begins` says how the first line of one begins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lawful import Machine, State, transition
from lawful.checks.replay import ReplayError, ReplayProgram, joint_program, replay
from lawful.checks.replay.mapping import mapping_of
from lawful.checks.replay.preparation.formats import records_of_file
from lawful.checks.replay.preparation.preparation_table import preparation_of, to_json
from lawful.checks.replay.prepared_rows import check_order
from tests.checks.replay.conftest import NEEDS_SPARK


class Run(State):
    IDLE = "idle"
    RUNNING = "running"
    FAILED = "failed"


class Job(Machine):
    state: Run = Run.IDLE

    @transition(source=(Run.IDLE, Run.FAILED), target=Run.RUNNING)
    def begin(self) -> None: ...

    @transition(source=Run.RUNNING, target=Run.FAILED)
    def fail(self) -> None: ...

    @transition(source=Run.RUNNING, target=Run.IDLE)
    def end(self) -> None: ...


HOW: dict[str, Any] = {
    "format": "text",
    "begins": r"\d\d:\d\d ",
    "line": r"(?s)(?P<at>\S+) (?P<what>begin|fail|end)\n.*job: (?P<job>\w+).*",
    "order": "file",
}
MAPPING: dict[str, Any] = {"instance": "$.job", "event": "$.what"}
LOG = """rotated
07:00 begin
  job: a
07:01 begin
  job: b

07:02 fail
java.io.IOException: at 07:02 it is gone
	at jobs.Worker.run(Worker.java:12)
  job: a
07:03 end
  job: a
07:04 end
  job: b
"""
VERDICTS = {"a": "deviates", "b": "fits"}  # What has failed does not end.


def program(machine: type[Machine] = Job, **more: Any) -> ReplayProgram:
    data = {**MAPPING, "preparation": {**HOW, "pass_unmatched": True, **more}}
    return ReplayProgram((machine.lawful.ir,), mapping=mapping_of(data), every=True)


def put(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def records(path: Path, **more: Any) -> list[Any]:
    return [*records_of_file(str(path), preparation_of({**HOW, **more}))]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_lines_of_a_record_are_one_text(end: str, tmp_path: Path) -> None:
    path = put(tmp_path / "w.log", LOG.replace("\n", end))
    (first, strange), *rest = records(path)
    assert (first, strange.reason, strange.text) == (1, "no line of the pattern", "rotated")
    assert rest == [
        (2, {"at": "07:00", "what": "begin", "job": "a"}),
        (4, {"at": "07:01", "what": "begin", "job": "b"}),
        (7, {"at": "07:02", "what": "fail", "job": "a"}),
        (11, {"at": "07:03", "what": "end", "job": "a"}),
        (13, {"at": "07:04", "what": "end", "job": "b"}),
    ]
    whole = records(path, line="(?s)(?P<all>.*)")
    assert whole[2] == (4, {"all": "07:01 begin\n  job: b"})
    assert [number for number, _ in records(path, pass_unmatched=True)] == [2, 4, 7, 11, 13]


def test_verdicts_and_the_lines_that_findings_name(tmp_path: Path) -> None:
    result = replay([put(tmp_path / "w.log", LOG)], program())
    answer: Any = result.to_json()
    assert answer["by_instance"] == VERDICTS and answer["rejected"]["rows"] == 0
    (wrong,) = answer["deviations"]
    assert (wrong["instance"], wrong["number"], wrong["event"]) == ("a", 11, "end")


def test_a_record_that_is_not_utf_8_is_rejected_whole(tmp_path: Path) -> None:
    path = put(tmp_path / "w.log", LOG.encode().replace(b"gone", b"\xff"))
    reasons = [getattr(found, "reason", "") for _, found in records(path)]
    assert reasons == ["no line of the pattern", "", "", "not UTF-8", "", ""]


def test_a_log_without_a_beginning_has_records_of_one_line(tmp_path: Path) -> None:
    found = records(put(tmp_path / "w.log", "one\n\ntwo\n"))
    assert [(number, each.text) for number, each in found] == [(1, "one"), (3, "two")]


def test_where_lines_do_not_stand_together() -> None:
    made = program().mapping
    assert made is not None and made.preparation is not None
    assert preparation_of(to_json(made.preparation)) == made.preparation
    assert not preparation_of({**HOW, "order": "time"}).of_lines
    data = {**MAPPING, "time": "$.at", "unit": "%H:%M", "preparation": {**HOW, "order": "time"}}
    with pytest.raises(ReplayError, match="a frame has rows in place of lines, which `begins`"):
        check_order(mapping_of(data), "a frame")
    with pytest.raises(ValueError, match="begins is for format text"):
        preparation_of({"format": "lines", "begins": "a"})
    with pytest.raises(ValueError, match="is no regular expression"):
        preparation_of({**HOW, "begins": "("})


def test_several_machines_read_the_same_records(tmp_path: Path) -> None:
    class Other(Job):
        """It reads the same log."""

    def named(machine: str, **more: Any) -> Any:
        how = {**HOW, "pass_unmatched": True, **more}
        return mapping_of({**MAPPING, "machine": machine, "preparation": how})

    machines = [Job.lawful.ir, Other.lawful.ir]
    both = joint_program(machines, [named("Job"), named("Other")], every=True)
    answer: Any = replay([put(tmp_path / "w.log", LOG)], both).to_json()
    assert [each["by_instance"] for each in answer["machines"]] == [VERDICTS, VERDICTS]
    with pytest.raises(ValueError, match="begins"):
        joint_program(machines, [named("Job"), named("Other", begins="0")])


@NEEDS_SPARK[0]
@NEEDS_SPARK[1]
def test_spark_reads_the_same(session: Any, tmp_path: Path) -> None:
    """Also where it splits files of lines."""
    session.conf.set("spark.sql.files.maxPartitionBytes", "100")
    path = put(tmp_path / "w.log", LOG * 20)
    try:
        timed = {**MAPPING, "time": "$.at", "unit": "%H:%M"}
        how = {**HOW, "order": "time", "ties": "any", "pass_unmatched": True}
        for each in (program(), replace_mapping(timed, how)):
            here, there = (replay([path], each, engine) for engine in ("local", "spark"))
            assert here.tallies.machines == there.tallies.machines
            assert here.total.instances == 2
    finally:
        session.conf.unset("spark.sql.files.maxPartitionBytes")


def replace_mapping(data: dict[str, Any], how: dict[str, Any]) -> ReplayProgram:
    mapping = mapping_of({**data, "preparation": how})
    return ReplayProgram((Job.lawful.ir,), mapping=mapping, every=True)
