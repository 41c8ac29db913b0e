"""The command line: `lawful COMMAND TARGET [options]`.

Exit codes: 0 every expected verdict met · 1 a property violated or undefined, or an expected
violation not found · 2 a trace deviates · 3 unknown, inconclusive or out of budget · 4 a
declaration is refused · 5 usage · 70 a fault of ours.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn, Protocol

from lawful.checks.smt.solver import budget
from lawful.spec.errors import DeclarationError

from . import commands, refusing
from .output import OutOfReach
from .progress import terminable
from .refusing import Ended
from .targets import TargetError

USAGE, REFUSED, FAULT = 5, 4, 70
UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


class _Usage(SystemExit):
    """The command line cannot be parsed, which was said; the process ends with `USAGE`."""

    def __init__(self, message: str) -> None:
        super().__init__(USAGE)
        self.message = message


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        print(f"{self.prog}: {message}", file=sys.stderr)
        raise _Usage(message)


class Commands(Protocol):
    """What `add_subparsers` gives."""

    def add_parser(self, name: str, *, help: str, description: str) -> _Parser: ...


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the return value is the exit code.

    A request to terminate ends it as Ctrl-C does. Where there is no answer, the files that were
    asked for say why.
    """
    words = sys.argv[1:] if argv is None else argv
    try:
        given = _parser().parse_args(words)
    except _Usage as error:
        refusing.write(refusing.asked_in(words), Ended("usage", USAGE, error.message))
        raise
    given.answer, given.answered, given.skipped = sys.stdout, False, []
    with terminable():
        try:
            ended = _run(given)
        except BrokenPipeError:
            return 0
        if isinstance(ended, int):
            return ended
        print(ended.message, file=sys.stderr)
        refusing.write(given, ended)
        return ended.code


def _run(given: argparse.Namespace) -> int | Ended:
    """The exit code of a command, or why it has no answer."""
    run: Callable[[argparse.Namespace], int] = given.run
    # What a user's module prints must not stand beside the JSON.
    out = sys.stderr if given.json == "-" else sys.stdout
    try:
        with contextlib.redirect_stdout(out):
            return run(given)
    except (TargetError, OutOfReach) as error:
        return Ended("usage", USAGE, str(error))
    except DeclarationError as error:
        return Ended.refused(error, REFUSED)
    except KeyboardInterrupt:
        return Ended("stopped", 3, "stopped")
    except BrokenPipeError:
        raise
    except Exception:
        traceback.print_exc()
        said = "this is a fault of lawful: please report it with the lines above"
        return Ended("fault", FAULT, said)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="lawful", description="Formally specified state machines.")
    commands_ = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=_Parser)
    every = (_check, _simulate, _lint, _prove, _draw, _replay, _show, _export, _lock, _diff)
    for add in (*every, _freeze):
        add(commands_)
    return parser


def _command(commands_: Commands, name: str, run: Callable[[argparse.Namespace], int]) -> _Parser:
    doc = (run.__doc__ or "").strip().split("\n")[0]
    parser = commands_.add_parser(name, help=doc, description=doc)
    parser.set_defaults(run=run, command=name)
    parser.add_argument("--json", metavar="FILE", help="the answer as JSON; - is standard output")
    parser.add_argument("--quiet", action="store_true", help="print no text and no progress")
    return parser


