"""Machines and logs of other programs, with the verdicts that are known of them."""

from __future__ import annotations

from typing import Any

from lawful import Machine, Nat, Param, State, require, terminal, transition
from tests.root import ROOT

FOLDER = ROOT / "tests" / "checks" / "replay" / "foreign"


class Link(State):
    OPEN = "open"
    CLOSED = "closed"


class Connection(Machine):
    """A connection to an OpenSSH server, which gives up after so many wrong passwords."""

    state: Link = Link.OPEN
    failures: Nat = 0
    most: Param[Nat] = 6

    @transition(source=Link.OPEN, target=Link.OPEN)
    def fail(self, times: Nat) -> None:
        require(self.failures + times <= self.most, "more tries than the server allows")
        self.failures += times

    @transition(source=Link.OPEN, target=Link.CLOSED)
    def cut_off(self) -> None:
        require(self.failures == self.most, "cut off before the last try")

    @transition(source=Link.OPEN, target=Link.CLOSED)
    def leave(self) -> None:
        require(self.failures < self.most, "the server leaves first")

    @terminal
    def closed(self) -> bool:
        return self.state == Link.CLOSED


class Phase(State):
    NEW = "new"
    CHECKING = "checking"
    DECIDED = "decided"
    CLOSED = "closed"


class Request(Machine):
    """A request for compensation: it is examined and its ticket is checked before a decision."""

    state: Phase = Phase.NEW
    examined: bool = False
    checked: bool = False
    cost: Nat = 0

    @transition(source=Phase.NEW, target=Phase.CHECKING)
    def register(self, cost: Nat) -> None:
        self.cost = cost

    @transition(source=Phase.CHECKING, target=Phase.CHECKING)
    def examine(self, cost: Nat, thorough: bool) -> None:
        require(not self.examined, "examined twice")
        require(cost >= 400 or not thorough, "a thorough examination costs more")
        self.examined = True
        self.cost += cost

    @transition(source=Phase.CHECKING, target=Phase.CHECKING)
    def check(self, cost: Nat) -> None:
        require(not self.checked, "checked twice")
        self.checked = True
        self.cost += cost

    @transition(source=Phase.CHECKING, target=Phase.DECIDED)
    def decide(self, cost: Nat) -> None:
        require(self.examined and self.checked, "decided without examination and check")
        self.cost += cost

    @transition(source=Phase.DECIDED, target=Phase.CHECKING)
    def reinitiate(self, cost: Nat) -> None:
        self.examined = False
        self.checked = False
        self.cost += cost

    @transition(source=Phase.DECIDED, target=Phase.CLOSED)
    def close(self, cost: Nat) -> None:
        self.cost += cost

    @terminal
    def closed(self) -> bool:
        return self.state == Phase.CLOSED


class Running(State):
    NOT_YET = "not yet"
    NOW = "now"
    OVER = "over"


class Span(Machine):
    """A span: it starts, is logged about, and ends."""

    state: Running = Running.NOT_YET
    logged: Nat = 0

    @transition(source=Running.NOT_YET, target=Running.NOW)
    def start(self) -> None:
        pass

    @transition(source=Running.NOW, target=Running.NOW)
    def log(self) -> None:
        self.logged += 1

    @transition(source=Running.NOW, target=Running.OVER)
    def end(self) -> None:
        pass

    @terminal
    def over(self) -> bool:
        return self.state == Running.OVER


# The cases of a request in three forms: of each event when it happened, what, and what it cost.
REQUESTS: dict[str, list[tuple[str, str, int]]] = {
    "1": [
        ("2010-12-30T11:02:00+01:00", "register", 50),
        ("2010-12-31T10:06:00+01:00", "examine thoroughly", 400),
        ("2011-01-05T15:12:00+01:00", "check", 100),
        ("2011-01-06T11:18:00+01:00", "decide", 200),
        ("2011-01-07T14:24:00+01:00", "close", 200),
    ],
    "2": [
        ("2010-12-30T11:32:00+01:00", "register", 50),
        ("2010-12-30T12:12:00+01:00", "check", 100),
        ("2011-01-05T11:22:00+01:00", "decide", 200),
    ],
    "3": [
        ("2010-12-30T14:32:00+01:00", "register", 50),
        ("2010-12-30T15:06:00+01:00", "examine casually", 300),
    ],
}
REQUESTED: dict[str, Any] = {
    "event": "$.what",
    "unit": "iso",
    "args": {
        name: {"cost": "$.cost"} for name in ("register", "check", "decide", "reinitiate", "close")
    }
    | {"examine": {"cost": "$.cost", "thorough": "$.thorough"}},
}
PREPARED: dict[str, Any] = {
    "order": "time",
    "casts": {"$.cost": "int"},
    "fields": {
        "thorough": {"$if": {"$.activity": "examine thoroughly"}, "then": True, "else": False},
        "what": {"$find": "^[a-z]+", "in": "$.activity"},
    },
}
VERDICTS = {"1": "fits", "2": "deviates", "3": "open"}


def csv_of_requests() -> str:
    rows = [
        f'{case};"{what}";{at};{cost}'
        for case, events in REQUESTS.items()
        for at, what, cost in reversed(events)
    ]
    return "\n".join(["case;activity;at;cost", *rows, ""])


def xes_of_requests() -> str:
    traces: list[str] = []
    for case, events in REQUESTS.items():
        rows = "".join(
            f'<event><string key="concept:name" value="{what}"/>'
            f'<date key="time:timestamp" value="{at}"/><int key="cost" value="{cost}"/></event>\n'
            for at, what, cost in events
        )
        traces.append(f'<trace><string key="concept:name" value="{case}"/>\n{rows}</trace>')
    head = '<log xes.version="1.0" xmlns="http://www.xes-standard.org/">'
    scope = '<global scope="event"><string key="concept:name" value="?"/></global>'
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{head}{scope}\n{"".join(traces)}</log>\n'
