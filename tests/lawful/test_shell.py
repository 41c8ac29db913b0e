"""The prompt of `lawful shell`: its answers to scripts, word for word."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from lawful.cli import main
from lawful.targets import in_folder
from lawful.walk_shell import Call, WrongCommand, is_value, read_call

GATE = """
from lawful import Machine, Nat, Record, Scope, State, initial, invariant, require, transition

class Door(State):
    OPEN = "open"
    SHUT = "shut"

class Card(Record):
    number: Nat

class Gate(Machine):
    state: Door = Door.OPEN
    n: Nat = 0

    @transition(source=Door.OPEN, target=Door.SHUT)
    def shut(self) -> None:
        require(self.n < 3, "full")
        self.n += 1

    @transition(source=Door.SHUT, target=Door.OPEN)
    def open(self, card: Card, twice: bool) -> None:
        require(card.number > 0, "no card")

    @invariant
    def below_two(self) -> bool:
        return self.n < 2

    deadlock_ok = True
    scope = Scope(Nat=range(0, 3))
"""
STARTS = GATE.replace(
    "    @transition(source=Door.OPEN",
    "    @initial\n    def begun(self, at: Nat) -> None:\n        self.n = at\n\n"
    "    @transition(source=Door.OPEN",
    1,
)
PAIR = """


from lawful import Machine, Nat, Scope, Timer, require, transition

class Box(Machine):
    n: Nat = 0

    @transition()
    def put(self, by: Nat) -> None:
        self.n += by

class Pair(Machine):
    left: Box = Box()
    wait: Timer = Timer()
    twice: Nat = 0

    @transition(event="go")
    def put(self, by: Nat) -> None:
        require(by > 0, "nothing to put")
        self.left.put(by)

    @transition(event="go")
    def check(self, by: Nat) -> None:
        require(by == 0, "something to put")
        assert self.left.n < 1

    @transition()
    def arm(self) -> None:
        self.wait.start(3)

    @transition(timer="wait")
    def late(self) -> None:
        self.twice = 0

    scope = Scope(Nat=range(0, 2))
"""
GATE_WALK = """\
enabled
refused
1
step 0
enabled
open(card=Card(number=1))
open(Card(number=1), True)
shut
properties
trace
path
back 2
goto 0.0.1
start
back

why shut
quit
shut
"""
GATE_WALK_SAID = """\
state = OPEN
n = 0
  0  shut()
open: state is OPEN, not SHUT (card=Card(number=0), twice=False)
there is no event 1; `enabled` lists the events
  1  shut()
       state = SHUT
       n = 1
  0  open(card=Card(number=1), twice=False)
  1  open(card=Card(number=1), twice=True)
  2  open(card=Card(number=2), twice=False)
  3  open(card=Card(number=2), twice=True)
several events are so; take one by its number:
  0  open(card=Card(number=1), twice=False)
  1  open(card=Card(number=1), twice=True)
  2  open(card=Card(number=1), twice=True)
       state = OPEN
  3  shut()
       state = SHUT
       n = 2
     below_two fails: n < 2 is false (n = 2)
deadlock   built-in   holds here
below_two  invariant  fails       n < 2 is false (n = 2)
start
       state = OPEN
       n = 0
  1  shut()
       state = SHUT
       n = 1
  2  open(card=Card(number=1), twice=True)
       state = OPEN
  3  shut()
       state = SHUT
       n = 2
