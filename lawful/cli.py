"""The command line: `lawful COMMAND TARGET [options]`.

The words of a command line become the typed options of one command (`commands.options`); what goes
wrong becomes an exit code and the files that say why. `commands.exit_codes` has the exit codes.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import sys
import time
import traceback
from collections.abc import Sequence
from typing import Any, TypeVar, cast

from lawful.spec.errors import DeclarationError

from .argument_parser import parser
from .arguments.command_parser import Usage, reporting
from .commands import files, options, outcome_report
from .commands.errors import CommandError, Ended
from .commands.exit_codes import ExitCode
from .commands.output import Output, printable
from .progress import terminable
from .targets import TargetError

T = TypeVar("T")

# The commands that write each verdict into the files of --junit and --sarif. For others, these
# files say how the command ended.
JUDGING = ("check", "simulate", "prove", "lint", "replay")
# The commands that write counterexamples into the folder of --itf.
TRACING = ("check", "simulate", "prove", "replay", "draw", "lock")
# Fields of a command's options that are themselves groups of options.
GROUPS: dict[str, type[Any]] = {
    "exploration": options.ExplorationOptions,
    "reports": options.Reports,
    "solver": options.SolverBudget,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the return value is the exit code.

    SIGTERM ends a command as Ctrl-C does. Where a command has no answer, the files that were asked
    for say why. Raises SystemExit with the exit code for a command line that cannot be parsed.
    """
    words = sys.argv[1:] if argv is None else argv
    try:
        given = parser(words).parse_args(words)
    except Usage as error:
        asked = _files_asked_for(words)
        _write_error(asked, _output(asked), Ended.usage(error.message))
        raise
    output = _output(given)
    if given.itf is not None and output.command not in TRACING:
        output.note(f"--itf: {output.command} writes no traces")
    with terminable():
        try:
            ended = _run(given, output)
        except BrokenPipeError:
            return ExitCode.AS_EXPECTED
        if isinstance(ended, Ended):
            print(printable(ended.message), file=sys.stderr)
            _write_error(given, output, ended)
            return ended.code
        return ended


def _run(given: argparse.Namespace, output: Output) -> int | Ended:
    """The exit code of a command, or why it has no answer."""
    # What a user's module prints must not stand beside the JSON or a picture.
    stdout = sys.stderr if output.json == "-" or _drawn_there(given) else sys.stdout
    began = time.perf_counter()
    try:
        files.look(vars(given))
        with contextlib.redirect_stdout(stdout):
            code = _command(given, output)
        if output.command not in JUDGING:
            seconds = time.perf_counter() - began
            outcome_report.write_outcome(output, code, _reports(given), _target(given), seconds)
        return code
    except (TargetError, CommandError) as error:
        return Ended.usage(str(error))
    except DeclarationError as error:
        return Ended.refused(error)
    except KeyboardInterrupt:
        return Ended("stopped", ExitCode.UNKNOWN, "stopped")
    except BrokenPipeError:
        raise
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and error.name == "z3":
            return Ended.usage(f"{output.command} needs Z3: pip install 'lawful[check]'")
        traceback.print_exc()
        message = "this is a fault of lawful: please report it with the lines above"
        return Ended("fault", ExitCode.FAULT, message)


def _command(given: argparse.Namespace, output: Output) -> int:
    """Run the command. Its module is imported now, because its engine may not be installed."""
    match output.command:
        case "check":
            from .commands.check import check

            return check(_options(options.CheckOptions, given), output)
        case "simulate":
            from .commands.simulate import simulate

            return simulate(_options(options.SimulateOptions, given), output)
        case "lint":
            from .commands.lint import lint

            return lint(_options(options.LintOptions, given), output)
        case "prove":
            from .commands.prove import prove

            return prove(_options(options.ProveOptions, given), output)
        case "draw":
            from .commands.draw import draw

            return draw(_options(options.DrawOptions, given), output)
        case "replay":
            from .commands.replay import replay

            return replay(_options(options.ReplayOptions, given), output)
        case "infer-mapping":
            from .commands.infer_mapping import infer_mapping

            return infer_mapping(_options(options.InferMappingOptions, given), output)
        case "learn-scope":
            from .commands.learn_scope import learn_scope

            return learn_scope(_options(options.LearnScopeOptions, given), output)
        case _:
            return _other_command(given, output)


def _other_command(given: argparse.Namespace, output: Output) -> int:
    """The commands that judge nothing, or compare versions."""
    match output.command:
        case "show":
            from .commands.show import show

            return show(_options(options.ShowOptions, given), output)
        case "export":
            from .commands.export import export

            return export(_options(options.ExportOptions, given), output)
        case "lock":
            from .commands.lock import lock

            return lock(_options(options.LockOptions, given), output)
        case "certify":
            from .commands.certify import certify

            return certify(_options(options.CertifyOptions, given), output)
        case "diff":
            from .commands.diff import diff

            return diff(_options(options.DiffOptions, given), output)
        case "explore":
            from .commands.explore import explore

            return explore(_options(options.ExploreOptions, given), output)
        case "shell":
            from .commands.shell import shell

            return shell(_options(options.ShellOptions, given), output)
        case "completion":
            from .completion_scripts import completion

            return completion(_options(options.CompletionOptions, given), output)
        case "lsp":
            from .editor.language_server import lsp

            return lsp(_options(options.LspOptions, given), output)
        case "freeze":
            from .commands.freeze import freeze

            return freeze(_options(options.FreezeOptions, given), output)
        case "run":
            from .commands.run import run

            return run(_options(options.RunOptions, given), output)
        case _:
            raise ValueError(f"{output.command} is no command")


def _drawn_there(given: argparse.Namespace) -> bool:
    """Whether standard output takes a picture."""
    pictures = given.command == "draw" or (given.command == "diff" and given.format)
    return bool(pictures) and given.out is None


def _output(given: argparse.Namespace) -> Output:
    return Output(given.command, given.json, getattr(given, "quiet", False))


def _write_error(given: argparse.Namespace, output: Output, ended: Ended) -> None:
    outcome_report.write_error(ended, output, _reports(given), _target(given))


def _reports(given: argparse.Namespace) -> options.Reports:
    return options.Reports(given.junit, given.sarif, given.itf, given.github)


def _target(given: argparse.Namespace) -> str:
    """What the command was asked of, as it was named."""
    targets = " ".join(getattr(given, "targets", ()))
    return str(getattr(given, "target", targets or given.command))


def _files_asked_for(words: Sequence[str]) -> argparse.Namespace:
    """The command, and the files for an error, of a command line that cannot be parsed."""
    parser = argparse.ArgumentParser(add_help=False, exit_on_error=False, allow_abbrev=False)
    parser.add_argument("--json")
    reporting(parser)
    try:
        given, rest = parser.parse_known_args(words)
    except argparse.ArgumentError:  # One of these options has no value.
        return argparse.Namespace(
            json=None, junit=None, sarif=None, itf=None, github=False, command=""
        )
    given.command = rest[0] if rest and not rest[0].startswith("-") else ""
    return given


def _options(kind: type[T], given: argparse.Namespace) -> T:
    """The options of a command: each field from the argument of its name."""
    values = {
        name: _options(GROUPS[name], given) if name in GROUPS else getattr(given, name)
        for name in (each.name for each in dataclasses.fields(cast(Any, kind)))
    }
    return kind(**values)
