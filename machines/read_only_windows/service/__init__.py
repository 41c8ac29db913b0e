"""An executor with read-only windows: a service that embeds `WindowFixed` and `Transaction`."""

from .executor import WindowedExecutor
from .jobs import Answer, Kind, Overloaded
from .settings import Config, Options, Stats

__all__ = ["Answer", "Config", "Kind", "Options", "Overloaded", "Stats", "WindowedExecutor"]
