"""Mutants of a machine within the service that embeds it: who notices them without a check.

A table is a text file with a line for each mutant: its identity, who notices it, and the change.
Witnesses are asked in turn: runs of the service in simulated worlds, timelines, the replay of the
journals of both, the tests of the service. A mutant that none of them notices *survives*. One that
changes ghosts alone is not tried: a service runs the machine without them.

Each mutant has a process of its own, a fork of this one, in which the class is compiled from the
mutated machine. It ends after so much processor time, and after so many looks at it in which all
its threads were asleep: then the mutant makes something run, or wait, for ever. Neither depends on
what else the computer does.

A nightly test asks again the witness that the table names, about a sample, and all of them about
what survives; with `MUTANTS=all` about every mutant, which takes hours. With `MUTANTS=write` it
asks first about those that the table has not, or that survive in it, and writes each line at once:
what was interrupted goes on where it was. Without the file, all are new.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import resource
import select
import signal
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType

import pytest

from lawful import Machine
from lawful.checks.mutation.mutants import Mutant, identities, mutants
from lawful.checks.mutation.narrowings import unfounded
from lawful.checks.replay.fold import fold
from lawful.checks.replay.program import ReplayProgram
from lawful.checks.replay.rows import Rejected, Row, journal_line
from lawful.runtime.instances.make import install
from lawful.runtime.journal import Journal
from lawful.spec import ir
from lawful.spec.analysis.ghosts import erased
from lawful.spec.analysis.walk import everything
from lawful.spec.resolve import resolve
from tests.machines.simulated_runs import Run
from tests.root import ROOT

Witness = Callable[[], str]  # What is wrong, seen in the process of a mutant; empty for nothing.
Change = tuple[str, str, str]  # The machine, the row, and the change in words.
PROCESSOR_TIME = 40  # Seconds for one witness.
LOOK, ASLEEP = 1.0, 120  # Seconds between looks at a process; of so many in all it is asleep.
SURVIVED, NO_MACHINE, GHOSTS = "survived", "no machine", "ghosts alone"
WAITS = "waits for ever"
SAMPLE = 40  # Mutants: with what survives, some minutes' work.
WORDS = 90  # Characters of what a witness says that are kept.


@dataclass(frozen=True)
class Embedded:
    """The mutants of machines that a service embeds, and who is asked about them.

    `classes`: those that the service makes instances of, each followed by the classes of its parts.
    `witnesses`: by name, in the order in which they are asked.
    """

    file: Path
    classes: tuple[type[Machine], ...]
    witnesses: Mapping[str, Witness]

    def every(self) -> dict[str, Mutant]:
        """The mutants of the table, by identity; those of a part once."""
        alone = list[Mutant]()
        for cls in self.classes:
            met = {each.owner for each in alone}
            alone += (each for each in mutants(resolve(cls).machine) if each.owner not in met)
        return dict(zip(identities(alone), alone, strict=True))

    def kept(self) -> dict[str, str]:
        """The committed table: by identity, who notices the mutant, and what."""
        lines = self.file.read_text(encoding="utf-8").splitlines() if self.file.exists() else []
        rows = (line.split(" | ") for line in lines if not line.startswith("#"))
        return {name: by for name, by, *_ in rows}

    def survivors(self) -> dict[str, Mutant]:
        """Those that survive in the table."""
        kept = self.kept()
        return {name: each for name, each in self.every().items() if kept[name] == SURVIVED}

    def survived(self) -> set[Change]:
        """What they change."""
        return {(each.owner, each.row, each.change.what) for each in self.survivors().values()}

    def missed(self, *tables: Path) -> set[Change]:
        """What no check notices either, by the tables of the checks."""
        rows = [line.split(" | ") for each in tables for line in each.read_text().splitlines()]
        noticed = {name for name, *by in rows if by and by[0] != SURVIVED}
        left = {name: each for name, each in self.survivors().items() if name not in noticed}
        return {(each.owner, each.row, each.change.what) for each in left.values()}

    def tried(self) -> int:
        """How many mutants of the table change what a service runs, and can be made."""
        return sum(by not in (NO_MACHINE, GHOSTS) for by in self.kept().values())

    def fill(self) -> None:
        """Ask about what the table has not, or what survives in it, and write it."""
        every, found = self.every(), self.kept()
        open_ones = [name for name in every if found.get(name, SURVIVED) == SURVIVED]
        for name in sorted(open_ones, key=found.__contains__):  # What survives takes longest.
            found[name] = self._noticed_by(every[name], self.witnesses)
            rows = (f"{n} | {found[n]} | {every[n].what}\n" for n in every if n in found)
            text = "# A mutant | who notices it, in the service | the change\n" + "".join(rows)
            beside = self.file.with_suffix(".new")
            beside.write_text(text, encoding="utf-8")
            beside.replace(self.file)

    def asked_again(self) -> dict[str, str]:
        """The lines of the table of what survives, and about `SAMPLE` others, all over it."""
        kept = self.kept()
        others = [name for name, by in kept.items() if by not in (SURVIVED, NO_MACHINE, GHOSTS)]
        step = 1 if os.environ.get("MUTANTS") == "all" else max(1, len(others) // SAMPLE)
        some = set(others[::step])
        return {name: by for name, by in kept.items() if by == SURVIVED or name in some}

    def wrong(self) -> list[str]:
        """The lines of the table that are not so, among those that are asked again."""
        every, found = self.every(), list[str]()
        for name, by in self.asked_again().items():
            witness = by.partition(":")[0]
            alone = {n: asked for n, asked in self.witnesses.items() if n == witness}
            now = self._noticed_by(every[name], alone or self.witnesses)
            if now.partition(":")[0] != witness:
                found.append(f"{name} | {now}, not {by} | {every[name].what}")
        return found

    def noticed_as_declared(self) -> str:
        """What a witness notices about the machine that is not changed: `survived` for nothing."""
        return self._noticed_by(None, self.witnesses)

    def _noticed_by(self, mutant: Mutant | None, witnesses: Mapping[str, Witness]) -> str:
        if mutant is not None and unfounded(mutant.made()) - unfounded(mutant.whole):
            return NO_MACHINE  # A declaration with this text is refused.
        if mutant is not None and _changes_ghosts_alone(mutant):
            return GHOSTS
        for name, witness in witnesses.items():
            said = seen(self.classes, mutant, witness)
            if said == NO_MACHINE:
                return said
            if said:
                words = said.replace(f"{ROOT}/", "").replace("|", "or").split()
                return f"{name}: {' '.join(words)[:WORDS]}".strip()
        return SURVIVED


def _changes_ghosts_alone(mutant: Mutant) -> bool:
    """Whether the machine without ghosts is the same, but for what stands in the place of a
    statement that was left out."""
    runs, change = erased(mutant.whole), mutant.change
    if isinstance(change.old, ir.Stmt) and change.operator.startswith("drop"):
        return all(node is not change.old for node in everything((runs,)))
    return erased(mutant.made()) == runs


def seen(classes: tuple[type[Machine], ...], mutant: Mutant | None, witness: Witness) -> str:
    """What the witness says in a process in which the machine is the mutant."""
    # A fork has no watchdog thread, but its lock: pytest would wait for it at a test that fails.
    faulthandler.cancel_dump_traceback_later()
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reads)
        _as_child(classes, mutant, witness, writes)
    os.close(writes)
    found = None
    try:
        found = _heard(child, reads)
    finally:
        os.close(reads)
        if found is None:
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    if found is None:
        return WAITS
    code = os.waitstatus_to_exitcode(status)
    return found if code == 0 else f"ended by {signal.Signals(-code).name}"


def _heard(child: int, reads: int) -> str | None:
    """What the process says until it ends; None where it waits for ever."""
    said, asleep, before = b"", 0, -1
    while asleep < ASLEEP:
        if select.select([reads], [], [], LOOK)[0]:
            part = os.read(reads, 4_096)
            if not part:
                return said.decode(errors="replace")
            said += part
            continue
        used = _used_asleep(child)
        asleep += 0 <= used == before
        before = used
    return None


def _used_asleep(process: int) -> int:
    """The processor time that it has used, in ticks, if all its threads are asleep; otherwise -1.

    A thread that waits for a processor is not asleep. Known on Linux alone.
    """
    used = 0
    for path in Path(f"/proc/{process}/task").glob("*/stat"):
        try:
            state, *rest = path.read_text().rpartition(")")[2].split()
        except OSError:  # The thread has ended just now.
            return -1
        if state != "S":
            return -1
        used += int(rest[10]) + int(rest[11])
    return used


def _as_child(
    classes: tuple[type[Machine], ...], mutant: Mutant | None, witness: Witness, writes: int
) -> None:
    """Say what is found, and end: nothing of the parent's is cleaned up here."""
    resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_TIME, PROCESSOR_TIME + 5))
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    try:
        if mutant is not None:
            _install(classes, mutant)
    except Exception:
        found = NO_MACHINE
    else:
        try:
            found = witness()
        except BaseException as error:
            found = f"{type(error).__name__}: {error}"
    os.write(writes, found.encode()[:4_000])
    os._exit(0)


