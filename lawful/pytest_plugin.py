"""A plugin of pytest: machines, their properties, lint rules and proofs as test items.

It is off until it is asked for: `pytest --lawful` collects the machines of the project,
`--lawful-target TARGET` those of a target. An item is named `Door::check below_two[Nat=0..4]`. What
is read here at import is small, because pytest loads this module in every project.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import pytest

if TYPE_CHECKING:
    from lawful.checks.lint.findings import Findings
    from lawful.checks.prove.result import ProofResult

    from .commands.exploration import Checked
    from .commands.output import Output
    from .targets import Chosen, ScopedMachine

N = TypeVar("N", bound=pytest.Item | pytest.Collector)
FROM_PARENT = attrgetter("from_parent")  # Pytest gives its keywords no types.
ASPECTS = ("check", "lint", "prove")
VERDICT = "lawful_verdict"  # The name of a property of a JUnit case, and of a report.


class Answer(NamedTuple):
    """What an item found: its verdict in words, whether it is as expected, and the evidence."""

    verdict: str
    good: bool
    evidence: str = ""


class Unexpected(Exception):
    """The verdict of an item is not the expected one; the text is the evidence."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options; without the first two nothing is collected."""
    group = parser.getgroup("lawful", "formally specified state machines")
    what = "collect the machines of [tool.lawful] in pyproject.toml as tests"
    group.addoption("--lawful", action="store_true", help=what)
    what = "collect the machines of a target as tests; may be repeated"
    group.addoption("--lawful-target", action="append", default=[], metavar="TARGET", help=what)
    what = f"{', '.join(ASPECTS)}: collect these items alone; may be repeated"
    group.addoption(
        "--lawful-only", action="append", default=[], choices=ASPECTS, metavar="ASPECT", help=what
    )
    what = "explore and prove again what an earlier run has answered"
    group.addoption("--lawful-fresh", action="store_true", help=what)


def pytest_configure(config: pytest.Config) -> None:
    """Make the marks of the items known, also under `--strict-markers`."""
    for aspect in ASPECTS:
        config.addinivalue_line("markers", f"lawful_{aspect}: an item of `lawful {aspect}`")
    if not config.pluginmanager.hasplugin("xdist"):
        config.addinivalue_line("markers", "xdist_group: items that one process runs")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """After the tests of files come those of machines; then `-k` and `-m` choose among all."""
    if config.getoption("--lawful") or config.getoption("--lawful-target"):
        made = list(_items(session))
        items.extend(made)
        # The terminal counts what reports tell of: `collected 45 items / 36 deselected`.
        report = pytest.CollectReport("lawful", "passed", None, [*made])
        config.hook.pytest_collectreport(report=report)


def _items(session: pytest.Session) -> Iterator[pytest.Item]:
    """The items of every machine; of one without a scope, an item that says so."""
    from lawful.spec.errors import DeclarationError

    from .commands.errors import CommandError
    from .commands.output import Output
    from .targets import TargetError

    config = session.config
    output = Output("pytest", quiet=True)
    try:
        chosen = output.chosen(config.getoption("--lawful-target") or ())
        for each in chosen:
            machine = Machine.of(session, each, output)
            yield from machine.collect()
    except (CommandError, TargetError, DeclarationError) as error:
        raise pytest.UsageError(str(error)) from error
    for left in output.skipped:
        item = _made(Item, session, "check", f"{left.machine}::check")
        item.ask = _not_checked(left.why)
        yield item


def _made(cls: type[N], parent: pytest.Collector, name: str, nodeid: str | None = None) -> N:
    """A node of pytest below another."""
    make: Callable[..., N] = FROM_PARENT(cls)
    return make(parent, name=name, nodeid=nodeid)


def _not_checked(why: str) -> Callable[[], Answer]:
    def ask() -> Answer:
        pytest.skip(f"not checked: {why}")

    return ask


