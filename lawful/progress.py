"""Progress of long work on standard error, and its early end by a signal."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

Tell = Callable[[str], None]
PAUSE = 1.0  # Seconds between two lines where standard error is not a terminal.


@contextmanager
def progress(title: str, quiet: bool, always: bool = False) -> Generator[Tell]:
    """A function that shows a text beside the title while the block runs.

    It shows nothing when `quiet`, and nothing where standard error is not a terminal, unless
    `always`: then it prints a line at most once in a second.
    """
    if quiet or not (always or sys.stderr.isatty()):
        yield lambda text: None
        return
    if not sys.stderr.isatty():
        yield _lines(title)
        return
    try:
        from rich.console import Console
    except ImportError:
        yield lambda text: None
        return
    with Console(stderr=True).status(title) as status:
        yield lambda text: status.update(f"{title}  {text}")


def _lines(title: str) -> Tell:
    last = [-PAUSE]

    def tell(text: str) -> None:
        now = time.monotonic()
        if now - last[0] >= PAUSE:
            last[0] = now
            print(f"{title}  {text}", file=sys.stderr, flush=True)

    return tell


@contextmanager
def terminable() -> Generator[None]:
    """While the block runs, SIGTERM raises `KeyboardInterrupt`, as Ctrl-C does."""
    if threading.current_thread() is not threading.main_thread():
        yield  # Only the main thread may handle signals.
        return

    def end(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def interruption(asked: threading.Event | None = None) -> Generator[Callable[[], bool]]:
    """A function that is true after the first Ctrl-C or SIGTERM; that signal does nothing else.

    A second signal has its usual effect. Blocks that share `asked` share the first signal: it ends
    what each of them does.
    """
    asked = asked or threading.Event()
    if asked.is_set() or threading.current_thread() is not threading.main_thread():
        yield asked.is_set  # Only the main thread may handle signals.
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def end(number: int, _frame: object) -> None:
        asked.set()
        signal.signal(number, before[signal.Signals(number)])

    for number in before:
        signal.signal(number, end)
    try:
        yield asked.is_set
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
