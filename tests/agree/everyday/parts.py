"""Random methods of a machine that has a part, a family of parts, and a timer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from tests.agree.everyday import frames, matches, methods
from tests.agree.everyday.methods import Lines, Method
from tests.agree.everyday.values import Kind

FRAME = f"""\
{frames.KINDS}class Mode(Enum):
    IDLE = 1
    BUSY = 2
    LOST = 3


class Worker(Machine):
    mode: Mode = Mode.IDLE
    jobs: list[int] = []
    done: dict[int, int] = {{}}
    last: int | None = None
    limit: Param[int] = 2
    silence: Timer = Timer()

    @property
    def free(self) -> bool:
        return self.mode is Mode.IDLE and len(self.jobs) < self.limit

    def load(self) -> int:
        return len(self.jobs) + (1 if self.mode is Mode.BUSY else 0)

    @transition(source=[Mode.IDLE, Mode.BUSY], target=Mode.BUSY)
    def give(self, x: int) -> int:
        require(x not in self.jobs, "twice")
        self.jobs.append(x)
        self.silence.start(3.0)
        return len(self.jobs)

    @transition(source=Mode.BUSY)
    def take(self) -> int | None:
        if not self.jobs:
            self.mode = Mode.IDLE
            self.silence.stop()
            return None
        self.last = self.jobs.pop(0)
        self.done[self.last] = self.done.get(self.last, 0) + 1
        return self.last

    @transition(source=Mode.BUSY, target=Mode.LOST)
    def quiet(self) -> None:
        self.jobs.clear()


class M(Machine):
    one: Worker = Worker()
    staff: dict[int, Worker] = {{}}
    beat: Timer = Timer()
{frames.VARIABLES}    def _note(self, x: int) -> None:
        self.n = x
        for w in self.staff.values():
            if w.free:
                w.give(x)

    def _least(self) -> int | None:
        return min(self.staff, key=lambda d: (self.staff[d].load(), d), default=None)

    @transition
    def hire(self, k: Nat, j: Nat) -> None:
        if k not in self.staff:
            self.staff[k] = Worker(limit=j % 2 + 1)
        self.q.append(k)
        self.m[k] = j
        self.staff[k].give(j)
        self.beat.start(2.0)

    @transition(timer="staff[k].silence")
    def lose(self, k: Nat) -> None:
        self.staff[k].quiet()
        self.opt = k

    @transition(timer="beat")
    def tick(self) -> None:
        self.n += 1

"""
# What the method may read of the part that is always there.
READ: dict[Kind, list[str]] = {
    "int": ["self.one.limit", "self.one.load()"],
    "bool": ["self.one.free", "self.beat.armed", "(self.one.mode is Mode.BUSY)"],
    "opt": ["self.one.last"],
}


class Steps(Method):
    """Writes the statements of one method of a whole."""

    def worker(self) -> str:
        """A part."""
        named = self.names.get("worker", [])
        return self.rng.choice(["self.one", f"self.staff[{self.number(0)}]", *named])

    def rows(self) -> Sequence[Callable[[Any], Lines]]:
        return (*FLAT, *(NESTED if self.depth < 3 else ()))


def _give(b: Steps) -> Lines:
    call = f"{b.worker()}.give({b.number(1)})"
    way = b.rng.randrange(3)
    if way == 0:
        return [call]
    if way == 1:
        return [f"self.n {b.rng.choice(['=', '+='])} {call}"]
    name = b.name()
    b.known("int", name)
    return [f"{name} = {call}"]


def _take(b: Steps) -> Lines:
    call = f"{b.worker()}.take()"
    if b.rng.random() < 0.3:
        return [f"self.opt = {call}"]
    name = b.name()
    b.known("opt", name)
    return [f"{name} = {call}"]


def _where_free(b: Steps) -> Lines:
    w = b.worker()
    return [f"if {w}.free:", f"    {w}.give({b.number(1)})"]


def _over_workers(b: Steps) -> Lines:
    d, w = b.name(), b.name()
    head = b.rng.choice(
        [
            [f"for {w} in self.staff.values():"],
            [f"for {d}, {w} in self.staff.items():"],
            [f"for {d} in sorted(self.staff):", f"    {w} = self.staff[{d}]"],
            [f"for {d} in {b.some('list')}:", f"    {w} = self.staff[{d}]"],
        ]
    )
    kept = b.kept()
    b.known("worker", w)
    b.known("int", f"{w}.load()")
    b.known("bool", f"{w}.free")
    b.known("opt", f"{w}.last")
    if d in head[0]:
        b.known("int", d)
    lines = [*head, *b.looped()]
    b.names = kept
    return lines


def _names_worker(b: Steps) -> Lines:
    w = b.name()
    lines = [f"{w} = self.staff[{b.number(0)}]"]
    b.known("worker", w)
    b.known("int", f"{w}.load()")
    b.known("bool", f"{w}.free")
    return lines


def _best(b: Steps) -> Lines:
    d = b.name()
    lines = [
        f"{d} = "
        + b.rng.choice(
            [
                "min(self.staff, key=lambda d: (self.staff[d].load(), d), default=None)",
                "self._least()",
                "next((d for d in sorted(self.staff) if self.staff[d].free), None)",
                "max((d for d in self.staff if not self.staff[d].free), default=None)",
            ]
        ),
        f"if {d} is None:",
        f"    return {b.option(1)}",
    ]
    b.known("int", d)
    return lines


def _counted(b: Steps) -> Lines:
    name = b.name()
    value = b.rng.choice(
        [
            "sum(len(w.jobs) for w in self.staff.values())",
            "sum(1 for w in self.staff.values() if w.free)",
            f"sum(w.done.get({b.number(0)}, 0) for w in self.staff.values())",
            "len([d for d in self.staff if self.staff[d].mode is Mode.LOST])",
            "max((w.load() for w in self.staff.values()), default=0)",
        ]
    )
    b.known("int", name)
    return [f"{name} = {value}"]


def _hire(b: Steps) -> Lines:
    d = b.number(0)
    return b.rng.choice(
        [
            [
                f"if {d} not in self.staff:",
                f"    self.staff[{d}] = Worker(limit={b.rng.randrange(3)})",
            ],
            [f"self.staff[{d}] = Worker()"],
            [f"if {d} in self.staff:", f"    del self.staff[{d}]"],
        ]
    )


def _timer(b: Steps) -> Lines:
    return [b.rng.choice(["self.beat.start(1.0)", "self.beat.stop()"])]


FLAT: tuple[Callable[[Any], Lines], ...] = (
    _give,
    _give,
    _take,
    _take,
    _where_free,
    _names_worker,
    _best,
    _counted,
    _hire,
    _timer,
    methods.local,
    methods.update,
    methods.leave,
    methods.helper,
    methods.taken,
)
NESTED: tuple[Callable[[Any], Lines], ...] = (
    _over_workers,
    _over_workers,
    methods.branch,
    methods.branch,
    methods.over_numbers,
    methods.emptying,
    matches.match_opt,
    matches.match_list,
)


def module(seed: str) -> str:
    """The text of the machine of a seed."""
    return methods.text(
        FRAME, Steps(Random(seed), {kind: list(names) for kind, names in READ.items()})
    )
