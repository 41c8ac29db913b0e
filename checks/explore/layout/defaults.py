"""The kinds of a machine's fields, where parameters have the defaults that the reference gives."""

from __future__ import annotations

from lawful.checks.reference import Reference
from lawful.spec import ir
from lawful.spec.flat import Flat
from lawful.spec.values.world import World

from .codec import Codec
from .layouts import Unsupported


class Defaulted(Codec):
    """The kinds of a machine whose parameters have the defaults that the reference gives them."""

    def __init__(self, flat: Flat, world: World, reference: Reference) -> None:
        self.reference = reference
        super().__init__(flat, world)

    def default(self, p: ir.Parameter) -> object:
        """The parameter's default."""
        if p.default is None:
            raise Unsupported(f"{p.name} without a value")
        return self.reference.eval(p.default, {})
