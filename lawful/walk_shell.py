"""The prompt of `lawful shell`: its commands, and the arguments of events as one writes them."""

from __future__ import annotations

import cmd
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path as File
from typing import Any, NamedTuple, TextIO

from lawful.checks.explore.limits import OutOfBudget
from lawful.checks.explore.traces import trace_json
from lawful.checks.explorer.explorer_server import MOST_EVENTS, read_path
from lawful.checks.explorer.walked_path import CLAUSES, MOST, NoPath, Path, WalkedPath
from lawful.checks.report.lines import event_text, table, trace_text
from lawful.spec.ir import Json
from lawful.spec.text.reasons import text as value_text

Export = Callable[[Path], Mapping[str, Json]]
Rows = Iterable[Mapping[str, Any]]
OPEN, CLOSE = "([{", ")]}"
TOO_LONG = "there was no time to try every argument; give all of them"


class WrongCommand(ValueError):
    """A command of the prompt cannot be done; the text says why."""


class Call(NamedTuple):
    """An event with some of its arguments: their names, empty by position, and their texts."""

    event: str
    args: tuple[tuple[str, str], ...]

    def fits(self, names: Sequence[str], args: Mapping[str, Json]) -> bool:
        """Whether arguments have every value that the call gives."""
        given = [(key or names[n], text) for n, (key, text) in enumerate(self.args)]
        return all(key in args and is_value(text, args[key]) for key, text in given)


