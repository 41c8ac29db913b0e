"""Ctrl-C at each place where CPython delivers an exception from outside.

It does so after a call, where a function begins, and where a loop goes round. Each of these places
is tried, one after the other; but for those where a block ends with a call: there the exception is
one of the block, and a tracer can only raise one after it.
"""

from __future__ import annotations

import dis
import functools
import gc
import inspect
import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

DELIVERED = frozenset(
    {
        "CALL",
        "CALL_KW",
        "CALL_FUNCTION_EX",
        "RESUME",
        "JUMP_BACKWARD",
        "INSTRUMENTED_CALL",
    }
)


class Interrupt:
    """Raises KeyboardInterrupt at the place of this number, in code of these files, or anywhere."""

    def __init__(self, number: int, *files: str) -> None:
        self.left = number
        self.files = files
        self.before = dict[FrameType, int]()

    def __call__(self, frame: FrameType, event: str, _: Any) -> Any:
        if self.files and frame.f_code.co_filename not in self.files:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode" and self._delivers(frame):
            self.left -= 1
            if self.left < 0:
                sys.settrace(None)
                self.strike()
        return self

    def strike(self) -> None:
        """What happens at the place."""
        raise KeyboardInterrupt

    def _delivers(self, frame: FrameType) -> bool:
        before, self.before[frame] = self.before.get(frame), frame.f_lasti
        if before is None:
            return False
        names, blocks = _read(frame.f_code)
        if names[before] not in DELIVERED:
            return False
        inside = [[low <= at < high for low, high in blocks] for at in (before, frame.f_lasti)]
        return inside[0] == inside[1]


class Handled(Interrupt):
    """Calls a signal handler there, which raises nothing."""

    def __init__(self, number: int, files: tuple[str, ...], handler: Callable[[], object]) -> None:
        super().__init__(number, *files)
        self.handler = handler

    def strike(self) -> None:
        self.handler()


def handled(
    number: int, files: tuple[str, ...], act: Callable[[], object], handler: Callable[[], object]
) -> bool:
    """Whether the handler was called at the place of this number, before the act ended."""
    kept, signal = sys.gettrace(), Handled(number, files, handler)
    here = inspect.currentframe()
    assert here is not None
    here.f_trace_opcodes = True  # Before: CPython 3.12 looks at it when tracing begins.
    gc.disable()
    sys.settrace(signal)
    try:
        act()
    finally:
        sys.settrace(kept)
        gc.enable()
        signal.before.clear()
    return signal.left < 0


@functools.cache
def _read(code: CodeType) -> tuple[dict[int, str], list[tuple[int, int]]]:
    """The instructions of a function by their places, and where its blocks with handlers are."""
    read: Any = dis.Bytecode(code)
    return (
        {i.offset: i.opname for i in read},
        [(row.start, row.end) for row in read.exception_entries],
    )


def interrupted(number: int, files: tuple[str, ...], act: Callable[[], object]) -> bool:
    """Whether the act was interrupted, and did not end before that place."""
    kept, interrupt = sys.gettrace(), Interrupt(number, *files)
    here = inspect.currentframe()
    assert here is not None
    here.f_trace_opcodes = True  # Before: CPython 3.12 looks at it when tracing begins.
    gc.disable()  # What is raised in a callback of the collector, nobody gets.
    sys.settrace(interrupt)
    try:
        act()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(kept)
        gc.enable()
        interrupt.before.clear()  # Its frames hold what the act held.
    assert interrupt.left >= 0  # What was raised came out.
    return False


def at_every_place(
    files: tuple[str, ...], play: Callable[[Callable[..., bool]], None], every: int = 1
) -> int:
    """Play once for each place, or for each of so many, until there is none of that number; about
    how many there are."""
    for number in range(0, 10_000, every):
        came = list[bool]()

        def attempt(
            act: Callable[[], object], number: int = number, came: list[bool] = came
        ) -> bool:
            came.append(interrupted(number, files, act))
            return came[0]

        play(attempt)
        if not came[0]:
            return number
    raise AssertionError("it does not end")
