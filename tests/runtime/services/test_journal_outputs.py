"""What a journal says of outputs and of refusals."""

from __future__ import annotations

from pathlib import Path

import pytest

from lawful import Machine, Nat, Refused, require, transition
from lawful.runtime.journal import Journal, read


class Tap(Machine):
    shut: bool = False

    @transition()
    def draw(self) -> Nat:
        require(not self.shut, "it is shut")
        self.shut = True
        return 3

    @transition()
    def close(self) -> None:
        require(self.shut, "it is open")


def test_a_refused_event_has_no_output_whatever_its_type(tmp_path: Path) -> None:
    with Journal(tmp_path / "j.jsonl") as journal:
        tap = Tap()
        journal.attach(tap, "a")
        assert tap.draw() == 3
        with pytest.raises(Refused):
            tap.draw()
    rows = [(row["outcome"], row["output"]) for row in read(tmp_path / "j.jsonl")]
    assert rows == [("made", None), ("done", 3), ("refused", None)]


def test_refusals_are_left_out_if_nobody_wants_them(tmp_path: Path) -> None:
    with Journal(tmp_path / "j.jsonl") as journal:
        tap = Tap()
        journal.attach(tap, "a", refused=False)
        with pytest.raises(Refused):
            tap.close()
        tap.draw()
        with pytest.raises(Refused):
            tap.draw()
        tap.close()
    rows = [(row["seq"], row["event"], row["outcome"]) for row in read(tmp_path / "j.jsonl")]
    assert rows == [(0, None, "made"), (1, "draw", "done"), (2, "close", "done")]
