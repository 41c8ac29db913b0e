"""Which engine replays: this process or Spark."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from .sources import Sources

Tell = Callable[[str], None]  # Shows how far a replay is.
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


def remark(used: Engine, files: Sources, asked: EngineChoice, master: str | None) -> str:
    """Why another engine would suit this much better, as a sentence; empty where none would."""
    small = files.size <= SMALL
    much = _told(files.size)
    if files.some_remote or master is not None or small == (used == "local"):
        return ""
    if small:
        return f"{much} of lines need no Spark: --engine local replays them sooner"
    if asked == "local":
        return f"{much} of lines are more than {_told(SMALL)}: --engine auto replays them on Spark"
    from .spark.session import why_no_spark

    return f"{much} of lines are more than {_told(SMALL)}, but {why_no_spark()}"


def _told(size: int) -> str:
    """A number of bytes."""
    for factor, unit in ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "kB")):
        if size >= factor:
            return f"{size / factor:,.0f} {unit}"
    return f"{size} bytes"


def silent(_: str) -> None:
    """Tells nobody."""