def _check(commands_: Commands) -> None:
    parser = _exploring(_command(commands_, "check", commands.check))
    engines = ("auto", "reference", "generated", "compiled")
    parser.add_argument("--engine", choices=engines, default="auto")
    parser.add_argument(
        "--symmetry",
        action="store_true",
        help="explore states that differ in the names of interchangeable elements once",
    )
    parser.add_argument(
        "--workers",
        type=_positive,
        metavar="N",
        help="threads that explore large machines; default: one for each processor",
    )
    parser.add_argument("--first", action="store_true", help="stop at the first violation")
    parser.add_argument(
        "--coverage",
        action="store_true",
        help="say how often each guard was true and refused, and what values variables took",
    )
    parser.add_argument(
        "--advice",
        action="store_true",
        help="say which bounds cut steps or leave out arguments, how far they must go to do "
        "neither, and what one more changes",
    )
    parser.add_argument("--max-states", type=_positive, metavar="N")
    parser.add_argument(
        "--runtime",
        action="store_true",
        help="run the step that services embed in every state, and compare it with exploration",
    )
    parser.add_argument(
        "--max-memory", type=_bytes, metavar="SIZE", help="of the process: 500M, 2G"
    )
    parser.add_argument(
        "--resume",
        type=Path,
        metavar="DIR",
        help="keep snapshots there, and go on from the last one",
    )


def _simulate(commands_: Commands) -> None:
    parser = _exploring(_command(commands_, "simulate", commands.simulate))
    parser.add_argument("--runs", type=_positive, default=100, metavar="N", help="default 100")
    parser.add_argument(
        "--steps", type=_positive, default=100, metavar="N", help="at most, in each; default 100"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="default 0")


def _lint(commands_: Commands) -> None:
    parser = _command(commands_, "lint", commands.lint)
    parser.add_argument("target", metavar="TARGET")
    parser.add_argument("--scope", action="append", default=[], metavar="KEY=VALUE|NAME")
    parser.add_argument("--max-states", type=_positive, default=20_000, metavar="N")
    parser.add_argument(
        "--mutants",
        type=_positive,
        metavar="N",
        help="try at most N small changes of the machine, and name those that nothing notices",
    )


def _exploring(parser: _Parser) -> _Parser:
    """What is asked of a run through states, exhaustive or not."""
    parser.add_argument("target", metavar="TARGET", help="package.module[:Machine] or file.py[:…]")
    parser.add_argument(
        "--scope",
        action="append",
        default=[],
        metavar="KEY=VALUE|NAME",
        help="a bound (Node=4, Nat=0..7, beans=100) or a named scope",
    )
    parser.add_argument("--max-seconds", type=_seconds, metavar="S")
    parser.add_argument(
        "--progress", action="store_true", help="tell on standard error, a terminal or not"
    )
    parser.add_argument("--only", action="append", default=[], metavar="PROPERTY")
    _reporting(parser)
    parser.add_argument("--pytest", type=Path, metavar="DIR", help="... as a test that it is gone")
    return parser


def _reporting(parser: _Parser) -> _Parser:
    """Files for other tools."""
    parser.add_argument("--junit", type=Path, metavar="FILE", help="verdicts for a CI server")
    parser.add_argument("--sarif", type=Path, metavar="FILE", help="verdicts for code review")
    parser.add_argument("--itf", type=Path, metavar="DIR", help="each counterexample as a trace")
    return parser


def _prove(commands_: Commands) -> None:
    parser = _reporting(_command(commands_, "prove", commands.prove))
    parser.add_argument("target", metavar="TARGET")
    parser.add_argument(
        "--method",
        default="auto",
        choices=("auto", "induction", "k-induction", "spacer", "bounded"),
    )
    parser.add_argument(
        "--depth", type=_positive, metavar="N", help="events of the longest runs that are looked at"
    )
    parser.add_argument(
        "--any-size", action="append", default=[], metavar="SORT", help="whatever the scope says"
    )
    parser.add_argument(
        "--smtlib", type=Path, metavar="DIR", help="each obligation as a script for other solvers"
    )
    parser.add_argument(
        "--no-cache", action="store_true", help="ask for what was shown before, too"
    )
    parser.add_argument(
        "--strengthen", action="store_true", help="find clauses that make it inductive"
    )
    parser.add_argument("--scope", action="append", default=[], metavar="KEY=VALUE|NAME")
    _effort(parser)


