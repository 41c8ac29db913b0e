"""Where Python finds the modules of targets: first in the folder of the file that is named."""

from __future__ import annotations

import os
import sys
from pathlib import Path

_ENTERED: set[str] = set()


def enter(root: Path) -> None:
    """Python finds the modules of this folder first, also where a target in another folder has
    imported modules of the same names: two revisions of a file each import their own."""
    here = str(root)
    others = _ENTERED - {here}
    for name, module in list(sys.modules.items()) if others else ():
        if "." not in name and _home(module) in others and _has(root, name):
            _forget(name)
    _ENTERED.add(here)
    sys.path.insert(0, here)


def _home(module: object) -> str:
    """The folder in which Python has found a module or package."""
    folder, base = os.path.split(getattr(module, "__file__", None) or "")
    return os.path.dirname(folder) if base == "__init__.py" else folder


def _has(root: Path, name: str) -> bool:
    return (root / f"{name}.py").is_file() or (root / name / "__init__.py").is_file()


def _forget(name: str) -> None:
    """The next import reads the module, or the package with all that is in it, anew."""
    for each in list(sys.modules):
        if each == name or each.startswith(f"{name}."):
            del sys.modules[each]
