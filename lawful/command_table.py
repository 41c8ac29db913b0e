"""The commands and their words as a table, from which scripts of completion are made."""

from __future__ import annotations

import argparse
from typing import Literal, NamedTuple

from .argument_parser import COMMANDS
from .arguments.command_parser import CommandParser

FILES = ("TARGET", "TRACES", "MODULE", "OLD", "NEW")  # Arguments that may be files.


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
        self.parsers: dict[str, tuple[str, CommandParser]] = {}

    def add_parser(self, name: str, *, help: str, description: str) -> CommandParser:
        made = CommandParser(prog=f"lawful {name}", description=description)
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
