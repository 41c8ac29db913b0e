"""Generated steps as Python's bytecode, which is kept on disk: the text is long."""

from __future__ import annotations

import importlib.util
import marshal
import sys
from pathlib import Path
from types import CodeType

from lawful.spec import sha256

from ...cache_folder import cache_folder
from . import kept_files

LONG = 20_000  # Characters. A shorter text is compiled about as soon as a file is found.


def bytecode(source: str) -> CodeType:
    """The code of this text, from where it is kept if it is."""
    file = _file(source) if len(source) >= LONG else None
    held = kept_files.read(file)
    if held is not None:
        code: CodeType = marshal.loads(held)
        return code
    code = compile(source, "<steps>", "exec")  # Text that `codegen` wrote.
    kept_files.write(file, marshal.dumps(code))
    return code


def _file(source: str) -> Path | None:
    """The file for a text and this Python, with or without assertions."""
    folder = cache_folder("bytecode")
    python = sys.implementation.cache_tag or "", importlib.util.MAGIC_NUMBER.hex()
    parts = "\n".join((*python, str(sys.flags.optimize), source))
    name = sha256.hexdigest(parts.encode())[:24]
    return None if folder is None else folder / f"{name}.code"
