"""The commands that start a program, or help a shell with this one: run, lsp, completion."""

from __future__ import annotations

from lawful import argument_types as types

from .command_parser import Subparsers, command


def run(commands: Subparsers) -> None:
    help = "start the service of a system as a program"
    parser = command(commands, "run", help)
    system = "a system that has a service, such as unicast; a wrong name lists them"
    parser.add_argument("system", metavar="SYSTEM", help=system)
    words = "the program's own; `lawful run SYSTEM --help` lists them"
    parser.add_argument("words", metavar="ARGUMENTS", nargs="...", help=words)


def lsp(commands: Subparsers) -> None:
    help = "serve an editor by the Language Server Protocol, on standard input and output"
    parser = command(commands, "lsp", help)
    parser.add_argument(
        "--delay",
        type=types.seconds,
        default=0.3,
        metavar="S",
        help="read a file when it has not changed for S seconds; default 0.3",
    )
    parser.add_argument(
        "--max-seconds",
        type=types.seconds,
        default=30.0,
        metavar="S",
        help="stop each check after S seconds; default 30",
    )


def completion(commands: Subparsers) -> None:
    help = "print the script by which a shell completes commands and options"
    parser = command(commands, "completion", help)
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="the shell")
