"""Random methods of a machine whose values are records of each kind, unions of them, and enums with
methods."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from tests.agree.everyday import frames, matches, methods
from tests.agree.everyday.methods import Lines, Method
from tests.agree.everyday.values import Kind

FRAME = f"""\
from dataclasses import dataclass
from enum import IntEnum, StrEnum, auto
from typing import NamedTuple

{frames.KINDS}class Level(IntEnum):
    LOW = 1
    MID = 2
    HIGH = 3

    def up(self) -> Level:
        if self is Level.LOW:
            return Level.MID
        return Level.HIGH

    @property
    def steep(self) -> bool:
        return self >= Level.MID


class Way(StrEnum):
    CASH = auto()
    CARD = auto()

    def other(self) -> Way:
        return Way.CARD if self is Way.CASH else Way.CASH


@dataclass(frozen=True)
class Money:
    amount: int = 0
    way: Way = Way.CASH

    def plus(self, n: int) -> Money:
        return replace(self, amount=self.amount + n)

    @property
    def large(self) -> bool:
        return self.amount > 1 or self.way is Way.CARD


class Idle(Record):
    busy: bool = False

    def rank(self, n: int = 2) -> int:
        return n


class Running(Record):
    since: int
    by: int | None = None

    def rank(self, n: int = 1) -> int:
        return self.since + n if self.by is None else n

    @property
    def busy(self) -> bool:
        return self.since > 0


class Failed(NamedTuple):
    why: Way
    tries: int = 0

    @property
    def busy(self) -> bool:
        return self.tries > 1

    def rank(self, n: int = 0) -> int:
        return self.tries if self.why is Way.CARD else n


class M(Machine):
    phase: Idle | Running | Failed = Idle()
    level: Level = Level.LOW
    way: Way = Way.CASH
    held: dict[int, Money] = {{}}
    owner: dict[Way, Money | None] = {{}}
    last: Money | None = None
    log: Annotated[list[Money], MaxLen(3)] = []
    moves: Annotated[list[tuple[int, Level]], MaxLen(3)] = []
{frames.VARIABLES}    def _note(self, x: int) -> None:
        self.n = x
        if isinstance(self.phase, Running):
            self.phase = replace(self.phase, by=x)

    def _best(self) -> Money | None:
        return max(self.log, key=lambda m: m.amount, default=None)

    @property
    def tries(self) -> int:
        match self.phase:
            case Failed(tries=t):
                return t
            case Running(since=s, by=None):
                return s
            case _:
                return 0

    @transition
    def pay(self, k: Nat, j: Nat) -> None:
        self.held[k] = Money(j, Way.CARD if k else Way.CASH)
        self.log.append(Money(j))
        self.moves.append((k, self.level))
        self.owner[self.way] = self.held.get(j)
        self.phase = Running(k) if j == 1 else Failed(self.way, j)
        self.level = self.level.up()

