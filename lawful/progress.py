"""Progress of long work on standard error: only at a terminal, only where it is wanted."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager

Tell = Callable[[str], None]


@contextmanager
def progress(title: str, quiet: bool) -> Generator[Tell]:
    """Inside, telling a text shows it beside the title; silent when quiet or not at a terminal."""
    if quiet or not sys.stderr.isatty():
        yield lambda text: None
        return
    try:
        from rich.console import Console
    except ImportError:
        yield lambda text: None
        return
    with Console(stderr=True).status(title) as status:
        yield lambda text: status.update(f"{title}  {text}")
