"""The commands that go through states: check, simulate, lint, explore, shell."""

from __future__ import annotations

from lawful import argument_types as types
from lawful.commands.options import LINTED_STATES

from .command_parser import CommandParser, Subparsers, command
from .option_groups import scoped

ENGINES = ("auto", "reference", "generated", "compiled", "spark")


def check(commands: Subparsers) -> None:
    help = "explore every reachable state within the scope"
    parser = exploring(command(commands, "check", help))
    parser.add_argument(
        "--engine",
        choices=ENGINES,
        default="auto",
        help="reference: the definition; generated: Python made for the machine; compiled: machine "
        "code; spark: large levels as jobs of Spark; auto: what suits the machine's size (default)",
    )
    parser.add_argument(
        "--symmetry",
        action="store_true",
        help="explore only one of several states that differ in the names of interchangeable "
        "elements of a sort",
    )
    parser.add_argument(
        "--workers",
        type=types.positive,
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
        type=types.positive,
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
        type=types.size,
        metavar="SIZE",
        help="stop when the process holds so much memory, for example 500M or 2G",
    )
    _in_files(parser)
    _varying(parser)


def _in_files(parser: CommandParser) -> None:
    parser.add_argument(
        "--resume",
        type=types.folder,
        metavar="DIR",
        help="save the search there, and continue it if it was saved there before",
    )
    parser.add_argument(
        "--spill",
        type=types.folder_or_uri,
        metavar="DIR",
        help="keep the states in files there while it explores, for more than memory holds; with "
        "--engine spark also hdfs://..., s3a://... or what else the session knows",
    )


def _varying(parser: CommandParser) -> None:
    parser.add_argument("--master", metavar="URL", help="Spark's master; default local[*]")
    parser.add_argument(
        "--vary",
        action="append",
        default=[],
        metavar="KEY=A/B|NAME/NAME",
        help="check once with each of these values of --scope, and print a row for each; may be "
        "repeated: each with each; with --engine spark all checks are one job",
    )


def simulate(commands: Subparsers) -> None:
    help = "walk at random through a machine that has too many states to explore"
    parser = exploring(command(commands, "simulate", help))
    parser.add_argument(
        "--runs", type=types.positive, default=100, metavar="N", help="walks; default 100"
    )
    parser.add_argument(
        "--steps",
        type=types.positive,
        default=100,
        metavar="N",
        help="events in each walk, at most; default 100",
    )
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="equal seeds give equal walks; default 0"
    )
    parser.add_argument("--engine", choices=ENGINES[:3], default="auto", help="as of check")


def exploring(parser: CommandParser) -> CommandParser:
    """The options of a run through states, exhaustive or not."""
    scoped(parser)
    parser.add_argument(
        "--max-seconds",
        type=types.seconds,
        metavar="S",
        help="stop the search after S seconds; what else is asked for has as many again",
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
        type=types.path,
        metavar="DIR",
        help="write each counterexample as a test, which passes when the fault is repaired",
    )
    return parser


def lint(commands: Subparsers) -> None:
    help = "report what is odd about a declaration, although it breaks no rule"
    parser = scoped(command(commands, "lint", help))
    parser.add_argument(
        "--max-states",
        type=types.positive,
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
        type=types.positive,
        default=1,
        metavar="N",
        help="mutants: judge in N processes",
    )
    parser.add_argument(
        "--engine",
        choices=("local", "spark"),
        default="local",
        help="mutants: judge on this computer (default), or all as one job of Spark",
    )
    parser.add_argument("--master", metavar="URL", help="Spark's master; default local[*]")
    parser.add_argument(
        "--max-seconds",
        type=types.seconds,
        metavar="S",
        help="stop each search after S seconds: the linter's own, and that of each mutant",
    )
    parser.add_argument(
        "--answers",
        type=types.path,
        metavar="FILE",
        help="mutants: add each answer to FILE, and go on from the answers that it has",
    )


def _mutants(text: str) -> int | str:
    return text if text == "all" else types.positive(text)


def explore(commands: Subparsers) -> None:
    help = "walk through the machine in the browser, or write that page as one file"
    parser = scoped(command(commands, "explore", help), several=False)
    parser.add_argument(
        "--html",
        type=types.path,
        metavar="FILE",
        help="write a page with diagram, counterexamples and coverage, and start no server",
    )
    parser.add_argument(
        "--port", type=types.port, default=0, metavar="N", help="default: any free port"
    )
    parser.add_argument(
        "--max-seconds",
        type=types.seconds,
        default=30.0,
        metavar="S",
        help="stop the check of the whole scope after S seconds; default 30",
    )


def shell(commands: Subparsers) -> None:
    help = "walk through the machine at a prompt; `help` lists its commands"
    scoped(command(commands, "shell", help), several=False)
