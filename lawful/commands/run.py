"""`lawful run`: the service of a system as a program, `machines/SYSTEM/service/program.py`."""

from __future__ import annotations

import importlib

from .errors import CommandError
from .options import RunOptions
from .output import Output


def run(options: RunOptions, output: Output) -> int:
    """Run the program of the system; its exit code is that of the command."""
    if output.json is not None:
        raise CommandError("run has no answer in JSON: the program prints its own")
    program = importlib.import_module(f"lawful.machines.{options.system}.service.program")
    code: int = program.main(options.words)
    return code
