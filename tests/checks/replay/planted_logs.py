"""Small logs in the forms of other systems, with planted faults and the verdicts known of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

from lawful import Clock, Machine, Nat, State, require, terminal, transition


class Payment(Machine):
    """A payment, in cents."""

    authorized: Nat = 0
    captured: Nat = 0

    @transition()
    def authorize(self, cents: Nat) -> None:
        require(self.authorized == 0, "authorized twice")
        self.authorized = cents

    @transition()
    def capture(self, cents: Nat) -> None:
        require(self.captured + cents <= self.authorized, "more than authorized")
        self.captured += cents

    @terminal
    def settled(self) -> bool:
        return self.captured > 0


PAYMENTS = """merchant;txn;type;amount;booked at
M1;1;AUTH;12.50;01.03.2026 12:00:00
M1;1;CAPTURE;12.5;01.03.2026 12:00:00
M1;2;CAPTURE;0.01;01.03.2026 12:00:01
M2;1;AUTH;7;01.03.2026 12:00:02
M2;2;AUTH;n/a;01.03.2026 12:00:03
M2;3;AUTH;7.001;01.03.2026 12:00:04
"""
OF_PAYMENTS: dict[str, Any] = {
    "instance": "$.key",
    "event": "$.type",
    "time": "$.booked at",
    "unit": "%d.%m.%Y %H:%M:%S",
    "events": {"AUTH": "authorize", "CAPTURE": "capture"},
    "args": {"authorize": {"cents": "$.amount"}, "capture": {"cents": "$.amount"}},
    "preparation": {
        "format": "csv",
        "delimiter": ";",
        "order": "time",
        "ties": ["AUTH", "CAPTURE"],
        "casts": {"$.amount": "fixed(2)"},
        "fields": {"key": {"$key": ["$.merchant", "$.txn"]}},
    },
}
VERDICTS_OF_PAYMENTS = {
    '["M1","1"]': "fits",
    '["M1","2"]': "deviates",
    '["M2","1"]': "open",
    '["M2","2"]': "quarantined",
    '["M2","3"]': "quarantined",
}


class Session(State):
    OFF = "off"
    ON = "on"
    CLOSED = "closed"


class Client(Machine):
    """A client of an MQTT broker (MQTT 5.0, section 3.1.2.10): the server waits one and a half
    keep-alive times."""

    clock: Clock = Clock(tick=1.0)
    state: Session = Session.OFF
    keep: Nat = 0
    heard: Nat = 0

    @transition(source=Session.OFF, target=Session.ON)
    def connect(self, keep: Nat) -> None:
        self.keep = keep
        self.heard = self.clock.now

    @transition(source=Session.ON, target=Session.ON)
    def ping(self) -> None:
        require(2 * (self.clock.now - self.heard) <= 3 * self.keep, "silent for too long")
        self.heard = self.clock.now

    @transition(source=Session.ON, target=Session.CLOSED)
    def time_out(self) -> None:
        require(2 * (self.clock.now - self.heard) > 3 * self.keep, "too early")

    @terminal
    def closed(self) -> bool:
        return self.state == Session.CLOSED


MONDAY = """1000: mosquitto version 2.0.18 starting
1001: New client connected from 10.1.0.1:3001 as a (p2, c1, k60).
1002: New client connected from 10.1.0.2:3002 as b (p2, c1, k60).
1050: Received PINGREQ from a
"""
TUESDAY = """1100: Received PINGREQ from b
1191: Client a has exceeded timeout, disconnecting.
1250: Received PINGREQ from b
"""
OF_CLIENTS: dict[str, Any] = {
    "instance": "$.client",
    "event": "$.event",
    "time": "$.at",
    "args": {"connect": {"keep": "$.keep"}},
    "preparation": {
        "format": "text",
        "line": r"(?P<at>\d+): (?P<message>.*)",
        "order": "file",
        "pass_unmatched": True,
        "casts": {"$.at": "int", "$.keep": "int"},
        "patterns": [
            {"of": "$.message", "pattern": pattern, "event": event}
            for event, pattern in (
                ("connect", r"^New client .* as (?P<client>\S+) \(.* k(?P<keep>\d+)\)"),
                ("ping", r"^Received PINGREQ from (?P<client>\S+)"),
                ("time_out", r"^Client (?P<client>\S+) has exceeded timeout"),
            )
        ],
    },
}

Owner = Literal["none", "p", "q"]


class Lock(Machine):
    """A lock and those who wait for it."""

    holder: Owner = "none"
    queue: list[Owner] = []

    @transition()
    def request(self, by: Owner) -> None:
        require(by not in self.queue and by != self.holder)
        self.queue = self.queue + [by]

    @transition()
    def grant(self, by: Owner) -> None:
        require(self.holder == "none")
        require(len(self.queue) > 0 and self.queue[0] == by)
        self.queue = self.queue[1:]
        self.holder = by


OF_RUNS: dict[str, Any] = {
    "instance": "$.run",
    "seq": "$.index",
    "event": "$.after.action.tag",
    "events": {"Request": "request", "Grant": "grant"},
    "args": {name: {"by": "$.after.action.value.by"} for name in ("request", "grant")},
    "observed": {"holder": "$.after.holder", "queue": "$.after.queue"},
    "preparation": {"format": "itf", "file": r"(?P<run>run[0-9]+)[.]itf[.]json$"},
}
Step = tuple[str, str, str, list[str]]  # Event, its argument; holder and queue after it.
RUNS: dict[str, list[Step]] = {
    "run1": [("Request", "p", "none", ["p"]), ("Grant", "p", "p", [])],
    "run2": [("Request", "q", "none", ["q"]), ("Grant", "q", "p", [])],
    "run3": [("Grant", "p", "p", [])],
}
VERDICTS_OF_RUNS = {"run1": "fits", "run2": "deviates", "run3": "deviates"}


def write_runs(folder: Path) -> Path:
    """A file of ITF for each run, in a folder."""
    folder.mkdir()
    for run, steps in RUNS.items():
        states: list[Any] = [{"holder": "none", "queue": [], "action": {"tag": "Init"}}]
        for tag, by, holder, queue in steps:
            action = {"tag": tag, "value": {"by": by}}
            states.append({"holder": holder, "queue": queue, "action": action})
        numbered = [{"#meta": {"index": i}, **each} for i, each in enumerate(states)]
        document = {"vars": ["holder", "queue", "action"], "states": numbered}
        (folder / f"{run}.itf.json").write_text(json.dumps(document), encoding="utf-8")
    return folder


class Till(State):
    IDLE = "idle"
    INSERTED = "inserted"
    PAID = "paid"


class Card(Machine):
    """A card in a cash machine."""

    state: Till = Till.IDLE

    @transition(source=Till.IDLE, target=Till.INSERTED)
    def insert(self) -> None: ...

    @transition(source=Till.INSERTED, target=Till.PAID)
    def withdraw(self, amount: Nat, notes: Nat) -> None:
        require(amount == 10 * notes, "dispenses something else")

    @transition(source=(Till.INSERTED, Till.PAID), target=Till.IDLE)
    def eject(self) -> None: ...

    @terminal
    def idle(self) -> bool:
        return self.state == Till.IDLE


OF_CARDS: dict[str, Any] = {
    "instance": "$.card",
    "seq": "$.no",
    "event": "$.op",
    "combine": True,
    "dense": True,
    "first": 1,
    "args": {"withdraw": {"amount": "$.amount", "notes": "$.notes"}},
}


def card(name: str, *rows: tuple[int, str, dict[str, int]]) -> list[dict[str, Any]]:
    """The rows of a card: number, event, what else the row tells."""
    return [{"card": name, "no": no, "op": op, **more} for no, op, more in rows]


ASKED, GIVEN, FEWER = {"amount": 30}, {"notes": 3}, {"notes": 2}
CARDS = [
    *card("a", (1, "insert", {}), (2, "withdraw", ASKED), (2, "withdraw", GIVEN), (3, "eject", {})),
    *card("b", (2, "withdraw", FEWER), (2, "withdraw", ASKED), (1, "insert", {})),
    *card("c", (1, "insert", {}), (3, "eject", {})),
    *card("d", (2, "eject", {})),
    *card("e", (0, "insert", {}), (1, "insert", {}), (2, "eject", {})),
    *card("f", (1, "insert", {}), (1, "insert", {})),
]
VERDICTS_OF_CARDS = {
    "a": "fits",
    "b": "deviates",
    "c": "quarantined",
    "d": "quarantined",
    "e": "quarantined",
    "f": "open",
}