class Machine(pytest.Collector):
    """A machine within its scope. Its engines run once, when an item first asks for an answer."""

    chosen: Chosen
    scoped: ScopedMachine
    output: Output

    @classmethod
    def of(cls, session: pytest.Session, chosen: Chosen, output: Output) -> Machine:
        """The machine, within its own scope and that of the project."""
        from . import targets

        settings = output.settings(chosen.cls)
        scoped = targets.scoped(chosen.cls, settings.scope, settings.expects)
        name = chosen.cls.__name__
        made = _made(cls, session, name, f"{chosen.where}::{name}")
        made.chosen, made.scoped, made.output = chosen, scoped, output
        return made

    def collect(self) -> Iterator[Item]:
        """An item for each property, lint rule and proof."""
        from lawful.checks.explore import verdicts
        from lawful.checks.explore.space import Space
        from lawful.checks.lint.findings import RULES

        names = [name for name, _ in verdicts.rows(Space(self.scoped.flat, self.scoped.world))]
        asked: dict[str, tuple[tuple[str, ...], Callable[[str], Answer]]] = {
            "check": (("explored", *names), self._checked),
            "lint": (RULES, self._linted),
            "prove": (tuple(names), self._proved),
        }
        bounds = ",".join(f"{name}={text}" for name, text in self.scoped.flat.scope)
        scope = f"[{bounds}]" if bounds else ""
        for aspect in self.config.getoption("--lawful-only") or ASPECTS:
            for name in asked[aspect][0]:
                item = _made(Item, self, f"{aspect} {name}{scope}")
                item.ask = _asking(asked[aspect][1], name)
                item.add_marker(f"lawful_{aspect}")
                item.add_marker(pytest.mark.xdist_group(f"lawful {self.name}"))
                yield item

    @cached_property
    def found(self) -> Checked:
        """The answer of exploration: kept from an earlier run, or found now."""
        from .commands import check, exploration
        from .commands.options import CheckOptions

        options = CheckOptions()
        changed = None if self.config.getoption("--lawful-fresh") else ()
        return exploration.answered(
            self.chosen,
            options.exploration,
            self.output,
            lambda machine, settings, tell: check.explored(
                machine, options, check.limits_of(options, settings, lambda: False), tell
            ),
            changed,
        )

    @cached_property
    def findings(self) -> Findings:
        """The answer of the linter."""
        from lawful.checks.explore import Limits
        from lawful.checks.lint import findings

        from .commands.options import LINTED_STATES

        return findings.lint(self.scoped.flat, self.scoped.world, Limits(LINTED_STATES))

    @cached_property
    def proofs(self) -> ProofResult:
        """The answer of Z3."""
        from .commands import prove
        from .commands.options import ProveOptions

        scope = self.output.settings(self.chosen.cls).scope
        fresh = bool(self.config.getoption("--lawful-fresh"))
        options = ProveOptions(scope=scope, no_cache=fresh)
        return prove.proved(self.chosen.cls, options, lambda text: None)

    def _checked(self, name: str) -> Answer:
        from lawful.checks.report.lines import counterexample

        result = self.found.result
        if result is None:
            rows: Any = self.found.row()["properties"]
            verdicts = {row["name"]: row["verdict"] for row in rows}
            return Answer(f"{verdicts.get(name, 'explored')}, unchanged", good=True)
        if name == "explored":
            doubtful = result.played is not None and bool(result.played.faults)
            text = f"{result.distinct:,} states"
            return Answer(text, result.complete and not doubtful, self.found.text)
        p = next(p for p in result.properties if p.name == name)
        return Answer(p.verdict.value, p.as_expected, "\n".join(counterexample(p)))

    def _linted(self, kind: str) -> Answer:
        from lawful.checks.lint.findings import OF_STATES

        found = [str(each) for each in self.findings.rows if each.kind == kind]
        if kind in OF_STATES and not self.findings.explored:
            pytest.skip("a limit ended the exploration: only the declaration was looked at")
        return Answer(f"{len(found)} findings", not found, "\n".join(found))

    def _proved(self, name: str) -> Answer:
        from lawful.checks.prove.result import NOT_ASKED
        from lawful.checks.report import proofs
        from lawful.checks.report.lines import trace_text

        p = next((p for p in self.proofs.properties if p.name == name), None)
        if p is None or p.method == NOT_ASKED:
            pytest.skip("for check, not for prove")
        judged = proofs.judgement(p, self.scoped.expects)
        open = [o for o in self.proofs.counted if o.property == name and not o.verdict.proved]
        lines = [f"{name} is {p.verdict.value} {p.note}".rstrip()]
        lines += [line for o in open for line in proofs.refuted(o)]
        lines += [] if p.trace is None else trace_text(p.trace)
        return Answer(p.verdict.value, judged.as_expected, "\n".join(lines))


def _asking(ask: Callable[[str], Answer], name: str) -> Callable[[], Answer]:
    return lambda: ask(name)


class Item(pytest.Item):
    """One question about a machine; it fails where the answer is not the expected one."""

    ask: Callable[[], Answer]

    def runtest(self) -> None:
        """Ask the engine. Raises Unexpected with the counterexample."""
        answer = self.ask()
        self.user_properties.append((VERDICT, answer.verdict))
        if not answer.good:
            raise Unexpected(answer.evidence or f"{self.name}: {answer.verdict}")

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        """The evidence alone; the traceback of anything else."""
        if isinstance(excinfo.value, Unexpected):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[str, int | None, str]:
        """The heading of a failure."""
        # Text that ends the node's id would be written with `::` in place of its dots.
        owner = "" if self.parent is None else f"{self.parent.name}: "
        return str(self.path), None, f"{owner}{self.name}"


def pytest_report_teststatus(
    report: pytest.CollectReport | pytest.TestReport,
) -> tuple[str, str, str] | None:
    """With `-v` an item shows its verdict."""
    verdict = dict(report.user_properties).get(VERDICT) if report.when == "call" else None
    if verdict is None or not report.passed:
        return None
    return "passed", ".", f"PASSED {verdict}"