"""
READ: dict[Kind, list[str]] = {
    "int": ["self.tries", "self.level.value", "self.phase.rank()", "self.phase.rank(n=self.n)"],
    "bool": [
        "self.level.steep",
        "self.phase.busy",
        "(self.level > Level.LOW)",
        "(self.way is Way.CARD)",
    ],
}
MONEY = ("Money()", "Money({0})", "Money({0}, self.way)", "Money(amount={0}, way=self.way.other())")


class Records(Method):
    """Writes the statements of one method."""

    def money(self) -> str:
        """A record."""
        x = self.number(1)
        made = self.rng.choice(MONEY).format(x)
        found = f"self.held.get({x}, {made})"
        return self.rng.choice([made, found, f"{found}.plus({self.number(0)})"])

    def rows(self) -> Sequence[Callable[[Any], Lines]]:
        return (*FLAT, *(NESTED if self.depth < 3 else ()))

    def named(self, name: str) -> None:
        """Note what can be read of a record with this name."""
        self.known("int", f"{name}.amount")
        self.known("bool", f"{name}.large")


def _assign(b: Records) -> Lines:
    x = b.number(1)
    return [
        b.rng.choice(
            [
                f"self.phase = Running({x})",
                f"self.phase = Running({x}, by={b.option(1)})",
                f"self.phase = Failed(self.way, {x})",
                f"self.phase = Failed(why=Way.CARD, tries={x})",
                "self.phase = Idle()",
                "self.phase = self.phase._replace(why=self.way)"
                " if isinstance(self.phase, Failed) else Idle()",
                f"self.phase = Idle() if {b.truth(1)} else Running({x})",
                f"self.level = Level.MID if {b.truth(1)} else self.level.up()",
                "self.level = max(self.level, Level.MID)",
                "self.level = min(self.level.up(), self.level, Level.HIGH)",
                "self.way = self.way.other()",
                f"self.held[{x}] = {b.money()}",
                f"self.owner[self.way] = {b.money()}",
                f"self.owner[Way.CASH] = self.held.get({x})",
                f"self.last = {b.money()}",
                f"self.last = replace(self.last, amount={x}) if self.last else None",
                f"self.last = self.last and self.last.plus({x})",
                "self.last = self._best()",
                f"self.log.append({b.money()})",
                f"self.log = [m.plus({x}) for m in self.log if not m.large]",
                "self.log.sort(key=lambda m: -m.amount)",
                "self.log = sorted(self.log, key=lambda m: (m.way, m.amount), reverse=True)",
                f"self.moves.append(({x}, self.level))",
                "self.moves.sort(key=lambda e: (e[1], -e[0]))",
                f"self.moves = [(n + {x}, at) for n, at in self.moves if at is not self.level]",
                f"self.held.pop({x}, None)",
                f"self.held = {{e: m for e, m in self.held.items() if m.amount != {x}}}",
            ]
        )
    ]


def _match(b: Records) -> Lines:
    s, w, t = b.name(), b.name(), b.name()
    kept = b.kept()
    lines = ["match self.phase:"]
    cases: list[tuple[str, dict[Kind, str]]] = [
        ("Idle()", {}),
        (f"Running(since={s}, by=None)", {"int": s}),
        (f"Running({s}, {w})", {"int": s, "opt": w}),
        ("Running(since=0 | 1)", {}),
        (f"Running(by={w}) if {b.truth(1)}", {"opt": w}),
        (f"Failed(why=Way.CARD, tries={t})", {"int": t}),
        (f"Failed(tries={t}) if {t} > {b.number(0)}", {"int": t}),
        ("Failed()", {}),
        ("Idle() | Failed()", {}),
    ]
    for pattern, known in b.rng.sample(cases, b.rng.randint(1, 4)):
        for kind, name in known.items():
            b.known(kind, name)
        lines += [f"    case {pattern}:", *(f"    {line}" for line in b.inner())]
        b.names = {kind: list(names) for kind, names in kept.items()}
    if b.rng.random() < 0.6:
        lines += ["    case _:", *(f"    {line}" for line in b.inner())]
    b.names = kept
    return lines


def _is_instance(b: Records) -> Lines:
    kept, taken = b.kept(), list[str]()
    if b.rng.random() < 0.5:
        b.known("int", "self.phase.since")
        b.known("opt", "self.phase.by")
        test = "isinstance(self.phase, Running)"
    else:
        b.known("int", "self.phase.tries")
        test = "isinstance(self.phase, Failed)"
        if b.rng.random() < 0.5:
            tries = b.name()
            taken = [f"    {b.name()}, {tries} = self.phase"]
            b.known("int", tries)
    if b.rng.random() < 0.3:
        test = f"{test} and {b.truth(1)}"
    lines = [f"if {test}:", *taken, *b.inner()]
    b.names = kept
    return lines


def _looks_up(b: Records) -> Lines:
    name = b.name()
    found = b.rng.choice(
        [
            f"self.held.get({b.number(0)})",
            "self.owner.get(self.way)",
            "self.last",
            "self._best()",
            "next((m for m in self.log if m.large), None)",
        ]
    )
    if b.rng.random() < 0.5:
        test = b.rng.choice([f"{name} is None", f"not {name}", f"{name} is None or {name}.large"])
        b.named(name)
        return [f"{name} = {found}", f"if {test}:", f"    return {b.option(0)}"]
    kept = b.kept()
    b.named(name)
    test = b.rng.choice([name, f"{name} is not None", f"{name} and {name}.amount < {b.number(0)}"])
    lines = [f"{name} = {found}", f"if {test}:", *b.inner(3)]
    b.names = kept
    return lines


def _over(b: Records) -> Lines:
    key, name = b.name(), b.name()
    kept = b.kept()
    match b.rng.randrange(5):
        case 0:
            head = f"for {key}, {name} in sorted(self.held.items()):"
            b.known("int", key)
        case 1:
            head = f"for {key}, {name} in self.held.items():"
            b.known("int", key)
        case 2:
            head = f"for {name} in self.log:"
        case 3:
            head = f"for {key}, {name} in enumerate(self.log, start={b.rng.randrange(2)}):"
            b.known("int", key)
        case _:
            head = f"for {key}, {name} in self.moves:"
            b.known("int", key)
            b.known("bool", f"{name}.steep")
    if "moves" not in head:
        b.named(name)
    lines = [head, *b.looped()]
    b.names = kept
    return lines


def _counted(b: Records) -> Lines:
    name, x = b.name(), b.number(0)
    value = b.rng.choice(
        [
            "sum(m.amount for m in self.held.values())",
            f"sum(1 for m in self.log if m.amount > {x})",
            "max((m.amount for m in self.log), default=0)",
            "len({m.way for m in self.held.values()})",
            "sum(at for _, at in self.moves)",
            "min(self.held, key=lambda e: (self.held[e].amount, e), default=0)",
            f"len([m for m in self.log if m == Money({x})])",
            f"self.log.count(Money({x}))",
        ]
    )
    b.known("int", name)
    return [f"{name} = {value}"]


FLAT: tuple[Callable[[Any], Lines], ...] = (
    *[_assign] * 6,
    _counted,
    _counted,
    methods.local,
    methods.update,
    methods.leave,
    methods.helper,
)
NESTED: tuple[Callable[[Any], Lines], ...] = (
    _match,
    _match,
    _is_instance,
    _looks_up,
    _looks_up,
    _over,
    _over,
    methods.branch,
    methods.over_numbers,
    matches.match_opt,
    matches.match_list,
)


def module(seed: str) -> str:
    """The text of the machine of a seed."""
    known: dict[Kind, list[str]] = {kind: [*READ[kind]] for kind in READ}
    return methods.text(FRAME, Records(Random(seed), known))
