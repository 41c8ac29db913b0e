"""Whose exception is it: the declaration's, or that of a signal handler that interrupted it?

A guard without a value raises what Python raises: LookupError, ValueError, TypeError. A signal
handler may raise the same, between any two instructions. The runtime turns the first into
`Undefined`, or into the choice of another transition; the second belongs to the caller, as it is.

CPython calls a handler with the frame that it interrupts. So a frame of the traceback that has the
frame above it as an argument is that of a handler. A handler that is no Python function (a class,
say, whose constructor raises) has no frame, and a handler that deletes its argument hides it: their
exceptions count as the declaration's.
"""

from __future__ import annotations

from types import FrameType
from typing import Any

VARARGS = 4  # The flag of a function with `*args`.


def of_a_handler(error: BaseException) -> bool:
    """Whether a signal handler raised the exception, or something that it called."""
    trace = error.__traceback__
    while trace is not None:
        above, trace = trace.tb_frame, trace.tb_next
        if trace is not None and _has(trace.tb_frame, above):
            return True
    return False


def _has(frame: FrameType, above: FrameType) -> bool:
    """Whether a frame's function was given the frame above it."""
    code = frame.f_code
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & VARARGS)
    for name in code.co_varnames[:count]:
        given: Any = frame.f_locals.get(name)
        if given is above:
            return True
        if given.__class__ is tuple and any(each is above for each in given):
            return True
    return False


def let_out(error: BaseException) -> None:
    """Raise the exception on if it is that of a signal handler."""
    if of_a_handler(error):
        raise error
