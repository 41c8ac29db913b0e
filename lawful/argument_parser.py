"""The arguments of each command of the command line, and their help texts."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, NoReturn, Protocol

from lawful.checks.smt.solver import budget

from . import argument_types
from .commands.exit_codes import ExitCode
from .commands.options import LINTED_STATES

TARGET = "package.module[:Machine] or path/to/file.py[:Machine]"
TARGETS = (
    f"{TARGET}, or a folder or package with all its modules; several may be given; default: the "
    "targets of [tool.lawful] in pyproject.toml"
)
FILES = ("TARGET", "TRACES", "MODULE", "OLD", "NEW")  # Arguments that may be files.
ENGINES = ("auto", "reference", "generated", "compiled", "spark")


class Usage(SystemExit):
    """The command line cannot be parsed; the parser has printed why. The exit code is `USAGE`."""

    def __init__(self, message: str) -> None:
        super().__init__(int(ExitCode.USAGE))
        self.message = message


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        print(f"{self.prog}: {message}", file=sys.stderr)
        raise Usage(message)

    @property
    def actions(self) -> list[argparse.Action]:
        """Its options and its arguments by position, in the order of its help."""
        return list(self._actions)


class _Version(argparse.Action):
    """Prints the version of the installed package; a copy that is not installed has none."""

    def __call__(self, parser: argparse.ArgumentParser, *_given: object) -> NoReturn:
        from importlib import metadata  # It takes as long as the whole parser.

        try:
            print(f"lawful {metadata.version('lawful')}")
        except metadata.PackageNotFoundError:
            print("lawful is not installed: it runs from a folder")
        raise SystemExit(0)


class Subparsers(Protocol):
    """What `add_subparsers` returns."""

    def add_parser(self, name: str, *, help: str, description: str) -> _Parser: ...


def parser(words: Sequence[str] = ()) -> argparse.ArgumentParser:
    """The parser of a command line of these words. It knows the command that the first word names,
    or all commands where that names none: to make the options of all takes twice as long.
    """
    whole = _Parser(
        prog="lawful",
        description="Run, check, prove, draw and replay formally specified state machines.",
        epilog="`lawful COMMAND --help` lists the options of a command.",
    )
    whole.add_argument("--version", action=_Version, nargs=0, help="print the version and end")
    commands = whole.add_subparsers(required=True, metavar="COMMAND", parser_class=_Parser)
    named = COMMANDS.get(words[0]) if words else None
    for add in COMMANDS.values() if named is None else (named,):
        add(commands)
    return whole


def _command(commands: Subparsers, name: str, help: str) -> _Parser:
    parser = commands.add_parser(name, help=help, description=f"{help[0].upper()}{help[1:]}.")
    parser.set_defaults(command=name)
    parser.add_argument(
        "--json", metavar="FILE", help="write the answer as JSON; - is standard output"
    )
    parser.add_argument("--quiet", action="store_true", help="print neither text nor progress")
    return parser


def _check(commands: Subparsers) -> None:
    help = "explore every reachable state within the scope"
    parser = _exploring(_command(commands, "check", help))
    parser.add_argument(
        "--engine",
        choices=ENGINES,
        default="auto",
        help="reference: the definition; generated: Python made for the machine; compiled: machine "
        "code; spark: large levels as jobs of Spark; auto: what suits the machine's size (default)",
    )
    parser.add_argument("--master", metavar="URL", help="Spark's master; default local[*]")
    parser.add_argument(
        "--symmetry",
        action="store_true",
        help="explore only one of several states that differ in the names of interchangeable "
        "elements of a sort",
    )
    parser.add_argument(
        "--workers",
        type=argument_types.positive,
        metavar="N",
        help="threads that explore large machines; default: one for each processor",
    )
    parser.add_argument("--first", action="store_true", help="stop at the first violation")
    parser.add_argument(
        "--changed",
        action="store_true",
        help="explore only the machines that have changed since they were last as expected",
    )
    parser.add_argument(
        "--coverage",
        action="store_true",
        help="report how often each guard was true and refused, and which values variables took",
    )
    parser.add_argument(
        "--advice",
        action="store_true",
        help="report which bounds cut steps or leave out arguments, the smallest bounds that do "
        "neither, and what one more element of each sort changes",
    )
    parser.add_argument(
        "--max-states",
        type=argument_types.positive,
        metavar="N",
        help="stop after N different states",
    )
    parser.add_argument(
        "--runtime",
        action="store_true",
        help="in every state also run the step that services embed, and compare the two",
    )
    parser.add_argument(
        "--max-memory",
        type=argument_types.size,
        metavar="SIZE",
        help="stop when the process holds so much memory, for example 500M or 2G",
    )
    parser.add_argument(
        "--resume",
        type=Path,
        metavar="DIR",
        help="save the search there, and continue it if it was saved there before",
    )
    parser.add_argument(
        "--spill",
        type=Path,
        metavar="DIR",
        help="keep the states in files there while it explores, for more than memory holds",
    )


def _simulate(commands: Subparsers) -> None:
    help = "walk at random through a machine that has too many states to explore"
    parser = _exploring(_command(commands, "simulate", help))
    parser.add_argument(
        "--runs", type=argument_types.positive, default=100, metavar="N", help="walks; default 100"
    )
    parser.add_argument(
        "--steps",
        type=argument_types.positive,
        default=100,
        metavar="N",
        help="events in each walk, at most; default 100",
    )
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="equal seeds give equal walks; default 0"
    )
    parser.add_argument("--engine", choices=ENGINES[:3], default="auto", help="as of check")


def _lint(commands: Subparsers) -> None:
    help = "report what is odd about a declaration, although it breaks no rule"
    parser = _scoped(_command(commands, "lint", help))
    parser.add_argument(
        "--max-states",
        type=argument_types.positive,
        default=LINTED_STATES,
        metavar="N",
        help=f"look at N states at most; default {LINTED_STATES}",
    )
    parser.add_argument(
        "--mutants",
        type=_mutants,
        metavar="N|all",
        help="judge N mutants, evenly chosen, or all: small changes of the machine and its parts",
    )
    parser.add_argument(
        "--prove", action="store_true", help="mutants: those that exploration misses, by induction"
    )
    parser.add_argument(
        "--workers",
        type=argument_types.positive,
        default=1,
        metavar="N",
        help="mutants: judge in N processes",
    )
    parser.add_argument(
        "--max-seconds",
        type=argument_types.seconds,
        metavar="S",
        help="mutants: stop each search after S seconds",
    )
    parser.add_argument(
        "--answers",
        type=Path,
        metavar="FILE",
        help="mutants: add each answer to FILE, and go on from the answers that it has",
    )
    annotating(parser)


def _mutants(text: str) -> int | str:
    return text if text == "all" else argument_types.positive(text)


def _scoped(parser: _Parser, *, several: bool = True) -> _Parser:
    """The targets, or the one target, and the scope."""
    if several:
        parser.add_argument("targets", metavar="TARGET", nargs="*", help=TARGETS)
    else:
        parser.add_argument("target", metavar="TARGET", help=TARGET)
    _scope(parser)
    return parser


def _scope(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--scope",
        action="append",
        default=[],
        metavar="KEY=VALUE|NAME",
        help="a bound (Node=4, Nat=0..7, beans=100) or the name of a scope; may be repeated",
    )


def _exploring(parser: _Parser) -> _Parser:
    """The options of a run through states, exhaustive or not."""
    _reporting(_scoped(parser))
    parser.add_argument(
        "--max-seconds", type=argument_types.seconds, metavar="S", help="stop after S seconds"
    )
    parser.add_argument(
        "--progress",
        action="store_true",
        help="print progress on standard error even where that is no terminal",
    )
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="PROPERTY",
        help="report this property alone; may be repeated",
    )
    parser.add_argument(
        "--pytest",
        type=Path,
        metavar="DIR",
        help="write each counterexample as a test, which passes when the fault is repaired",
    )
    return parser


def _reporting(parser: _Parser) -> _Parser:
    """Files for other tools."""
    parser.add_argument(
        "--junit", type=Path, metavar="FILE", help="write verdicts for a CI server (JUnit XML)"
    )
    parser.add_argument(
        "--sarif", type=Path, metavar="FILE", help="write verdicts for code review (SARIF)"
    )
    parser.add_argument(
        "--itf", type=Path, metavar="DIR", help="write each counterexample as a trace (ITF)"
    )
    annotating(parser)
    return parser


def annotating(parser: argparse.ArgumentParser) -> None:
    """The option for annotations of GitHub."""
    parser.add_argument(
        "--github",
        action=argparse.BooleanOptionalAction,
        default=os.environ.get("GITHUB_ACTIONS") == "true",
        help="print what fails as annotations of GitHub; default: in a workflow of GitHub",
    )


def _prove(commands: Subparsers) -> None:
    help = "prove invariants with Z3, for all integers"
    parser = _reporting(_scoped(_command(commands, "prove", help)))
    parser.add_argument(
        "--method",
        default="auto",
        choices=("auto", "induction", "k-induction", "spacer", "bounded"),
        help="default auto: induction, then the others for what is left open",
    )
    parser.add_argument(
        "--depth",
        type=argument_types.positive,
        metavar="N",
        help="events in the longest run that bounded search or k-induction considers",
    )
    parser.add_argument(
        "--any-size",
        action="append",
        default=[],
        metavar="SORT",
        help="prove for any number of elements of this sort, whatever the scope says",
    )
    parser.add_argument(
        "--smtlib",
        type=Path,
        metavar="DIR",
        help="write each obligation as an SMT-LIB script for other solvers",
    )
    parser.add_argument(
        "--no-cache", action="store_true", help="ask Z3 again for what an earlier run has proved"
    )
    parser.add_argument(
        "--strengthen",
        action="store_true",
        help="search for invariants that make the open properties provable",
    )
    _solver(parser)


def _solver(parser: argparse.ArgumentParser) -> None:
    """What Z3 may spend."""
    parser.add_argument(
        "--budget",
        type=argument_types.positive,
        metavar="N",
        help=f"units of Z3's work (rlimit) for each obligation; default {budget.UNITS:,}",
    )
    parser.add_argument(
        "--timeout",
        type=argument_types.seconds,
        metavar="S",
        help=f"seconds for each question to Z3; default {budget.SECONDS:g}. Without --budget, more "
        f"than {budget.UNITS / budget.PER_SECOND:g} also raises the budget",
    )


def _draw(commands: Subparsers) -> None:
    help = "draw the control states, the reachable states, or the counterexamples"
    parser = _scoped(_command(commands, "draw", help))
    parser.add_argument(
        "--what",
        choices=("states", "graph", "trace"),
        default="states",
        help="states: control states with guards and outputs (default); graph: every reachable "
        "state with the steps between them; trace: each counterexample as a sequence diagram",
    )
    parser.add_argument(
        "--format",
        choices=("svg", "png", "pdf", "dot", "mermaid", "plantuml"),
        help="default svg, which like png and pdf needs Graphviz; a trace is mermaid",
    )
    parser.add_argument(
        "--max-states",
        type=argument_types.positive,
        metavar="N",
        help="graph: refuse to draw more than N states; default 200",
    )
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="STATE",
        help="states: draw this state, its transitions and their other ends; may be repeated",
    )
    _folder(parser)


def _folder(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--out",
        type=Path,
        default=Path(),
        metavar="DIR",
        help="the folder to write into; default: the current one",
    )


def _replay(commands: Subparsers) -> None:
    help = "replay recorded events against the machine"
    parser = _reporting(_command(commands, "replay", help))
    what = "JSON lines, Parquet, or a trace store"
    parser.add_argument("traces", metavar="TRACES", nargs="+", help=what)
    parser.add_argument("target", metavar="TARGET", help=TARGET)
    parser.add_argument(
        "--mapping",
        type=Path,
        metavar="FILE",
        help="a TOML or JSON file that says how to read traces of other programs (docs/replay.md)",
    )
    store = "write the traces into a new folder, sorted, and replay that: see docs/replay.md"
    parser.add_argument("--store", type=Path, metavar="DIR", help=store)
    parser.add_argument(
        "--older",
        action="append",
        default=[],
        metavar="TARGET",
        help="an older version of a machine; rows are judged by the version that wrote them",
    )
    parser.add_argument(
        "--after",
        choices=("resync", "skip", "force", "stop"),
        default="resync",
        help="how an instance goes on after a deviation: from the state that the row tells "
        "(resync, the default), as if the event had not been (skip), as if it had been possible "
        "(force), or not at all (stop)",
    )
    every = "list every problem, not the first of each kind"
    parser.add_argument("--all", action="store_true", help=every)
    parser.add_argument(
        "--allow-empty", action="store_true", help="succeed where no event could be judged"
    )
    parser.add_argument(
        "--unknown-events",
        type=argument_types.percent,
        metavar="PERCENT",
        help="pass over events that the machine does not have, up to so many percent of all; "
        "without it each of them quarantines its instance",
    )
    parser.add_argument(
        "--engine",
        choices=("auto", "spark", "local"),
        default="auto",
        help="where to replay: local is this process; auto (default) is spark for remote files, "
        "with --master, and for more than 64 MB of lines if Spark is installed; else local",
    )
    parser.add_argument("--master", metavar="URL", help="Spark's master; default local[*]")
    parser.add_argument(
        "--report", type=Path, metavar="FILE.html", help="write the result as an HTML page"
    )
    resume = "go on from the states that an earlier replay kept: see docs/replay.md"
    parser.add_argument("--resume", type=Path, metavar="FILE", help=resume)
    keep = "keep the state of each instance, for the replay of later rows"
    parser.add_argument("--keep", type=Path, metavar="FILE", help=keep)
    tests = "write for the first deviation of each kind a test that fails until the machine fits"
    parser.add_argument("--pytest", type=Path, metavar="DIR", help=tests)
    parser.add_argument(
        "--against",
        action="append",
        default=[],
        metavar="TARGET",
        help="an older version of a machine: say what is newly illegal and newly legal",
    )
    metrics = "write the counts as metrics, in the text format of OpenMetrics"
    parser.add_argument("--metrics", type=Path, metavar="FILE", help=metrics)


def _infer_mapping(commands: Subparsers) -> None:
    help = "propose how to read traces of another program, from a sample of them"
    parser = _command(commands, "infer-mapping", help)
    what = "JSON lines, CSV, XES, OTLP/JSON or ITF"
    parser.add_argument("traces", metavar="TRACES", nargs="+", help=what)
    parser.add_argument("target", metavar="TARGET", help=TARGET)
    out = "write the mapping, as TOML, into a file"
    parser.add_argument("--out", type=Path, metavar="FILE.toml", help=out)


def _learn_scope(commands: Subparsers) -> None:
    help = "say which values recorded events had, and which reachable states were never seen"
    parser = _command(commands, "learn-scope", help)
    what = "JSON lines, Parquet, or what the mapping says"
    parser.add_argument("traces", metavar="TRACES", nargs="+", help=what)
    parser.add_argument("target", metavar="TARGET", help=TARGET)
    mapping = "how to read traces of other programs (docs/replay.md)"
    parser.add_argument("--mapping", type=Path, metavar="FILE", help=mapping)
    most = "explore at most so many states within the scope that was learned (10,000)"
    parser.add_argument(
        "--max-states", type=argument_types.positive, default=10_000, metavar="N", help=most
    )


def _show(commands: Subparsers) -> None:
    help = "print the declaration, its IR, or the machine within its scope"
    parser = _scoped(_command(commands, "show", help), several=False)
    parser.add_argument(
        "--what",
        choices=("declaration", "ir", "flat"),
        default="declaration",
        help="declaration: the machine as text (default); ir: its intermediate representation as "
        "JSON; flat: the machine within its scope, as the engines explore it",
    )


def _export(commands: Subparsers) -> None:
    help = "write the machine as a TLA+ module with its configurations, for TLC"
    parser = _scoped(_command(commands, "export", help), several=False)
    parser.add_argument(
        "--tla", action="store_true", required=True, help="the format TLA+, which must be named"
    )
    _folder(parser)


def _lock(commands: Subparsers) -> None:
    help = "keep verdicts and counts of machines in a file, or report which of them are stale"
    parser = _command(commands, "lock", help)
    parser.add_argument("target", metavar="TARGET", help=TARGET)
    parser.add_argument(
        "--file",
        type=Path,
        default=Path("lawful.lock"),
        metavar="FILE",
        help="the file to keep them in; default lawful.lock",
    )
    parser.add_argument(
        "--stale",
        action="store_true",
        help="check and prove nothing; report which machines have changed since",
    )
    parser.add_argument(
        "--max-seconds",
        type=argument_types.seconds,
        metavar="S",
        help="stop each exploration after S seconds",
    )
    _solver(parser)


def _certify(commands: Subparsers) -> None:
    help = "write files by which others can count the states and repeat the proofs; --verify does"
    parser = _scoped(_command(commands, "certify", help), several=False)
    parser.add_argument(
        "--any-size",
        action="append",
        default=[],
        metavar="SORT",
        help="prove for any number of elements of this sort; may be repeated",
    )
    _folder(parser)
    parser.add_argument(
        "--verify",
        action="store_true",
        help="count anew with the reference engine, and ask a second solver for each proof",
    )
    parser.add_argument(
        "--parts",
        nargs="+",
        choices=("states", "proofs"),
        default=("states", "proofs"),
        help="certify only the states, or only the proofs",
    )
    parser.add_argument(
        "--second-solver",
        metavar="COMMAND",
        help="the program that answers scripts in SMT-LIB; default: the Python package cvc5",
    )
    parser.add_argument(
        "--no-second-solver", action="store_true", help="write the scripts, and ask nobody"
    )
    parser.add_argument(
        "--second-seconds",
        type=argument_types.seconds,
        default=30.0,
        metavar="S",
        help="stop the second solver after S seconds for each script; default 30",
    )
    parser.add_argument(
        "--max-seconds",
        type=argument_types.seconds,
        metavar="S",
        help="stop each exploration after S seconds",
    )
    _solver(parser)


def _diff(commands: Subparsers) -> None:
    help = "compare two versions, and prove that the newer takes over every state of the older"
    parser = _command(commands, "diff", help)
    parser.add_argument("old", metavar="OLD", help=f"the older machine: {TARGET}")
    parser.add_argument("target", metavar="NEW", help="the newer machine")
    parser.add_argument(
        "--renamed",
        action="append",
        default=[],
        metavar="NEW=OLD",
        help="a variable's name in the newer machine and in the older; may be repeated",
    )
    parser.add_argument(
        "--dropped",
        action="append",
        default=[],
        metavar="OLD",
        help="a variable of the older machine that the newer one drops on purpose; may be repeated",
    )
    parser.add_argument(
        "--no-loss",
        action="store_true",
        help="end with 1 where the newer machine lacks a transition, a state or a property",
    )
    parser.add_argument(
        "--approve",
        action="append",
        default=[],
        metavar="NAME",
        help="what --no-loss allows to be lost; may be repeated",
    )
    parser.add_argument(
        "--format",
        choices=("svg", "png", "pdf", "dot", "mermaid", "plantuml"),
        default="",
        help="draw both versions in one diagram: lost red with a minus, won green with a plus",
    )
    _folder(parser)
    _scope(parser)
    _solver(parser)


def _freeze(commands: Subparsers) -> None:
    help = "write the IR beside a module, for deployments without its source"
    parser = _command(commands, "freeze", help)
    parser.add_argument("target", metavar="MODULE", help="package.module or path/to/file.py")


def _run(commands: Subparsers) -> None:
    help = "start the service of a system as a program"
    parser = _command(commands, "run", help)
    system = "a system that has a service, such as unicast; a wrong name lists them"
    parser.add_argument("system", metavar="SYSTEM", help=system)
    words = "the program's own; `lawful run SYSTEM --help` lists them"
    parser.add_argument("words", metavar="ARGUMENTS", nargs="...", help=words)


def _explore(commands: Subparsers) -> None:
    help = "walk through the machine in the browser, or write that page as one file"
    parser = _scoped(_command(commands, "explore", help), several=False)
    parser.add_argument(
        "--html",
        type=Path,
        metavar="FILE",
        help="write a page with diagram, counterexamples and coverage, and start no server",
    )
    parser.add_argument(
        "--port", type=argument_types.port, default=0, metavar="N", help="default: any free port"
    )
    parser.add_argument(
        "--max-seconds",
        type=argument_types.seconds,
        default=30.0,
        metavar="S",
        help="stop the check of the whole scope after S seconds; default 30",
    )


def _lsp(commands: Subparsers) -> None:
    help = "serve an editor by the Language Server Protocol, on standard input and output"
    parser = _command(commands, "lsp", help)
    parser.add_argument(
        "--delay",
        type=argument_types.seconds,
        default=0.3,
        metavar="S",
        help="read a file when it has not changed for S seconds; default 0.3",
    )
    parser.add_argument(
        "--max-seconds",
        type=argument_types.seconds,
        default=30.0,
        metavar="S",
        help="stop each check after S seconds; default 30",
    )


def _shell(commands: Subparsers) -> None:
    help = "walk through the machine at a prompt; `help` lists its commands"
    _scoped(_command(commands, "shell", help), several=False)


def _completion(commands: Subparsers) -> None:
    help = "print the script by which a shell completes commands and options"
    parser = _command(commands, "completion", help)
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="the shell")


COMMANDS: dict[str, Callable[[Subparsers], None]] = {
    "check": _check,
    "simulate": _simulate,
    "lint": _lint,
    "prove": _prove,
    "draw": _draw,
    "replay": _replay,
    "infer-mapping": _infer_mapping,
    "learn-scope": _learn_scope,
    "show": _show,
    "export": _export,
    "lock": _lock,
    "certify": _certify,
    "diff": _diff,
    "explore": _explore,
    "shell": _shell,
    "lsp": _lsp,
    "freeze": _freeze,
    "run": _run,
    "completion": _completion,
}


class Word(NamedTuple):
    """An option, with its names, or an argument by position, without one.

    `value` names what follows the option, or is empty. `kind`: what a value without choices is.
    """

    names: tuple[str, ...]
    help: str
    value: str
    choices: tuple[str, ...]
    kind: Literal["file", "folder", ""]
    several: bool


class CommandRow(NamedTuple):
    """A command with its help, its options, and its arguments by position."""

    name: str
    help: str
    options: tuple[Word, ...]
    others: tuple[Word, ...]


class _Collected:
    """Takes the parser of each command, and shows it no command line."""

    def __init__(self) -> None:
        self.parsers: dict[str, tuple[str, _Parser]] = {}

    def add_parser(self, name: str, *, help: str, description: str) -> _Parser:
        made = _Parser(prog=f"lawful {name}", description=description)
        self.parsers[name] = help, made
        return made


def command_rows() -> list[CommandRow]:
    """Every command with the words that it takes, in the order of its help."""
    collected = _Collected()
    for add in COMMANDS.values():
        add(collected)
    out: list[CommandRow] = []
    for name, (help, made) in collected.parsers.items():
        words = [_word(action) for action in made.actions]
        options = tuple(word for word in words if word.names)
        out.append(CommandRow(name, help, options, tuple(w for w in words if not w.names)))
    return out


def _word(action: argparse.Action) -> Word:
    value = "" if action.nargs == 0 else str(action.metavar or action.dest)
    kind: Literal["file", "folder", ""] = ""
    if value in FILES or value.startswith("FILE"):
        kind = "file"
    elif value == "DIR":
        kind = "folder"
    several = isinstance(action.default, list) or action.nargs in ("*", "+", "...")
    choices = tuple(map(str, action.choices or ()))
    return Word(tuple(action.option_strings), action.help or "", value, choices, kind, several)
