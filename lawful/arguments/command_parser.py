"""The parser of one command: how it tells an error, and what every command takes."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any, NoReturn, Protocol, cast

from lawful import argument_types as types
from lawful.commands.exit_codes import ExitCode


class Usage(SystemExit):
    """The command line cannot be parsed; the parser has printed why. The exit code is `USAGE`."""

    def __init__(self, message: str) -> None:
        super().__init__(int(ExitCode.USAGE))
        self.message = message


UNKNOWN = "unrecognized arguments: "  # So argparse begins.


class CommandParser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        named = self._named() if message.startswith(UNKNOWN) else self
        options = [option for action in named.actions for option in action.option_strings]
        message += _nearest(message, options)
        named.print_usage(sys.stderr)
        print(f"{named.prog}: {message}", file=sys.stderr)
        raise Usage(message)

    def _named(self) -> CommandParser:
        """The parser of the command, where this one knows only that; else this one."""
        for action in self.actions:
            known: Any = action.choices
            if type(known) is dict and len(cast(Any, known)) == 1:
                (only,) = cast(dict[str, CommandParser], known).values()
                return only
        return self

    @property
    def actions(self) -> list[argparse.Action]:
        """Its options and its arguments by position, in the order of its help."""
        return list(self._actions)


def _nearest(message: str, options: list[str]) -> str:
    """What the wrong word of a message may have been meant for, as the end of the message."""
    import difflib  # Rarely needed, and every command waits for what is imported.
    import re

    choice = re.search(r"invalid choice: '([^']*)' \(choose from (.*)\)", message)
    if choice is not None:
        close = difflib.get_close_matches(choice[1], re.findall(r"[\w-]+", choice[2]), 1)
        return f"; the nearest is {close[0]}" if close else ""
    if message.startswith(UNKNOWN):
        word = message.removeprefix(UNKNOWN).split()[0].partition("=")[0].lstrip("-")
        close = difflib.get_close_matches(word, [each.lstrip("-") for each in options], 1, 0.7)
        return f"; the nearest is --{close[0]}" if close else ""
    return ""


class Subparsers(Protocol):
    """What `add_subparsers` returns."""

    def add_parser(self, name: str, *, help: str, description: str) -> CommandParser: ...


def command(commands: Subparsers, name: str, help: str) -> CommandParser:
    parser = commands.add_parser(name, help=help, description=f"{help[0].upper()}{help[1:]}.")
    parser.set_defaults(command=name)
    parser.add_argument(
        "--json", metavar="FILE", help="write the answer as JSON; - is standard output"
    )
    parser.add_argument("--quiet", action="store_true", help="print neither text nor progress")
    reporting(parser)
    return parser


def reporting(parser: argparse.ArgumentParser) -> None:
    """Verdicts and traces for other tools: files, and annotations of GitHub."""
    parser.add_argument(
        "--junit",
        type=types.path,
        metavar="FILE",
        help="write verdicts for a CI server (JUnit XML)",
    )
    parser.add_argument(
        "--sarif", type=types.path, metavar="FILE", help="write verdicts for code review (SARIF)"
    )
    parser.add_argument(
        "--itf", type=types.path, metavar="DIR", help="write each counterexample as a trace (ITF)"
    )
    parser.add_argument(
        "--github",
        action=argparse.BooleanOptionalAction,
        default=os.environ.get("GITHUB_ACTIONS") == "true",
        help="print what fails as annotations of GitHub; default: in a workflow of GitHub",
    )
