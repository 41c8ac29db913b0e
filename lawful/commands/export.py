"""`lawful export`: a TLA+ module and its configurations, for TLC."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from lawful.checks.tla.module import Exported
from lawful.checks.tla.module import export as as_tla
from lawful.spec.errors import DeclarationError, Problem, Unsupported
from lawful.spec.ir import Json
from lawful.targets import scoped

from . import files
from .errors import CommandError
from .exit_codes import ExitCode
from .options import ExportOptions
from .output import Output

Refused = Unsupported | DeclarationError


def export(options: ExportOptions, output: Output) -> int:
    """Write what can be written.

    Raises DeclarationError where a scope is refused, and CommandError where TLA+ cannot say what
    a machine does; the other machines of the module are written all the same.
    """
    written, refused = _exported(options, output)
    if written or not _problems(refused):
        _answer(written, refused, options.out, output)
    _complain(refused)
    return ExitCode.AS_EXPECTED


def _answer(
    written: Mapping[str, Exported], refused: Mapping[str, Refused], out: Path, output: Output
) -> None:
    """Write the files, and say what is written and what is not."""
    if written:
        files.folder(out)
    lines = [line for each in written.values() for line in _saved(each, out)]
    rows = [_row(name, each, out) for name, each in written.items()]
    rows.extend({"machine": name, "refused": str(why)} for name, why in refused.items())
    output.answer("\n".join(lines) or "nothing is written", rows)


def _problems(refused: Mapping[str, Refused]) -> list[Problem]:
    """The problems of the scopes that are refused."""
    wrong = [why for why in refused.values() if isinstance(why, DeclarationError)]
    return [problem for each in wrong for problem in each.problems]


def _complain(refused: Mapping[str, Refused]) -> None:
    """Raise an error that names what is refused, if anything is."""
    reasons = [f"{name}: {why}" for name, why in refused.items() if isinstance(why, Unsupported)]
    wrong = _problems(refused)
    if wrong:
        for line in reasons:
            print(line, file=sys.stderr)
        raise DeclarationError(wrong)
    if reasons:
        raise CommandError("\n".join(reasons))


def _exported(
    options: ExportOptions, output: Output
) -> tuple[dict[str, Exported], dict[str, Refused]]:
    """By the names of machines: the modules, and why there is none."""
    written: dict[str, Exported] = {}
    refused: dict[str, Refused] = {}
    for cls in output.machines(options.target):
        try:
            machine = scoped(cls, options.scope)
            written[cls.__name__] = as_tla(machine.flat, machine.expects)
        except (Unsupported, DeclarationError) as error:
            refused[cls.__name__] = error
    return written, refused


def _paths(made: Exported, out: Path) -> dict[str, Path]:
    return {
        "module": out / f"{made.name}.tla",
        "config": out / f"{made.name}.cfg",
        "safety": out / f"{made.name}_safety.cfg",
    }


def _saved(made: Exported, out: Path) -> list[str]:
    """Write the files of one machine; the lines name them, and what of the machine they lack."""
    texts = (made.module, made.config, made.safety)
    paths = _paths(made, out).values()
    for path, text in zip(paths, texts, strict=True):
        files.save(path, text)
    return [*map(str, paths), *(f"  left out: {what}" for what in made.left_out)]


def _row(name: str, made: Exported, out: Path) -> Json:
    paths = {kind: str(path) for kind, path in _paths(made, out).items()}
    return {"machine": name, **paths, "left_out": list(made.left_out)}
