"""`lawful export`: a TLA+ module and its configurations, for TLC."""

from __future__ import annotations

from pathlib import Path

from lawful.checks.tla.module import CannotWrite, Exported
from lawful.checks.tla.module import export as as_tla
from lawful.spec.ir import Json
from lawful.targets import scoped

from . import files
from .errors import CommandError
from .exit_codes import ExitCode
from .options import ExportOptions
from .output import Output


def export(options: ExportOptions, output: Output) -> int:
    """Write what can be written. Raises CommandError where a machine cannot be."""
    written, refused = _exported(options, output)
    if written:
        files.folder(options.out)
    lines = [line for each in written.values() for line in _saved(each, options.out)]
    rows = [_row(name, each, options.out) for name, each in written.items()]
    rows.extend({"machine": name, "refused": why} for name, why in refused.items())
    output.answer("\n".join(lines) or "nothing is written", rows)
    if refused:
        raise CommandError("\n".join(f"{name}: {why}" for name, why in refused.items()))
    return ExitCode.AS_EXPECTED


def _exported(options: ExportOptions, output: Output) -> tuple[dict[str, Exported], dict[str, str]]:
    """By the names of machines: the modules, and why there is none."""
    written: dict[str, Exported] = {}
    refused: dict[str, str] = {}
    for cls in output.machines(options.target):
        machine = scoped(cls, options.scope)
        try:
            written[cls.__name__] = as_tla(machine.flat, machine.expects)
        except CannotWrite as error:
            refused[cls.__name__] = str(error)
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
