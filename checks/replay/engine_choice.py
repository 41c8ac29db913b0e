"""Which engine replays: this process or Spark."""

from __future__ import annotations

from typing import Literal

from .sources import Sources

Engine = Literal["local", "spark"]
EngineChoice = Literal["auto", "local", "spark"]
SMALL = 64 << 20  # Bytes of lines that this process has replayed while Spark would begin.


def chosen(files: Sources, master: str | None = None) -> Engine:
    """The engine of the choice `auto`; a master is asked for only where Spark is wanted."""
    if master is not None or files.some_remote:
        return "spark"
    return "local" if files.size <= SMALL else large()


def large() -> Engine:
    """The engine of the choice `auto` for much on this computer."""
    from .spark.session import why_no_spark

    return "local" if why_no_spark() else "spark"
