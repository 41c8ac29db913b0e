"""The folder where checks keep, for the user, what need not be worked out twice."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder(name: str) -> Path | None:
    """The folder of this name in the user's cache: in `XDG_CACHE_HOME`, or in `~/.cache`.

    None where the user has no home folder. The folder need not be there, nor can it always be made.
    """
    try:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    except RuntimeError:  # There is no home folder.
        return None
    return Path(base) / "lawful" / name
