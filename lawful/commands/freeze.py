"""`lawful freeze`: the IR of a module beside it, for deployments without its source."""

from __future__ import annotations

from lawful.spec.errors import Unsupported
from lawful.spec.freeze import write
from lawful.spec.ir import Json
from lawful.targets import declared_in

from .errors import CommandError
from .exit_codes import ExitCode
from .options import FreezeOptions
from .output import Output


def freeze(options: FreezeOptions, output: Output) -> int:
    """Write the IR of every machine of the module."""
    module, found = declared_in(options.target)
    try:
        path = str(write(module, found))
    except (Unsupported, OSError) as error:
        raise CommandError(str(error)) from error
    names: list[Json] = [cls.__name__ for cls in found]
    text = "\n".join([path, *(f"  {name}" for name in names)])
    output.write(text, {"version": 1, "command": "freeze", "path": path, "machines": names})
    return ExitCode.AS_EXPECTED
