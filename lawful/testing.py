"""Tests of implementations, generated from declarations. Needs Hypothesis: `lawful[test]`."""

try:
    from lawful.checks.stateful import conformance, strategy
except ModuleNotFoundError as error:
    if error.name != "hypothesis":
        raise
    raise ModuleNotFoundError(
        "lawful.testing needs Hypothesis: pip install 'lawful[test]'", name="hypothesis"
    ) from error
from lawful.checks.beside import Mismatch
from lawful.checks.near import Near
from lawful.runtime.timers import SimulatedClock

__all__ = ["Mismatch", "Near", "SimulatedClock", "conformance", "strategy"]
