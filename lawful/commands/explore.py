"""`lawful explore`: a page on which one walks through a machine."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence

from lawful.checks.explore import CheckResult
from lawful.checks.explore import explore as check
from lawful.checks.explore.limits import Limits
from lawful.checks.explorer.explorer_page import diagram, page
from lawful.checks.explorer.explorer_server import Answers, ExplorerServer, Question
from lawful.checks.explorer.walked_path import NoPath, Path, WalkedPath
from lawful.checks.report.regression_test import as_test
from lawful.checks.verdict import PropertyResult, Verdict
from lawful.diagrams import sequence
from lawful.spec.ir import Json
from lawful.targets import ScopedMachine, machine, scoped

from . import files
from .errors import CommandError
from .exit_codes import ExitCode
from .options import ExploreOptions
from .output import Output


def explore(options: ExploreOptions, output: Output) -> int:
    """Serve the page until Ctrl-C, or write it as a file."""
    found = scoped(machine(options.target), options.scope)
    if options.html is not None:
        files.save(options.html, _file(found, options))
        row: Json = {"machine": found.flat.machine.name, "path": str(options.html)}
        output.answer(str(options.html), [row])
        return ExitCode.AS_EXPECTED
    _serve(found, options, output)
    return ExitCode.AS_EXPECTED


def _serve(found: ScopedMachine, options: ExploreOptions, output: Output) -> None:
    """Print the address, and answer until somebody ends it. Raises CommandError."""
    try:
        server = ExplorerServer(answers(found, options), options.port)
    except OSError as error:
        raise CommandError(f"cannot serve on port {options.port}: {error.strerror}") from error
    with server, contextlib.suppress(KeyboardInterrupt):
        text = f"{server.url}\nAnyone who has this address can walk there; Ctrl-C ends it."
        output.answer(text, [{"machine": found.flat.machine.name, "url": server.url}])
        server.serve_forever()


def answers(found: ScopedMachine, options: ExploreOptions) -> Answers:
    walked = WalkedPath(found.flat, found.world)
    kept: list[Json] = []

    def checked(_: Question) -> Json:
        if not kept:
            kept.append(_checked(found, walked, options.max_seconds))
        return kept[0]

    def walk(asked: Question) -> Json:
        return {"path": list(walked.random_walk(asked.path, asked.seed, asked.events))}

    name = found.flat.machine.name
    test = functools.partial(path_as_test, "explore", options.target, options.scope, walked)
    questions: dict[str, Callable[[Question], Json]] = {
        "view": lambda asked: walked.view(asked.path),
        "walk": walk,
        "check": checked,
        "test": lambda asked: test(asked.path),
        "sequence": lambda asked: path_as_sequence(name, walked, asked.path),
    }
    picture = diagram(found.resolved.machine)
    return Answers(page(f"{name} — explorer", picture, {"machine": name}, live=True), questions)


def _file(found: ScopedMachine, options: ExploreOptions) -> str:
    """The page with the states of the counterexamples and witnesses, which needs no server."""
    walked = WalkedPath(found.flat, found.world)
    result = _explored(found, options.max_seconds)
    paths = {walked.path_of(p.trace) for p in result.properties if p.trace is not None}
    prefixes = {path[:n] for path in paths for n in range(len(path) + 1)} | {()}
    name = found.flat.machine.name
    data: dict[str, Json] = {
        "machine": name,
        "checked": _told(result, walked),
        "views": {_text(path): walked.view(path) for path in sorted(prefixes)},
        "exports": {_text(path): _exports(found, options, walked, path) for path in sorted(paths)},
    }
    return page(f"{name} — explorer", diagram(found.resolved.machine), data, live=False)


def _text(path: Path) -> str:
    return ".".join(map(str, path))


def _exports(
    found: ScopedMachine, options: ExploreOptions, walked: WalkedPath, path: Path
) -> dict[str, Json]:
    """The end of a path as files that the page offers: always a diagram, a test where it can be."""
    out: dict[str, Json] = {}
    with contextlib.suppress(NoPath):
        out["test"] = path_as_test("explore", options.target, options.scope, walked, path)
    with contextlib.suppress(NoPath):
        out["sequence"] = path_as_sequence(found.flat.machine.name, walked, path)
    return out


def _explored(found: ScopedMachine, seconds: float) -> CheckResult:
    return check(found.flat, found.world, found.expects, limits=Limits(seconds=seconds))


def _checked(found: ScopedMachine, walked: WalkedPath, seconds: float) -> Json:
    try:
        return _told(_explored(found, seconds), walked)
    except ValueError as error:
        return {"error": str(error)}


def _told(result: CheckResult, walked: WalkedPath) -> Json:
    whole = "every state within the scope" if result.complete else "stopped early: not every state"
    steps = "1 step" if result.cuts == 1 else f"{result.cuts:,} steps"
    return {
        "summary": f"{whole}; {result.distinct:,} states, {result.generated:,} generated, "
        f"depth {result.depth}, {steps} cut by the scope",
        "properties": list(_rows(result, walked)),
        "transitions": {name: dict(row) for name, row in result.transitions.items()},
    }


def _rows(result: CheckResult, walked: WalkedPath) -> Iterator[Json]:
    for p in result.properties:
        yield {
            "name": p.name,
            "verdict": p.verdict.value,
            "as_expected": p.as_expected,
            "why": p.why,
            "path": None if p.trace is None else list(walked.path_of(p.trace)),
            "loop": None if p.trace is None else p.trace.loop,
        }


def path_as_test(
    command: str, target: str, scope: Sequence[str], walked: WalkedPath, path: Path
) -> dict[str, Json]:
    """Name and text of a test that fails as long as the path breaks what it breaks now.

    `command` is the one that found the path. Raises NoPath where no property fails at its end.
    """
    failing = walked.failing(path) if path else []
    if not failing:
        raise NoPath("no property fails at the end of this path: a test would say nothing")
    name, kind, why = failing[0]
    trace = walked.trace(path)
    p = PropertyResult(name, kind, Verdict.VIOLATED, "holds", why=why, trace=trace)
    text = as_test(target, scope, p, ".")
    return {
        "name": f"test_{name.replace('.', '_')}.py",
        "text": text.replace("`lawful check ", f"`lawful {command} ", 1),
    }


def path_as_sequence(name: str, walked: WalkedPath, path: Path) -> dict[str, Json]:
    """Name and text of the path as a sequence diagram. Raises NoPath for a path without a start."""
    if not path:
        raise NoPath("the path has no start yet")
    text = sequence.text(name, walked.trace(path).steps, None, "the end of the path")
    return {"name": f"{name}.mmd", "text": text}