def _install(classes: tuple[type[Machine], ...], mutant: Mutant) -> None:
    """Compile the classes whose machine, or a part of it, is mutated."""
    whole = mutant.made()
    made = {each.name: each for each in (whole, *whole.parts)}
    changed = [cls for cls in classes if cls.__name__ in made]
    for cls in changed:
        cls.__resolved__ = replace(resolve(cls), machine=made[cls.__name__])
    for cls in reversed(changed):  # Parts first.
        install(cls)


# Witnesses.


def simulation(simulate: Callable[[int], Run], seeds: Iterable[int]) -> Witness:
    """The first promise that is broken in simulated worlds."""

    def witness() -> str:
        for seed in seeds:
            problems = simulate(seed).problems
            if problems:
                return f"seed {seed}: {problems[0]}"
        return ""

    return witness


def replay(
    simulate: Callable[[int, Journal], Run], seeds: Iterable[int], classes: Iterable[type[Machine]]
) -> Witness:
    """The first deviation of the journals of simulated worlds from the classes as declared."""
    program = ReplayProgram(tuple(resolve(cls).machine for cls in classes), any_version=True)

    def witness() -> str:
        for seed in seeds:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "events.jsonl"
                with Journal(path) as journal:
                    simulate(seed, journal)
                rows = [journal_line(line) for line in path.read_bytes().splitlines()]
            if wrong := _deviates(program, rows):
                return f"seed {seed}: {wrong}"
        return ""

    return witness


