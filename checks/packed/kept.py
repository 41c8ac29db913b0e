"""Where compiled steps are kept between runs: a folder for each text and version of the compiler.

Only the entry is kept, for its machine code has that of all functions that it calls in it. Nothing
here needs to succeed: where the folder cannot be written the steps are compiled anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import sys
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from . import prelude

DONE = "compiled"  # The file that tells that the machine code was written whole.


def folder(source: str) -> Path | None:
    """The folder for this text, made if need be; None where there can be none."""
    compiler = f"{metadata.version('numba')} uncounted"
    with open(prelude.__file__, encoding="utf-8") as file:
        text = "\n".join((source, file.read(), compiler, sys.version))
    name = hashlib.sha256(text.encode()).hexdigest()[:24]
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    found = Path(base) / "lawful" / "steps" / name
    try:
        found.mkdir(parents=True, exist_ok=True)
        if not (found / "steps.py").exists():
            new = found / f"steps-{os.getpid()}"
            new.write_text(source, encoding="utf-8")
            new.replace(found / "steps.py")
    except OSError:
        return None
    return found


def text(folder: Path) -> str:
    """The text whose folder this is."""
    return (folder / "steps.py").read_text(encoding="utf-8")


def loaded(folder: Path, names: Mapping[str, Any]) -> dict[str, Any]:
    """The names of the module in the folder, run with these names in it."""
    spec = importlib.util.spec_from_file_location(f"steps_{folder.name}", folder / "steps.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    vars(module).update(names)
    sys.modules[module.__name__] = module
    spec.loader.exec_module(module)
    return vars(module)


def is_there(folder: Path) -> bool:
    """Whether the machine code was written."""
    return (folder / DONE).exists()


def note(folder: Path) -> None:
    """Tell later runs that the machine code was written."""
    with contextlib.suppress(OSError):  # Later runs compile again.
        (folder / DONE).touch()
