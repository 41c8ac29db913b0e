"""The parser of the command line; `lawful.arguments` has the arguments of each command."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import NoReturn

from .arguments import exploration, programs, proofs, recordings, renderings
from .arguments.command_parser import CommandParser, Subparsers


class _Version(argparse.Action):
    """Prints the version of the installed package; a copy that is not installed has none."""

    def __call__(self, parser: argparse.ArgumentParser, *_given: object) -> NoReturn:
        from importlib import metadata  # It takes as long as the whole parser.

        try:
            print(f"lawful {metadata.version('lawful')}")
        except metadata.PackageNotFoundError:
            print("lawful is not installed: it runs from a folder")
        raise SystemExit(0)


def parser(words: Sequence[str] = ()) -> argparse.ArgumentParser:
    """The parser of a command line of these words. It knows the command that the first word names,
    or all commands where that names none: to make the options of all takes twice as long.
    """
    whole = CommandParser(
        prog="lawful",
        description="Run, check, prove, draw and replay formally specified state machines.",
        epilog="`lawful COMMAND --help` lists the options of a command.",
    )
    whole.add_argument("--version", action=_Version, nargs=0, help="print the version and end")
    commands = whole.add_subparsers(required=True, metavar="COMMAND", parser_class=CommandParser)
    named = COMMANDS.get(words[0]) if words else None
    for add in COMMANDS.values() if named is None else (named,):
        add(commands)
    return whole


COMMANDS: dict[str, Callable[[Subparsers], None]] = {
    "check": exploration.check,
    "simulate": exploration.simulate,
    "lint": exploration.lint,
    "prove": proofs.prove,
    "draw": renderings.draw,
    "replay": recordings.replay,
    "infer-mapping": recordings.infer_mapping,
    "learn-scope": recordings.learn_scope,
    "show": renderings.show,
    "export": renderings.export,
    "lock": proofs.lock,
    "certify": proofs.certify,
    "diff": proofs.diff,
    "explore": exploration.explore,
    "shell": exploration.shell,
    "lsp": programs.lsp,
    "freeze": renderings.freeze,
    "run": programs.run,
    "completion": programs.completion,
}
