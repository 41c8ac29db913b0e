"""Machine code for a search that goes on for long: made quickly at first, then well.

Where the steps are long, a copy of the process compiles them from the beginning of the search, and
the search goes on meanwhile.

    python -m lawful.checks.explore.compiled.background

compiles the steps that come as a line of JSON at its input, and keeps the machine code on disk. A
search ends this process when it ends itself. If it is killed, the end of the input tells that.

That a search went over to machine code is kept, too: the next one with the same steps does so at
once, without a look at how long it would take.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Generator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from lawful.spec import sha256

from ...cache_folder import cache_folder
from ..expansion.successors import Text
from ..limits import Limits
from . import kept_files
from .forecast import Forecast

if TYPE_CHECKING:
    import subprocess

    from .llvm import Native

# Processor seconds of plain steps before there is any machine code: a small search is done by then.
PATIENCE = 0.15
# Processor seconds of them before it is looked up whether earlier searches went on for long: the
# library of checksums is loaded for that.
BRIEF = 0.02
# Processor seconds until there is machine code that is not optimised: to import the compiler and to
# compile the search take so many, and each character of the steps some more.
COMPILER, CHARACTER = 0.25, 2.5e-6
# Steps of so many characters take Python itself a while to compile, and machine code a while more:
# a copy of the process makes that from the beginning.
LONG = 100_000
# Processor seconds of a search before a second process makes optimised code, which takes seconds.
LONGER = 1.0
DEATH_OF_PARENT = 1  # PR_SET_PDEATHSIG of Linux.


class Compiler:
    """Gives a search better machine code when that pays: first what is made at once, as it is not
    optimised, then what a second process has made."""

    def __init__(self, text: Text, limits: Limits | None = None) -> None:
        self.text = text
        self.limits = limits or Limits()
        self.price = COMPILER + CHARACTER * len(text.steps)
        self.begin(0, 0)
        self.possible = importlib.util.find_spec("llvmlite") is not None
        self.seconds = 0.0  # That the second process took.
        self._quick = False
        self._copy: Copy | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._forked = 0.0

    def begin(self, expanded: int, count: int, passed: float = 0.0) -> None:
        """The search goes on now, from so many expanded states of those that it knows; so many of
        the seconds that it may take have passed."""
        self.began, self.started = time.process_time(), time.perf_counter() - passed
        self.forecast = Forecast(expanded, count)

    def compile_ahead(self) -> None:
        """Have a copy of this process compile the steps if they are long. Whoever asks for this
        calls `end`, too."""
        if self.possible and len(self.text.steps) >= LONG and not self.lasted:
            with _unsignalled():
                self._copy = copied(self.text, self.limits.workers)

    def better(self, expanded: int, count: int) -> Native | None:
        """Better steps than those that the search has, if it is time to go over to them: it has
        expanded so many states of those that it knows."""
        if not self.possible:
            return None
        if self._copy is not None:
            return self._of_copy(self._copy)
        spent = time.process_time() - self.began
        if not self._quick:
            self.forecast.note(expanded, count)
            if not self._pays(spent):
                return None
        if self._process is not None:
            return None if self._process.poll() is None else self._best()
        if self._quick and spent < LONGER:
            return None
        from .llvm import SPEED, kept, quick

        file = kept(self.text, SPEED)
        if file is not None and file.exists():
            return self._best()
        if not self._quick:
            self._quick = True
            kept_files.write(self.known, b"")
            return quick(self.text)
        if file is None:
            return self._best()
        self._process, self._forked = _started(self.text), time.perf_counter()
        return None

    def _pays(self, spent: float) -> bool:
        """Whether machine code pays in a search that has spent so many seconds: an earlier one with
        the same steps had it, or it is made sooner than plain Python is at the end."""
        if spent >= BRIEF and self.lasted:
            return True
        return spent >= PATIENCE and self._left_for(spent) >= self.price

    @cached_property
    def lasted(self) -> bool:
        """Whether a search with these steps had machine code before."""
        return kept_files.read(self.known) is not None

    @property
    def known(self) -> Path | None:
        """The file that tells so."""
        folder = cache_folder("searches")
        name = sha256.hexdigest("\n".join(map(str, self.text)).encode())[:24]
        return None if folder is None else folder / name

    def _left_for(self, spent: float) -> float:
        """The seconds that the search still takes in plain Python, of which it has spent so many:
        until its end, or until a limit is met."""
        left = self.forecast.left(spent, self.limits.states)
        if self.limits.seconds is None:
            return left
        return min(left, self.limits.seconds - (time.perf_counter() - self.started))

    def _of_copy(self, copy: Copy) -> Native | None:
        """The machine code of the copy, if it is there; what it could not make is made here, if
        that pays."""
        if not copy.ready():
            return None
        from .llvm import QUICK, Native, kept

        self._copy, code = None, copy.code()
        if not code:
            return None
        self._quick = True
        kept_files.write(self.known, b"")
        kept_files.write(kept(self.text, QUICK), code)
        return Native(code, time.perf_counter() - copy.began)

    def _best(self) -> Native:
        from .llvm import compiled

        self.possible = False
        if self._process is not None:
            self.seconds = time.perf_counter() - self._forked
            self._wait()
        return compiled(self.text)

    def end(self) -> None:
        """Nobody waits for machine code any more."""
        self.possible = False
        if self._copy is not None:
            self._copy.end()
            self._copy = None
        if self._process is not None:
            self._process.kill()
            self._wait()

    def _wait(self) -> None:
        """The second process has ended, or is about to."""
        assert self._process is not None
        with contextlib.suppress(BrokenPipeError), self._process:
            self._process = None


class Copy:
    """A copy of this process, which compiles steps and gives the machine code to a pipe."""

    def __init__(self, pid: int, pipe: int) -> None:
        self.pid, self.pipe, self.began = pid, pipe, time.perf_counter()

    def ready(self) -> bool:
        """Whether it has begun to give the machine code, or has ended."""
        return bool(select.select((self.pipe,), (), (), 0)[0])

    def code(self) -> bytes:
        """The machine code; empty where the copy failed."""
        with open(self.pipe, "rb") as pipe:
            code = pipe.read()
        try:
            _, status = os.waitpid(self.pid, 0)
        except ChildProcessError:  # This process ignores SIGCHLD: nobody knows how the copy ended.
            return b""
        return b"" if status else code

    def end(self) -> None:
        """Nobody waits for it any more."""
        os.close(self.pipe)
        with contextlib.suppress(ChildProcessError):  # It has ended, and SIGCHLD is ignored.
            if os.waitpid(self.pid, os.WNOHANG) == (0, 0):
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)


def copied(text: Text, workers: int | None) -> Copy | None:
    """A copy of this process that compiles these steps; None where it would take the processor from
    this one, or where this one has other threads, whose locks a copy would find as they are."""
    from .threads import processors

    if sys.platform != "linux" or (workers or processors()) == 1:
        return None
    if len(os.listdir("/proc/self/task")) > 1:
        return None
    pipe, into = os.pipe()
    parent = os.getpid()
    try:
        pid = os.fork()
        if pid == 0:
            _compile(text, parent, into)
    except OSError:  # There is no room for another process.
        os.close(pipe)
        return None
    finally:
        os.close(into)
    importlib.import_module(f"{__package__}.llvm")  # Needed here, too, and here is time for it.
    return Copy(pid, pipe)


@contextlib.contextmanager
def _unsignalled() -> Generator[None]:
    """No handler of a signal runs inside; a process that is copied inside never runs one."""
    held = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, held)


def _compile(text: Text, parent: int, into: int) -> NoReturn:
    """Give the machine code of these steps to a pipe, and end; at once if the parent has ended."""
    status = 1
    try:
        import ctypes

        from .llvm import unoptimised

        ctypes.CDLL(None).prctl(DEATH_OF_PARENT, signal.SIGKILL)
        if os.getppid() == parent:
            left = memoryview(unoptimised(text))
            while left:
                left = left[os.write(into, left) :]
            status = 0
    finally:
        os._exit(status)


def _started(text: Text) -> subprocess.Popen[bytes]:
    import subprocess  # Only a long search needs it.

    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = (sys.executable, "-m", __name__)
    nothing = subprocess.DEVNULL
    process = subprocess.Popen(
        command, env=env, stdin=subprocess.PIPE, stdout=nothing, stderr=nothing
    )
    # The search does not wait until all is read.
    threading.Thread(target=tell, args=(process, text), daemon=True).start()
    return process


def tell(process: subprocess.Popen[bytes], text: Text) -> None:
    """Give a process the steps. Its input stays open, as long as this process lives."""
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError, ValueError):  # It has ended, or was closed.
        process.stdin.write(json.dumps(text).encode() + b"\n")
        process.stdin.flush()


def _end_with_input() -> None:
    """Wait for the end of the input: whoever wanted the machine code is not there any more."""
    while os.read(sys.stdin.fileno(), 1):
        pass
    os._exit(1)


if __name__ == "__main__":
    read = Text(*json.loads(sys.stdin.readline()))
    threading.Thread(target=_end_with_input, daemon=True).start()
    from .llvm import SPEED, kept, make

    make(read, kept(read, SPEED), SPEED)
