"""`lawful draw`: control states, guards and outputs as a picture."""

from __future__ import annotations

from lawful.diagrams.render import Drawn, RenderError, render
from lawful.runtime.instance import Machine
from lawful.spec.ir import Json
from lawful.spec.resolve import resolve

from . import files
from .errors import CommandError
from .exit_codes import ExitCode
from .options import DrawOptions
from .output import Output


def draw(options: DrawOptions, output: Output) -> int:
    """Draw a picture of each of the target's machines."""
    classes = output.machines(options.target)
    files.folder(options.out)
    drawn = [_drawn(cls, options) for cls in classes]
    lines = [f"{each.path}{f'  ({each.note})' if each.note else ''}" for each in drawn]
    rows: list[Json] = [
        {"machine": cls.__name__, "path": str(each.path), "format": each.format}
        for cls, each in zip(classes, drawn, strict=True)
    ]
    output.answer("\n".join(lines), rows)
    return ExitCode.AS_EXPECTED


def _drawn(cls: type[Machine], options: DrawOptions) -> Drawn:
    suffix = "mmd" if options.format == "mermaid" else options.format
    path = options.out / f"{cls.__name__}.{suffix}"
    try:
        return render(resolve(cls).machine, path, options.format)
    except RenderError as error:
        raise CommandError(str(error)) from error