class WalkShell(cmd.Cmd):
    """Reads commands, from a terminal or a script, and keeps the path on which one walks."""

    doc_header = (
        "Commands (help COMMAND says more). A number or an event alone is a step;"
        " where an event has a command's name, :NAME is the command."
    )

    def __init__(self, walked: WalkedPath, exports: Mapping[str, Export], out: TextIO) -> None:
        super().__init__(stdin=sys.stdin, stdout=out)
        self.walked = walked
        self.exports = exports
        self.path: Path = ()
        self.failed = False
        self.interactive = sys.stdin.isatty()
        self.use_rawinput = self.interactive
        self.prompt = f"{walked.space.machine.name}> " if self.interactive else ""

    @property
    def place(self) -> str:
        """Where the walk is, in words."""
        if not self.path:
            return "before any start"
        count = len(self.path) - 1
        return f"{count} event{'s' * (count != 1)} after the start" if count else "at the start"

    # What `cmd` calls.

    def preloop(self) -> None:
        """Begin at the only start, or list the starts."""
        starts: Any = self._view(())["starts"]
        if len(starts) == 1:
            self.path = (0,)
        self.onecmd(":state")

    def precmd(self, line: str) -> str:
        """The end of the input is the command `quit`."""
        return ":quit" if line == "EOF" else line

    def emptyline(self) -> bool:
        """An empty line does nothing."""
        return False

    def onecmd(self, line: str) -> bool:
        """Do one command; what cannot be done is said, and the next command is read."""
        try:
            return bool(super().onecmd(self._as_command(line.strip())))
        except OutOfBudget:
            self._fail(TOO_LONG)
        except (WrongCommand, NoPath) as error:
            self._fail(str(error))
        return False

    def _as_command(self, line: str) -> str:
        """The line as a command: an event is a step, also one that has the name of a command."""
        if line.startswith(":"):
            return line[1:]
        found = re.match(r"\w+", line)
        name = found.group() if found else ""
        hidden = hasattr(self, f"do_{name}") and self.walked.parameters(name) is not None
        return f"step {line}" if hidden else line

    def default(self, line: str) -> None:
        """A number or an event is a step."""
        call = read_call(line)
        if not line.isdigit() and self.walked.parameters(call.event) is None:
            raise WrongCommand(f"{line!r} is no command and no event; `help` lists the commands")
        self.do_step(line)

    def completedefault(self, *ignored: Any) -> list[str]:
        """The events that begin with the first argument, the word at the cursor."""
        text = str(ignored[0])
        names = (name for _, row in self.walked.space.rules for name in (row.event, row.name))
        return [name for name in dict.fromkeys(names) if name.startswith(text)]

    # Commands.

    def do_step(self, line: str) -> None:
        """step N | step EVENT [ARGUMENTS]: take an enabled event, by its number or by its name.

        Arguments are written as they are shown, `step ack(m=Ack(seqno=1))`, or apart, `step ack 1`.
        Those that only one enabled event fits can be left out.
        """
        self._require_start()
        if line.isdigit():
            wanted = int(line)
            events: Rows = self.walked.events(self.path)
            found = [row for row in events if row["index"] == wanted]
            if not found:
                raise WrongCommand(f"there is no event {line}; `enabled` lists the events")
        else:
            call = self._call(line)
            found = list(self._fitting(call, self.walked.events(self.path)))
        if not found:
            self.do_why(line)
        elif found[1:]:
            self._say("several events are so; take one by its number:", *map(_event, found[:MOST]))
            self.failed = True
        else:
            self._take(found[0])

    def do_walk(self, line: str) -> None:
        """walk [EVENTS [SEED]]: a random walk, of 10 events and with seed 1 unless given.

        Equal seeds walk equally, here and on the page of `lawful explore`.
        """
        given = line.split()
        if len(given) > 2 or not all(word.isdigit() for word in given):
            raise WrongCommand(f"walk takes a number of events and a seed, not {line!r}")
        events, seed = (*map(int, given), *(10, 1)[len(given) :])
        if events > MOST_EVENTS:
            raise WrongCommand(f"a random walk has at most {MOST_EVENTS:,} events, not {events:,}")
        self._require_start()
        before = len(self.path)
        path = self.walked.random_walk(self.path, seed, events)
        self._say(f"random walk with seed {seed}:")
        for length in range(before, len(path)):
            self.path = path[: length + 1]
            self._say_step()
        if len(path) - before < events:
            self._say("no further event leads to a state within the scope")

    def do_start(self, line: str) -> None:
        """start [N]: go back to the start, or take the start with this number."""
        if not line.isdigit() and line:
            raise WrongCommand(f"start takes a number, not {line!r}")
        path = (int(line),) if line else self.path[:1]
        if path:
            self.walked.state(path)
        self.path = path
        self.do_state("")

    def do_back(self, line: str) -> None:
        """back [N]: undo the last event, or the last N events."""
        count = int(line) if line.isdigit() else 1
        if line and not line.isdigit():
            raise WrongCommand(f"back takes a number, not {line!r}")
        if count >= len(self.path):
            raise WrongCommand(f"back {count}: the walk is {self.place}")
        self.path = self.path[: len(self.path) - count]
        self.do_state("")

    def do_goto(self, line: str) -> None:
        """goto PATH: walk by numbers, as `path` and the address of the explorer have them."""
        path = read_path(line)
        for length in range(1, len(path) + 1):
            self.walked.state(path[:length])
        self.path = path
        self.do_state("")

    def do_path(self, _line: str) -> None:
        """path: the numbers of the start and of the events, for `goto`."""
        self._require_start()
        self._say(".".join(map(str, self.path)))

    def do_state(self, _line: str) -> None:
        """state: the variables, and the timers of a machine with a clock."""
        view = self._view(self.path)
        if not self.path:
            starts: Any = view["starts"]
            if not starts:
                raise WrongCommand("the machine has no start within its scope")
            self._say("several starts; take one with `start N`:")
            self._say(*(f"{row['index']:>3}  {_call_text(row)}  {_state(row)}" for row in starts))
            self._say_more(view)
            return
        states: Any = view["state"]
        timers: Any = view["timers"]
        lanes: Any = view["lanes"]
        parts = {lane["name"].partition("[")[0] for lane in lanes}
        shown = {name: value for name, value in states.items() if name not in parts}
        for lane in lanes:
            shown.update((f"{lane['name']}.{name}", each) for name, each in lane["state"].items())
        variables = ((name, value) for name, value in shown.items() if name not in timers)
        self._say(*(f"{name} = {value_text(value)}" for name, value in variables))
        self._say(*(f"{name}: {left}" for name, left in timers.items()))
        self._say(*self._failing())

    def do_enabled(self, _line: str) -> None:
        """enabled: the events that are possible here, with their numbers."""
        self._require_start()
        view: Any = self._view(self.path)
        self._say(*map(_event, view["enabled"]))
        if not view["enabled"]:
            self._say("no event is enabled")
        self._say_more(view)

    def do_refused(self, _line: str) -> None:
        """refused: each transition that no argument tried enables, with the clause that refuses."""
        self._require_start()
        view: Any = self._view(self.path)
        for row in view["refused"]:
            clauses = [_because(each) for each in row["because"]]
            self._say(f"{_name(row)}: {'; or '.join(clauses) or 'it has no arguments to try'}")
        if not view["refused"]:
            self._say("no transition is refused for all its arguments")
        self._say_more(view)

    def do_why(self, line: str) -> None:
        """why EVENT [ARGUMENTS]: why the event is refused here."""
        self._require_start()
        call = self._call(line)
        enabled = [*self._fitting(call, self.walked.events(self.path))]
        self._say(*(f"enabled: {_event(row).strip()}" for row in enabled[:MOST]))
        clauses: dict[str, str] = {}
        names, example = self.walked.parameters(call.event) or [], ""
        try:
            for row in self.walked.refusals(self.path, call.event):
                example = example or _call_text(row)
                if not call.fits(names, row["args"]):
                    continue
                clauses.setdefault(f"{row['transition']} {row['clause']}", _refusal(row))
                if len(clauses) == CLAUSES:
                    break
        except ValueError as error:  # Too many arguments to enumerate.
            raise WrongCommand(str(error)) from error
        self._say(*clauses.values())
        if not enabled and not clauses:
            like = f"; the form is {example}" if example else ""
            raise WrongCommand(f"no argument within the scope is so{like}")

    def do_properties(self, _line: str) -> None:
        """properties: what each property says of this state, or of the step to it."""
        self._require_start()
        view: Any = self._view(self.path)
        rows = [(row["name"], row["kind"], row["now"], row["why"]) for row in view["properties"]]
        self._say(*table(rows))
        self._say_more(view)

    def do_trace(self, _line: str) -> None:
        """trace: the walk from its start, with what each event changed."""
        self._require_start()
        self._say(*trace_text(self.walked.trace(self.path)))

    def do_export(self, line: str) -> None:
        """export test|sequence|json [FILE]: the walk as a test, a sequence diagram, or JSON.

        A test fails as long as the walk breaks the property that it breaks now.
        """
        self._require_start()
        kind, _, file = line.partition(" ")
        if kind == "json":
            text = json.dumps(trace_json(self.walked.trace(self.path)), indent=1) + "\n"
        elif kind in self.exports:
            text = str(self.exports[kind](self.path)["text"])
        else:
            known = ", ".join([*self.exports, "json"])
            raise WrongCommand(f"export takes a kind and a file; the kinds are {known}")
        if file.strip() not in ("", "-"):
            try:
                File(file.strip()).write_text(text, encoding="utf-8")
            except OSError as error:
                raise WrongCommand(f"cannot write {file.strip()}: {error.strerror}") from error
            self._say(file.strip())
        else:
            self.stdout.write(text)

    def do_quit(self, _line: str) -> bool:
        """quit: end; Ctrl-D does the same."""
        return True

    def complete_export(self, text: str, *_: object) -> list[str]:
        """The kinds that begin so."""
        return [kind for kind in (*self.exports, "json") if kind.startswith(text)]

    # Parts of them.

    def _take(self, row: Mapping[str, Any]) -> None:
        if row["fault"] is not None:
            self._say(_event(row).strip())
            return
        self.path = (*self.path, row["index"])
        self._say_step(_cut(row))

    def _say_step(self, cut: str = "") -> None:
        """The last event of the path, what it changed, and the properties that fail after it."""
        step = self.walked.last_step(self.path)
        self._say(f"{len(self.path) - 1:>3}  {event_text(step)}{cut}")
        self._say(*(f"       {name} = {value_text(value)}" for name, value in step.changed.items()))
        self._say(*(f"     {line}" for line in self._failing()))

    def _failing(self) -> Iterator[str]:
        for name, _, why in self.walked.failing(self.path):
            yield f"{name} fails: {why}"

    def _call(self, line: str) -> Call:
        """The call that a line has. Raises WrongCommand for an event or argument that is not."""
        call = read_call(line)
        names = self.walked.parameters(call.event)
        if names is None:
            rows = (row.event for _, row in self.walked.space.rules)
            known = ", ".join(dict.fromkeys(rows))
            raise WrongCommand(f"there is no event {call.event or line!r}; the events are {known}")
        have = ", ".join(names) or "none"
        if len(call.args) > len(names):
            raise WrongCommand(f"{call.event} has {len(names)} arguments: {have}")
        for key, _ in call.args:
            if key and key not in names:
                raise WrongCommand(f"{call.event} has no argument {key}; it has {have}")
        return call

    def _fitting(self, call: Call, rows: Rows) -> Iterator[Mapping[str, Any]]:
        names = self.walked.parameters(call.event) or []
        for row in rows:
            named = call.event in (row["event"], row["transition"])
            if named and call.fits(names, row["args"]):
                yield row

    def _view(self, path: Path) -> dict[str, Json]:
        return self.walked.view(path)

    def _require_start(self) -> None:
        if not self.path:
            raise WrongCommand("the walk has no start yet; `start N` takes one")

    def _say_more(self, view: Mapping[str, Any]) -> None:
        if view["more"]:
            self._say(f"there may be more: {MOST} events and some seconds are the most of one view")

    def _say(self, *lines: str) -> None:
        self.stdout.write("".join(f"{line}\n" for line in lines))

    def _fail(self, why: str) -> None:
        self.failed = True
        self._say(why)


