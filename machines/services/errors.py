"""Errors in an event loop that nobody handles."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any


def on_error(loop: asyncio.AbstractEventLoop, failed: Callable[[Exception], None]) -> None:
    """From now on call `failed` with what a function that the loop calls raises, such as a
    journal's error. Other errors, such as too many open files when a client connects, are logged
    as before."""

    def handle(loop: asyncio.AbstractEventLoop, context: Mapping[str, Any]) -> None:
        error = context.get("exception")
        if "handle" in context and isinstance(error, Exception):
            failed(error)
        else:
            loop.default_exception_handler(dict(context))

    loop.set_exception_handler(handle)
