"""What provers read: a machine for all integers, in which sorts and lists may have a size."""

from __future__ import annotations

from collections.abc import Mapping

from .. import types as t
from ..flat import Timed
from ..quick_dataclass import dataclass
from .growth import with_universe_invariants


@dataclass(frozen=True, slots=True)
class Sized:
    """A machine with the sizes that a proof is limited to.

    `sizes` has the number of elements of sorts and the greatest lengths of lists, by the keys of a
    scope. A sort without a size may have any number of elements, as opaque types always may.
    """

    machine: Timed
    sizes: Mapping[str, int]


def with_sizes(machine: Timed, bounds: Mapping[str, object]) -> Sized:
    """The machine with the sizes among the bounds of a scope; ranges and values say nothing."""
    machine = Timed(with_universe_invariants(machine))
    opaque = {kind.name for kind in machine.types if isinstance(kind, t.Opaque)}
    sizes = {k: n for k, n in bounds.items() if type(n) is int and k not in opaque}
    return Sized(machine, sizes)