def read_call(text: str) -> Call:
    """An event and arguments: `ack(m=Ack(seqno=1))`, `ack m=Ack(seqno=1)` or `ack 1 2`.

    Raises WrongCommand where brackets or quotes are not closed.
    """
    found = re.match(r"\s*(\w*)\s*(.*?)\s*$", text, re.DOTALL)
    assert found is not None
    name, rest = found.groups()
    if rest.startswith("(") and rest.endswith(")") and len([*_pieces(rest)]) == 1:
        rest = rest[1:-1]
    args: list[tuple[str, str]] = []
    for piece in _pieces(rest):
        named = re.match(r"(\w+)=(.*)", piece, re.DOTALL)
        args.append((named[1], named[2]) if named else ("", piece))
    return Call(name, tuple(args))


def _pieces(text: str) -> Iterator[str]:
    """The parts between commas and spaces that stand in no brackets or quotes."""
    depth, quoted, piece = 0, False, ""
    for char in text:
        quoted ^= char == '"'
        depth += 0 if quoted else (char in OPEN) - (char in CLOSE)
        if depth == 0 and not quoted and (char == "," or char.isspace()):
            if piece:
                yield piece
            piece = ""
        else:
            piece += char
    if depth or quoted:
        raise WrongCommand(f"{text!r} has a bracket or quote that is not closed")
    if piece:
        yield piece


