"""The journal: its rows as they stand in the file, and what a reader makes of a damaged one."""

from __future__ import annotations

import json
import multiprocessing
from pathlib import Path
from typing import Annotated, Any

import pytest

from lawful import (
    Machine,
    Nat,
    Opaque,
    Param,
    Record,
    Refused,
    State,
    Timer,
    ignore,
    require,
    transition,
)
from lawful.runtime.instances.journal_rows import RowWriter
from lawful.runtime.journal import KEYS, Hidden, Journal, JournalError, read
from lawful.runtime.timers import SimulatedClock

Payload = Annotated[bytes, Opaque("Payload")]


class Line(State):
    UP = "up"
    DOWN = "down"


class Msg(Record):
    seq: Nat
    body: Payload


class Sender(Machine):
    state: Line = Line.UP
    sent: dict[Nat, Payload] = {}
    n: Nat = 0
    idle: Timer = Timer()
    limit: Param[Nat] = 2

    @transition(source=Line.UP)
    def send(self, m: Msg) -> Msg:
        require(self.n < self.limit, "the window is full")
        self.n += 1
        self.sent[m.seq] = m.body
        self.idle.start(5)
        return m

    @transition(source=Line.UP, target=Line.DOWN, timer="idle")
    def hang_up(self) -> None: ...

    gone = ignore("hang_up", source=Line.DOWN, because="it is down")


def written(path: Path) -> list[dict[str, Any]]:
    return [{k: json.loads(line)[k] for k in KEYS} for line in path.read_text().splitlines()]


def run(path: Path) -> Sender:
    """One of each outcome; the second `send` starts a timer that is armed."""
    clock = SimulatedClock(1.0)
    sender = Sender(clock=clock)
    with Journal(path) as journal:
        journal.attach(sender, "a")
        sender.send(Msg(1, b"x"))
        clock.advance(1)
        sender.send(Msg(2, b"y"))
        with pytest.raises(Refused):
            sender.send(Msg(3, b"z"))
        sender.lawful.fire_due(7.0)
        sender.hang_up()
    return sender


HASH = {b"x": "2d711642b726b044", b"y": "a1fce4363854ff88", b"z": "594e519ae499312b"}


def blob(body: bytes) -> dict[str, Any]:
    return {"$opaque": "Payload", "id": HASH[body]}