def _effort(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--budget",
        type=_positive,
        metavar="N",
        help=f"units of Z3's work (rlimit) for each obligation, default {budget.UNITS:,}",
    )
    parser.add_argument(
        "--timeout",
        type=_seconds,
        metavar="S",
        help=f"outer limit for each question, default {budget.SECONDS:g} s; alone, more than "
        f"{budget.UNITS / budget.PER_SECOND:g} s also raises the budget",
    )


def _draw(commands_: Commands) -> None:
    parser = _command(commands_, "draw", commands.draw)
    parser.add_argument("target", metavar="TARGET")
    parser.add_argument("--format", choices=("svg", "png", "pdf", "dot", "mermaid"), default="svg")
    parser.add_argument("--what", choices=("states",), default="states")
    parser.add_argument("--out", type=Path, default=Path(), metavar="DIR", help="default: here")


def _replay(commands_: Commands) -> None:
    parser = _reporting(_command(commands_, "replay", commands.replay))
    parser.add_argument("traces", metavar="TRACES", nargs="+", help="journals: JSON lines, Parquet")
    parser.add_argument("target", metavar="TARGET")
    parser.add_argument("--mapping", type=Path, metavar="FILE", help="columns of foreign traces")
    parser.add_argument("--engine", choices=("spark", "local"), default="spark")
    parser.add_argument("--master", metavar="URL", help="Spark's master; default local[*]")
    parser.add_argument("--report", type=Path, metavar="FILE.html")


def _show(commands_: Commands) -> None:
    parser = _command(commands_, "show", commands.show)
    parser.add_argument("target", metavar="TARGET")
    parser.add_argument(
        "--what",
        choices=("declaration", "ir", "flat"),
        default="declaration",
        help="the machine as text, its IR as JSON, or the machine with its scope",
    )
    parser.add_argument("--scope", action="append", default=[], metavar="KEY=VALUE|NAME")


def _export(commands_: Commands) -> None:
    parser = _command(commands_, "export", commands.export)
    parser.add_argument("target", metavar="TARGET")
    parser.add_argument("--tla", action="store_true", required=True, help="TLA+, for TLC")
    parser.add_argument("--scope", action="append", default=[], metavar="KEY=VALUE|NAME")
    parser.add_argument("--out", type=Path, default=Path(), metavar="DIR", help="default: here")


def _lock(commands_: Commands) -> None:
    parser = _command(commands_, "lock", commands.lock)
    parser.add_argument("target", metavar="TARGET")
    parser.add_argument(
        "--file", type=Path, default=Path("lawful.lock"), metavar="FILE", help="default lawful.lock"
    )
    parser.add_argument("--stale", action="store_true", help="only say what is stale")
    parser.add_argument("--max-seconds", type=_seconds, metavar="S", help="of each exploration")
    _effort(parser)


def _diff(commands_: Commands) -> None:
    parser = _command(commands_, "diff", commands.diff)
    parser.add_argument("old", metavar="OLD", help="a machine, as it was")
    parser.add_argument("target", metavar="NEW", help="... and as it is")
    parser.add_argument(
        "--renamed", action="append", default=[], metavar="NEW=OLD", help="what had another name"
    )
    parser.add_argument("--scope", action="append", default=[], metavar="KEY=VALUE|NAME")
    _effort(parser)


def _freeze(commands_: Commands) -> None:
    parser = _command(commands_, "freeze", commands.freeze)
    parser.add_argument("target", metavar="MODULE")


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text}: expected 1 or more")
    return int(text)


def _bytes(text: str) -> int:
    digits, unit = text.rstrip("kKMGT"), text[len(text.rstrip("kKMGT")) :].upper()
    if unit not in UNITS or not digits.isdecimal() or int(digits) < 1:
        raise argparse.ArgumentTypeError(f"{text}: expected a size such as 500M or 2G")
    return int(digits) * UNITS[unit]


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text}: expected seconds above 0")
    return value
