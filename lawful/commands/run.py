"""`lawful run`: the service of a system as a program, `machines/SYSTEM/service/program.py`."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from types import ModuleType

from .errors import CommandError
from .options import RunOptions
from .output import Output

SYSTEMS = "lawful.machines"


def run(options: RunOptions, output: Output) -> int:
    """Run the program of the system; its exit code is that of the command."""
    if output.json is not None:
        raise CommandError("run has no answer in JSON: the program prints its own")
    code: int = _program(options.system).main(options.words)
    return code


def _program(system: str) -> ModuleType:
    programs = [name for name in _systems() if _has_program(name)]
    if system not in programs:
        raise CommandError(f"no service is called {system!r}; there are {', '.join(programs)}")
    return importlib.import_module(f"{SYSTEMS}.{system}.service.program")


def _systems() -> list[str]:
    systems = importlib.import_module(SYSTEMS)
    return sorted(each.name for each in pkgutil.iter_modules(systems.__path__))


def _has_program(system: str) -> bool:
    service = f"{SYSTEMS}.{system}.service"
    try:
        return importlib.util.find_spec(f"{service}.program") is not None
    except ModuleNotFoundError:
        return False