def retold(
    modules: Iterable[ModuleType],
    record: Callable[[Journal], object],
    classes: Iterable[type[Machine]],
) -> Witness:
    """The first deviation of the journals of these modules' tests from the classes as declared.

    `record`: from now on the machines are given this journal.
    """
    program = ReplayProgram(tuple(resolve(cls).machine for cls in classes), any_version=True)
    tests = [each for module in modules for each in _tests(module).items()]

    def witness() -> str:
        for name, test in tests:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "events.jsonl"
                with Journal(path) as journal, contextlib.suppress(AssertionError):
                    record(journal)
                    test()
                rows = [journal_line(line) for line in path.read_bytes().splitlines()]
            if wrong := _deviates(program, rows):
                return f"{name}: {wrong}"
        return ""

    return witness


def _tests(module: ModuleType) -> dict[str, Callable[[], None]]:
    return {name: each for name, each in vars(module).items() if name.startswith("test_")}


def _deviates(program: ReplayProgram, rows: Iterable[Row | Rejected]) -> str:
    instances = defaultdict[str, list[Row]](list)
    for row in rows:
        assert isinstance(row, Row), row
        instances[row.instance].append(row)
    for instance, own in instances.items():
        found = fold(program, instance, own)
        if found.verdict not in ("fits", "open"):
            at = found.finding
            return found.verdict if at is None else f"{found.verdict}, {at.event}: {at.clause}"
    return ""


def stories(module: ModuleType) -> Witness:
    """The first test of this module that fails; none has arguments. It takes no session of pytest,
    which would take longer than they do."""
    tests = _tests(module)

    def witness() -> str:
        for name, test in tests.items():
            try:
                test()
            except AssertionError:
                return name
        return ""

    return witness


def service_tests(*words: str) -> Witness:
    """The first test that fails; `words` are given to pytest."""

    def witness() -> str:
        first = _First()
        alone = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:lawful"]
        alone += ["-o", "faulthandler_timeout=0"]
        ended = pytest.main([*alone, *words], plugins=[first])
        expected = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
        return first.failed if ended in expected else f"pytest ended with {ended}"

    return witness


class _First:
    """The first test that fails."""

    failed = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self.failed:
            self.failed = report.nodeid.rpartition("::")[2]


def writing() -> bool:
    return os.environ.get("MUTANTS") == "write"
