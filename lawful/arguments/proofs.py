"""The commands that ask a solver: prove, lock, certify, diff."""

from __future__ import annotations

from pathlib import Path

from lawful import argument_types as types

from .command_parser import Subparsers, command
from .option_groups import TARGET, folder, folder_or_output, scope, scoped, solver


def prove(commands: Subparsers) -> None:
    help = "prove invariants with Z3, for all integers"
    parser = scoped(command(commands, "prove", help))
    parser.add_argument(
        "--method",
        default="auto",
        choices=("auto", "induction", "k-induction", "spacer", "bounded"),
        help="default auto: induction, then the others for what is left open",
    )
    parser.add_argument(
        "--depth",
        type=types.positive,
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
        type=types.path,
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
    solver(parser)


def lock(commands: Subparsers) -> None:
    help = "keep verdicts and counts of machines in a file, or report which of them are stale"
    parser = scoped(command(commands, "lock", help))
    parser.add_argument(
        "--file",
        type=types.path,
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
        type=types.seconds,
        metavar="S",
        help="stop each exploration after S seconds",
    )
    solver(parser)


def certify(commands: Subparsers) -> None:
    help = "write files by which others can count the states and repeat the proofs; --verify does"
    parser = scoped(command(commands, "certify", help), several=False)
    parser.add_argument(
        "--any-size",
        action="append",
        default=[],
        metavar="SORT",
        help="prove for any number of elements of this sort; may be repeated",
    )
    folder(parser)
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
        type=types.seconds,
        default=30.0,
        metavar="S",
        help="stop the second solver after S seconds for each script; default 30",
    )
    parser.add_argument(
        "--max-seconds",
        type=types.seconds,
        metavar="S",
        help="stop each exploration after S seconds",
    )
    solver(parser)


def diff(commands: Subparsers) -> None:
    help = "compare two versions, and prove that the newer takes over all that the older allows"
    parser = command(commands, "diff", help)
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
    folder_or_output(parser)
    scope(parser)
    solver(parser)
