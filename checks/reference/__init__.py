"""The reference engine: the slow definition of what a machine does.

Every other engine is compared with it.
"""

from .outcome import Done, Fault, Outcome, Refusal
from .steps import Reference

__all__ = ["Done", "Fault", "Outcome", "Reference", "Refusal"]