def test_there_is_one_row_for_each_event(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "j.jsonl"
    monkeypatch.setattr("lawful.runtime.instances.journal_rows.clocks.time", lambda: 1_000.5)
    sender = run(path)
    behaviour = sender.lawful.fingerprint.behaviour

    def row(seq: int, time: float, **rest: Any) -> dict[str, Any]:
        head = {"v": 3, "instance": "a", "seq": seq, "time": time, "machine": "Sender"}
        usual: dict[str, Any] = {"before": "UP", "after": "UP", "changed": {}, "args": {}}
        none = {"output": None, "why": None, "transition": None, "wall": 1_000.5}
        return head | {"fingerprint": behaviour} | none | usual | rest

    def msg(seq: int, body: bytes) -> dict[str, Any]:
        return {"$": "Msg", "seq": seq, "body": blob(body)}

    empty: dict[str, Any] = {"$map": []}
    assert written(path) == [
        row(
            0,
            1.0,
            event=None,
            outcome="made",
            args={"limit": 2},
            before=None,
            changed={"state": "UP", "sent": empty, "n": 0, "idle": False},
        ),
        row(
            1,
            1.0,
            event="send",
            transition="send",
            outcome="done",
            args={"m": msg(1, b"x")},
            changed={"sent": {"$map": [[1, blob(b"x")]]}, "n": 1, "idle": True},
            output=msg(1, b"x"),
        ),
        row(
            2,
            2.0,
            event="send",
            transition="send",
            outcome="done",
            args={"m": msg(2, b"y")},
            changed={"sent": {"$map": [[1, blob(b"x")], [2, blob(b"y")]]}, "n": 2},
            output=msg(2, b"y"),
        ),
        row(
            3,
            2.0,
            event="send",
            outcome="refused",
            args={"m": msg(3, b"z")},
            why="the window is full (2 < 2 is false)",
        ),
        row(
            4,
            7.0,
            event="hang_up",
            transition="hang_up",
            outcome="done",
            after="DOWN",
            changed={"state": "DOWN", "idle": False},
        ),
        row(5, 2.0, event="hang_up", outcome="ignored", before="DOWN", after="DOWN"),
    ]
    assert {(*json.loads(x),) for x in path.read_text().splitlines()} == {(*KEYS, "sum")}
    assert list(read(path)) == written(path)


def test_rows_are_buffered_and_flushed(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    journal = Journal(path, buffer=2)
    sender = Sender()
    journal.attach(sender, "a")
    sender.send(Msg(1, b"x"))
    assert path.read_text() == ""
    sender.send(Msg(2, b"y"))
    assert len(written(path)) == 3
    with pytest.raises(Refused):
        sender.send(Msg(3, b"z"))
    journal.flush()
    assert len(written(path)) == 4
    journal.close()
    journal.close()
    with pytest.raises(Refused):
        sender.send(Msg(3, b"z"))
    assert len(written(path)) == 4


def test_instances_count_their_own_rows(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    with Journal(path) as journal:
        one, two = Sender(), Sender()
        journal.attach(one, "1")
        one.send(Msg(1, b"x"))
        detach = journal.attach(two, "2")
        two.send(Msg(1, b"x"))
        one.send(Msg(2, b"y"))
        detach()
        two.send(Msg(2, b"y"))
        with pytest.raises(ValueError, match="has an instance 1 already"):
            journal.attach(Sender(), "1")
    rows = [(row["instance"], row["seq"]) for row in read(path)]
    assert rows == [("1", 0), ("1", 1), ("2", 0), ("2", 1), ("1", 2)]


def test_a_name_is_free_when_its_instance_is_detached(tmp_path: Path) -> None:
    """Rows of the next one go on behind those of the first, from how it is then."""
    path = tmp_path / "j.jsonl"
    with Journal(path) as journal:
        end = journal.attach(Sender(), "1")
        end()
        second = Sender()
        second.send(Msg(1, b"x"))
        journal.attach(second, "1")
        end()  # Once more: it is not the second one's end.
        second.send(Msg(2, b"y"))
        with pytest.raises(ValueError, match="has an instance 1 already"):
            journal.attach(Sender(), "1")
    rows = [(row["instance"], row["seq"], row["outcome"]) for row in read(path)]
    assert rows == [("1", 0, "made"), ("1", 1, "attached"), ("1", 2, "done")]


def test_an_existing_file_is_appended_to_or_written_anew(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    run(path)
    once = path.read_bytes()
    with Journal(path) as journal:
        journal.attach(Sender(), "b")
        journal.attach(Sender(), "a")
    assert path.read_bytes().startswith(once)
    assert [(row["instance"], row["seq"], row["outcome"]) for row in list(read(path))[5:]] == [
        ("a", 5, "ignored"),
        ("b", 0, "made"),
        ("a", 6, "attached"),
    ]
    whole = path.read_bytes()
    Journal(path, append=True).close()
    assert path.read_bytes() == whole
    Journal(path, append=False).close()
    assert path.read_bytes() == b""
    Journal(tmp_path / "new.jsonl").close()


@pytest.mark.parametrize("text", ["a log of something else\n", '{"v":1}\n', "[]\n{"])
def test_what_is_no_journal_is_left_as_it_was(text: str, tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    path.write_text(text)
    with pytest.raises(JournalError, match=r"j\.jsonl:1: "):
        Journal(path)
    assert path.read_text() == text
    Journal(path, append=False).close()  # It is closed again, and may be opened.


def test_an_instance_is_new_or_was_attached_later(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    with Journal(path) as journal:
        sender = Sender(limit=7, clock=SimulatedClock(3.0))
        journal.attach(sender, "new")
        sender.send(Msg(1, b"x"))
        journal.attach(sender, "later")
    first, _, later = read(path)
    assert (first["outcome"], first["args"]) == ("made", {"limit": 7})
    assert (later["outcome"], later["event"], later["seq"], later["before"]) == (
        "attached",
        None,
        0,
        None,
    )
    assert later["changed"] == {
        "state": "UP",
        "sent": {"$map": [[1, blob(b"x")]]},
        "n": 1,
        "idle": True,
    }


def test_what_rotated_away_is_numbered_on(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    with Journal(path, buffer=0, largest=2_000) as journal:
        sender = Sender(limit=99)
        journal.attach(Sender(), "gone")()
        journal.attach(sender, "a")
        for number in range(8):
            sender.send(Msg(number, b"x"))
    files = len(list(tmp_path.iterdir()))
    assert files > 2
    (tmp_path / f"rows.{files + 8}").write_bytes(b"")  # More than nine: a number, not text.
    with Journal(path, buffer=0, largest=1) as journal:
        for name in ("a", "gone", "new"):
            journal.attach(sender, name)()
    kept = [f"rows.{n}" for n in range(1, files)] + [f"rows.{files + n}" for n in (8, 9, 10, 11)]
    assert {each.name for each in tmp_path.iterdir()} == {*kept, "rows"}
    every = [row for name in [*kept, "rows"] for row in read(tmp_path / name)]
    numbers = {
        name: [row["seq"] for row in every if row["instance"] == name]
        for name in ("a", "gone", "new")
    }
    # An instance that is attached when a file begins has a row for that, too.
    rows_of_a = 1 + 8 + (files - 1) + 2
    assert numbers == {"a": list(range(rows_of_a)), "gone": [0, 1, 2], "new": [0, 1]}


def test_what_was_torn_is_cut_off_before_more_is_written(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    run(path)
    path.write_bytes(path.read_bytes()[:-9])
    with Journal(path, append=True) as journal:
        journal.attach(Sender(), "a")
    assert [row["seq"] for row in read(path)] == [0, 1, 2, 3, 4, 5]


def test_a_torn_last_line_is_recognised(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    run(path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-9])
    torn: list[tuple[int, str]] = []
    rows = list(read(path, on_torn=lambda line, text: torn.append((line, text))))
    assert [row["seq"] for row in rows] == [0, 1, 2, 3, 4]
    assert [line for line, _ in torn] == [6]
    with pytest.raises(JournalError, match=r"j\.jsonl:6: a torn last line"):
        list(read(path))


def test_damage_in_the_middle_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    run(path)
    lines = path.read_text().splitlines()
    damaged = {
        "not JSON": [lines[0], lines[1][:-20], lines[2]],
        r"not JSON: b'\[\[": [lines[0], "[" * 100_000, lines[2]],
        "not a row of a journal": [lines[0], "{}", lines[2]],
        "row 2 of a, where 1 is the next": [lines[0], lines[2]],
        "row 0 of a, where 1 is the next": [lines[0], lines[0]],
        "a row of version 4": [lines[0].replace('"v":3', '"v":4')],
    }
    for what, rows in damaged.items():
        path.write_text("\n".join(rows) + "\n")
        with pytest.raises(JournalError, match=what) as caught:
            list(read(path))
        assert caught.value.line == min(2, len(rows))


def test_a_journal_may_be_empty(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    Journal(path).close()
    assert list(read(path)) == []
    with pytest.raises(OSError):
        list(read(tmp_path / "none.jsonl"))


def test_a_journal_rotates_into_files_that_stand_alone(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    a, b = Sender(limit=1_000), Sender(limit=1_000)
    with Journal(path, buffer=0, largest=4_000) as journal:
        journal.attach(a, "a")
        end = journal.attach(b, "b")
        for number in range(40):
            a.send(Msg(number, b"x"))
            if number == 10:
                b.send(Msg(0, b"y"))
                end()
    several = len(list(path.parent.iterdir()))
    files = [*(tmp_path / f"rows.{number}" for number in range(1, several)), path]
    assert several > 3
    rows = [list(read(each)) for each in files]
    assert all(each.stat().st_size >= 4_000 for each in files[:-1])
    for number, each in enumerate(rows):
        firsts = {row["instance"]: row["outcome"] for row in reversed(each)}
        assert firsts["a"] == ("continued" if number else "made"), number
    every = [row for each in rows for row in each]
    assert [row["seq"] for row in every if row["instance"] == "a"] == list(range(40 + len(rows)))
    done = [row["output"]["seq"] for row in every if row["event"] and row["instance"] == "a"]
    assert done == list(range(40))


def test_hidden_values_are_told_nowhere(tmp_path: Path) -> None:
    sender = Sender(limit=1, clock=SimulatedClock())
    hidden = Hidden(excluded=frozenset({"sent", "send.output"}), hashed=frozenset({"m"}), key=b"k")
    with Journal(tmp_path / "rows") as journal:
        journal.attach(sender, "a", hidden)
        sender.send(Msg(777, b"secret"))
        for _ in range(2):
            with pytest.raises(Refused):
                sender.send(Msg(888, b"more"))
    _, done, refused, twice = rows = list(read(tmp_path / "rows"))
    text = json.dumps([row | {"wall": 0} for row in rows])  # The time may have any digits.
    assert "777" not in text
    assert done["output"] == done["changed"]["sent"] == {"$hidden": "excluded"}
    assert done["changed"]["n"] == 1
    assert refused["args"] == twice["args"] != done["args"]
    assert refused["why"] == "refused by send"
    with pytest.raises(ValueError, match="Sender has no sen to hide"):
        Journal(tmp_path / "more").attach(Sender(), "a", Hidden(frozenset({"sen"})))
    with pytest.raises(ValueError, match="a hash without a key"):
        Hidden(hashed=frozenset({"m"}))


def test_of_a_hidden_control_state_equal_values_have_equal_hashes(tmp_path: Path) -> None:
    sender = Sender(clock=(clock := SimulatedClock()))
    with Journal(tmp_path / "rows") as journal:
        journal.attach(sender, "a", Hidden(hashed=frozenset({"state"}), key=b"k"))
        sender.send(Msg(1, b""))
        sender.lawful.fire_due(clock.advance(6))
    text = (tmp_path / "rows").read_text(encoding="utf-8")
    assert "UP" not in text and "DOWN" not in text
    made, sent, hung = read(tmp_path / "rows")
    assert made["before"] is None
    up, down = made["after"], hung["after"]
    assert made["changed"]["state"] == sent["before"] == sent["after"] == hung["before"] == up
    assert hung["changed"]["state"] == down != up


def test_a_file_has_one_journal(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    with Journal(path, buffer=0) as journal:
        journal.attach(Sender(), "a")
        for append in (False, True):
            with pytest.raises(BlockingIOError, match="another journal writes it"):
                Journal(path, append=append)
    assert [row["outcome"] for row in read(path)] == ["made"]
    with Journal(path, append=True) as journal:  # The first one is closed.
        journal.attach(Sender(), "a")
    assert [row["seq"] for row in read(path)] == [0, 1]
    with pytest.raises(ValueError, match="is closed"):
        journal.attach(Sender(), "b")


def test_who_cannot_be_attached_is_not_attached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sender = Sender()

    def full(_: RowWriter, entry: object) -> None:
        raise OSError("the disk is full")

    with Journal(tmp_path / "rows") as journal:
        with monkeypatch.context() as patched, pytest.raises(OSError, match="the disk is full"):
            patched.setattr(RowWriter, "attached", full)
            journal.attach(sender, "a")
        sender.send(Msg(1, b""))
    assert list(read(tmp_path / "rows")) == []


def test_a_forked_process_writes_nothing(tmp_path: Path) -> None:
    path, sender = tmp_path / "rows", Sender(limit=9)
    with Journal(path) as journal:
        journal.attach(sender, "a")
        other = multiprocessing.get_context("fork").Process(target=_go_on, args=(journal, sender))
        other.start()
        other.join()
        assert other.exitcode == 0
        sender.send(Msg(2, b""))
    assert [row["event"] for row in read(path)] == [None, "send"]


def _go_on(journal: Journal, sender: Sender) -> None:
    with pytest.raises(RuntimeError, match="by the process that opened it"), journal:
        sender.send(Msg(1, b""))