def is_value(text: str, value: Json) -> bool:
    """Whether a text is the value: as it is shown, spaces aside, or as its JSON form."""
    if re.sub(r"\s", "", text) == re.sub(r"\s", "", value_text(value)):
        return True
    try:
        told: object = json.loads(text)
    except ValueError:
        return False
    return type(told) is type(value) and told == value


def _call_text(row: Mapping[str, Any]) -> str:
    args = ", ".join(f"{name}={value_text(value)}" for name, value in row["args"].items())
    return f"{row['event']}({args})"


def _name(row: Mapping[str, Any]) -> str:
    served = row["transition"] != row["event"]
    return f"{row['event']} by {row['transition']}" if served else str(row["event"])


def _event(row: Mapping[str, Any]) -> str:
    served = f" by {row['transition']}" if row["transition"] != row["event"] else ""
    fault = f"  ends in a fault: {row['fault']}" if row["fault"] is not None else ""
    return f"{row['index']:>3}  {_call_text(row)}{served}{fault}{_cut(row)}"


def _cut(row: Mapping[str, Any]) -> str:
    return f"  leaves the scope: {row['cut']}" if row["cut"] is not None else ""


def _refusal(row: Mapping[str, Any]) -> str:
    served = f" by {row['transition']}" if row["transition"] != row["event"] else ""
    return f"{_call_text(row)}{served} is refused: {row['clause']}"


def _because(row: Mapping[str, Any]) -> str:
    args = ", ".join(f"{name}={value_text(value)}" for name, value in row["args"].items())
    return f"{row['clause']} ({args})" if args else str(row["clause"])


def _state(row: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value_text(value)}" for name, value in row["state"].items())
