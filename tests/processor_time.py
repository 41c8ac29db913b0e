"""A pytest plugin: how much processor time each part of the tests took, beside its budget.

Every report carries what its process spent since the report before, child processes included: those
that have ended, and, where the system lists them, those that still run (the JVM of Spark, for one).
To list these takes longer than a small test, so that it is done once a file. The summary names each
part that took more than its budget. That fails nothing, because the same test takes more on a busy
or slow machine.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.house.budgets import BUDGETS, COLLECTING, WHOLE, budgets, part_of
from tests.root import ROOT

NOISE = 1.5  # So many times its budget a part may take before it is named.


def spent() -> float:
    """Seconds of processor time of this process and of its children that have ended."""
    return sum(os.times()[:4])


def running(pid: int) -> float:
    """Seconds of processor time of the children of the process that still run."""
    total = 0.0
    for child in _children(pid):
        try:
            row = Path(f"/proc/{child}/stat").read_text(encoding="utf-8").rpartition(")")[2]
        except OSError:  # It has ended meanwhile.
            continue
        ticks = sum(map(int, row.split()[11:15]))
        total += ticks / os.sysconf("SC_CLK_TCK") + running(child)
    return total


def _children(pid: int) -> Iterator[int]:
    """None where the system does not list them."""
    try:
        paths = [*Path(f"/proc/{pid}/task").glob("*/children")]
    except OSError:  # It has ended meanwhile.
        return
    for path in paths:
        try:
            text = path.read_text(encoding="utf-8")
        except OSError:
            continue
        yield from map(int, text.split())


class Measuring:
    """Measures in the processes that run tests, and sums in the one that reports."""

    def __init__(self, config: pytest.Config) -> None:
        self.before = 0.0
        self.children = 0.0  # What those that still run had spent when the last file ended.
        self.ends = False  # Whether the test is the last one of its file.
        self.parts = budgets((ROOT / BUDGETS).read_text(encoding="utf-8"))
        self.taken: Counter[str] = Counter()
        self.collecting = 0.0
        self.nightly = "not nightly" not in str(config.getoption("markexpr"))
        self.whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS

    def since(self) -> float:
        """Seconds since it was asked before."""
        now = spent() + self.children
        found, self.before = now - self.before, now
        return found

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self) -> None:
        self.collecting = self.since()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> None:
        self.ends = nextitem is None or nextitem.path != item.path

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, Any, Any]:
        report = yield
        if self.ends and report.when == "teardown":
            self.children = running(os.getpid())
        report.processor_time, report.collecting_time = self.since(), self.collecting
        self.collecting = 0.0
        return report

    def pytest_runtest_logreport(self, report: Any) -> None:
        if not hasattr(report, "processor_time"):
            return  # Where a worker died, the report is made for it.
        self.taken[COLLECTING] += report.collecting_time
        part = part_of(report.nodeid.partition("::")[0], self.parts)
        if part is not None:
            self.taken[part] += report.processor_time

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self.nightly:
            for line in self.lines():
                terminalreporter.write_line(line)

    def lines(self) -> Iterator[str]:
        """The whole where all tests ran, and each part that took too much."""
        shown = os.environ.get("BUDGETS") == "show"
        if self.whole or shown:
            yield f"processor time: {self.taken.total():.0f} s of tests; {WHOLE} s for everything"
        for part, seconds in sorted(self.taken.items()):
            budget = self.parts[part]
            if shown or seconds > budget * NOISE:
                yield f"processor time: {part} took {seconds:.1f} s; its budget is {budget} s"
