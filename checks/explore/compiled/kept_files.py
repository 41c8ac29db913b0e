"""Files of code that need not be made twice, each with a checksum before its content.

What cannot be read or written is made again.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from lawful.spec import sha256

CHECKSUM = 32  # Bytes.


def read(file: Path | None) -> bytes | None:
    """What the file has; None where there is no such file, or it was not written whole."""
    if file is not None:
        with contextlib.suppress(OSError):
            held = file.read_bytes()
            if held[:CHECKSUM] == sha256.digest(held[CHECKSUM:]):
                return held[CHECKSUM:]
    return None


def write(file: Path | None, content: bytes) -> None:
    """Keep this there, at once or not at all; nothing where there is no file."""
    if file is not None:
        with contextlib.suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            new = file.with_suffix(f".{os.getpid()}")
            new.write_bytes(sha256.digest(content) + content)
            new.replace(file)
