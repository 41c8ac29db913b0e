"""The commands that start a program, or help a shell with this one: run, lsp, completion."""

from __future__ import annotations

from lawful import argument_types as types

from .command_parser import Subparsers, command

# The systems that have a service, each with a program.
SYSTEMS = ("message_scheduler", "object_diffusion", "queue_cluster", "read_only_windows", "unicast")


def run(commands: Subparsers) -> None:
    help = "start the service of a system as a program"
    parser = command(commands, "run", help)
    system = f"a system that has a service: {', '.join(SYSTEMS)}"
    parser.add_argument("system", metavar="SYSTEM", choices=SYSTEMS, help=system)
    words = "the program's own; `lawful run SYSTEM --help` lists them"
    parser.add_argument("words", metavar="ARGUMENTS", nargs="...", help=words).required = False


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