0.0.1.0
state = SHUT
n = 1
state = OPEN
n = 1
state = OPEN
n = 0
back 1: the walk is at the start
enabled: 0  shut()
Gate: at the start
"""
STARTS_WALK = """\
enabled
start 7
start 1
shut
nope
open x=1
open 1 2 3
step opn
open (1
open 1
open card=Card(number=0)
back 9
back x
start x
goto 0.x
export
export test /nowhere/x
export sequence -
"""
STARTS_WALK_SAID = """\
several starts; take one with `start N`:
  0  begun(at=0)  state = OPEN, n = 0
  1  begun(at=1)  state = OPEN, n = 1
  2  begun(at=2)  state = OPEN, n = 2
the walk has no start yet; `start N` takes one
number 1 of the path, 7, leads to no state
state = OPEN
n = 1
  1  shut()
       state = SHUT
       n = 2
     below_two fails: n < 2 is false (n = 2)
'nope' is no command and no event; `help` lists the commands
open has no argument x; it has card, twice
open has 2 arguments: card, twice
there is no event 'opn'; the events are shut, open
'(1' has a bracket or quote that is not closed
no argument within the scope is so; the form is open(card=Card(number=0), twice=False)
open(card=Card(number=0), twice=False) is refused: no card (0 > 0 is false)
back 9: the walk is 1 event after the start
back takes a number, not 'x'
start takes a number, not 'x'
the path '0.x' is not numbers with points between them
export takes a kind and a file; the kinds are test, sequence, json
cannot write /nowhere/x: No such file or directory
sequenceDiagram
    participant M as Gate
    Note over M: 1. shut()<br/>state = SHUT<br/>n = 2
    Note over M: the end of the path
Gate: 1 event after the start
"""
PAIR_WALK = """\
enabled
refused
go by=0
arm
put 1
put 1
state
go 0
why go 1
properties
"""
PAIR_WALK_SAID = """\
twice = 0
left.n = 0
wait: stopped
  0  go(by=1) by put
  1  go(by=0) by check
  2  arm()
late: timer wait is not armed
  1  go(by=0) by check
  2  arm()
       wait = True
  3  go(by=1) by put
       left.n = 1
  4  go(by=1) by put  leaves the scope: left.n
       left.n = 2
twice = 0
left.n = 2
wait: armed: due at any time
1  go(by=0) by check  ends in a fault: asserts: left.n < 1 is false (left.n = 2)
enabled: 0  go(by=1) by put  leaves the scope: left.n
go(by=1) by check is refused: something to put (1 == 0 is false)
deadlock  built-in  holds here
Pair: 4 events after the start
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in (("gate", GATE), ("starts", STARTS), ("pair", PAIR)):
        (tmp_path / f"{name}_walked.py").write_text(text, encoding="utf-8")
    return tmp_path


def walked(script: str, target: str, *more: str, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr("sys.stdin", io.StringIO(script))
    return main(["shell", target, *more])


WALKS = [
    ("gate_walked.py", GATE_WALK, GATE_WALK_SAID, 5),
    ("starts_walked.py", STARTS_WALK, STARTS_WALK_SAID, 5),
    ("pair_walked.py:Pair", PAIR_WALK, PAIR_WALK_SAID, 0),
]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("walk", WALKS, ids=lambda walk: str(walk[0]))
def test_a_script_is_answered_word_for_word(
    walk: tuple[str, str, str, int],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    target, script, said, code = walk
    assert walked(script, target, monkeypatch=monkeypatch) == code
    assert capsys.readouterr() == (said, "")


@pytest.mark.usefixtures("folder")
def test_the_answer_has_the_walk(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert walked("0\n1\n", "gate_walked.py", "--json", "-", monkeypatch=monkeypatch) == 0
    trace = [
        {"state": {"state": "OPEN", "n": 0}},
        {"event": "shut", "args": {}, "changed": {"state": "SHUT", "n": 1}},
        {
            "event": "open",
            "args": {"card": {"$": "Card", "number": 1}, "twice": True},
            "changed": {"state": "OPEN"},
        },
    ]
    assert json.loads(capsys.readouterr().out) == {
        "version": 1,
        "command": "shell",
        "machines": [{"machine": "Gate", "path": [0, 0, 1], "trace": trace}],
    }
    assert walked("0\nnope\n", "gate_walked.py", "--quiet", monkeypatch=monkeypatch) == 5
    assert capsys.readouterr() == ("", "")


def test_an_exported_test_fails_while_the_walk_breaks_the_property(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = "export test early.py\nshut\nopen twice=true card=Card(number=2)\nshut\n"
    told = walked(f"{script}export test made.py\nquit\n", "gate_walked.py", monkeypatch=monkeypatch)
    said = "no property fails at the end of this path: a test would say nothing\n"
    assert (told, capsys.readouterr().out.count(said)) == (5, 1)
    assert not (folder / "early.py").exists()
    made = (folder / "made.py").read_text(encoding="utf-8")
    assert made.startswith(
        '"""A counterexample that `lawful shell gate_walked.py` found: below_two'
    )
    names: dict[str, Any] = {"__file__": str(folder / "made.py")}
    exec(compile(made, "made.py", "exec"), names)
    with pytest.raises(AssertionError, match="as before, after 3 events"):
        names["test_below_two"]()
    # From a folder below that of the declaration, whatever the current one is.
    below = folder / "tests" / "found"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    names["__file__"] = str(below / "made.py")
    exec(compile(made, "made.py", "exec"), names)
    with pytest.raises(AssertionError, match="as before, after 3 events"):
        names["test_below_two"]()


def test_a_target_is_looked_for_in_the_folders_above(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    for folder in (tmp_path, tmp_path / "a"):
        (folder / "shop").mkdir()
        (folder / "shop" / "order.py").touch()
    assert in_folder("shop/order.py:M", deep) == f"{tmp_path / 'a' / 'shop' / 'order.py'}:M"
    assert in_folder("shop.order:M", deep) == "shop.order:M"
    assert sys.path[0] == str(tmp_path / "a")
    assert in_folder("shop.other", tmp_path) == "shop.other"
    assert in_folder("other.py", deep) == str(deep / "other.py")


def test_arguments_are_read_as_they_are_shown_or_as_json() -> None:
    assert read_call("go") == Call("go", ())
    assert read_call("go()") == Call("go", ())
    assert read_call("go (1, 2)") == Call("go", (("", "1"), ("", "2")))
    assert read_call("go m=Ack(seqno=1, of=a),x=[1, 2]  {1: 2}") == Call(
        "go", (("m", "Ack(seqno=1, of=a)"), ("x", "[1, 2]"), ("", "{1: 2}"))
    )
    assert read_call('go "a, (b" (1,)') == Call("go", (("", '"a, (b"'), ("", "(1,)")))
    with pytest.raises(WrongCommand, match="a bracket or quote that is not closed"):
        read_call('go "a')


def test_true_is_no_number() -> None:
    assert is_value("True", True)
    assert is_value("true", True)
    assert is_value("Ack(seqno=1,of=a)", {"$": "Ack", "seqno": 1, "of": "a"})
    assert is_value('{"$": "Ack", "seqno": 1}', {"$": "Ack", "seqno": 1})
    assert not is_value("1", True)
    assert not is_value("0", False)


@pytest.mark.usefixtures("folder")
def test_equal_seeds_take_the_same_walk(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = "walk 4 7\npath\nstart\nwalk 4 7\npath\nwalk 9\nwalk x\nwalk 1001\n"
    assert walked(script, "gate_walked.py", monkeypatch=monkeypatch) == 5
    lines = capsys.readouterr().out.splitlines()
    first = lines.index("random walk with seed 7:")
    second = lines.index("random walk with seed 7:", first + 1)
    begun = lines[first : second - 2]  # Behind it the state to which `start` goes back.
    assert begun == lines[second : second + len(begun)]
    assert begun[1] == "  1  shut()"
    assert re.fullmatch("0.0.[01].0.[0-3]", begun[-1])
    # To be shut a third time leaves the scope.
    assert lines[-5:] == [
        "random walk with seed 1:",
        "no further event leads to a state within the scope",
        "walk takes a number of events and a seed, not 'x'",
        "a random walk has at most 1,000 events, not 1,001",
        "Gate: 4 events after the start",
    ]


def test_an_event_with_the_name_of_a_command_is_the_event(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "gate.py"
    text = GATE.replace("def shut(", "def start(").replace("def open(", "def quit(")
    path.write_text(text, encoding="utf-8")
    lines = "start\n:start\nstart()\nwhy start\n:state\nquit(Card(number=1), True)\n:quit\n:start\n"
    monkeypatch.setattr("sys.stdin", io.StringIO(lines))
    main(["shell", str(path)])
    said = capsys.readouterr().out
    assert re.findall("refused: state is SHUT|state = \\w+", said) == [
        *("state = OPEN", "state = SHUT", "state = OPEN", "state = SHUT"),
        *("refused: state is SHUT", "state = SHUT", "state = OPEN"),
    ]
