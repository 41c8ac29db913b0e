"""The arguments that several commands share: targets, scopes, budgets."""

from __future__ import annotations

import argparse
from pathlib import Path

from lawful import argument_types as types
from lawful.checks.smt.solver import budget

from .command_parser import CommandParser

TARGET = "package.module[:Machine] or path/to/file.py[:Machine]"


TARGETS = (
    f"{TARGET}, or a folder or package with all its modules; several may be given; default: the "
    "targets of [tool.lawful] in pyproject.toml"
)


OUT = "the folder to write into"
CURRENT = "default: the current one"


def scoped(parser: CommandParser, *, several: bool = True) -> CommandParser:
    """The targets, or the one target, and the scope."""
    if several:
        parser.add_argument("targets", metavar="TARGET", nargs="*", help=TARGETS)
    else:
        parser.add_argument("target", metavar="TARGET", help=TARGET)
    scope(parser)
    return parser


def scope(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--scope",
        action="append",
        default=[],
        metavar="KEY=VALUE|NAME",
        help="a bound (Node=4, Nat=0..7, beans=100) or the name of a scope; may be repeated",
    )


def solver(parser: argparse.ArgumentParser) -> None:
    """What Z3 may spend."""
    parser.add_argument(
        "--budget",
        type=types.positive,
        metavar="N",
        help=f"units of Z3's work (rlimit) for each obligation; default {budget.UNITS:,}",
    )
    parser.add_argument(
        "--timeout",
        type=types.seconds,
        metavar="S",
        help=f"seconds for each question to Z3; default {budget.SECONDS:g}. Without --budget, more "
        f"than {budget.UNITS / budget.PER_SECOND:g} also raises the budget",
    )


def folder(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--out", type=types.path, default=Path(), metavar="DIR", help=f"{OUT}; {CURRENT}"
    )


def folder_or_output(parser: argparse.ArgumentParser) -> None:
    """The folder for pictures, or standard output for one picture."""
    parser.add_argument(
        "--out",
        type=types.path_or_output,
        default=Path(),
        metavar="DIR",
        help=f"{OUT}, or - for standard output, which takes one picture; {CURRENT}",
    )
