"""The codec whose machine parameters have the defaults that the reference engine evaluates."""

from __future__ import annotations

from lawful.spec import ir
from lawful.spec.flat import Flat
from lawful.spec.values.world import World

from ...reference import Reference
from .codec import Codec
from .forms import Form
from .layouts import NotGenerated


class Defaulted(Codec):
    """A codec that asks the reference engine for the defaults of parameters."""

    def __init__(self, flat: Flat, world: World, reference: Reference, form: Form) -> None:
        self.reference = reference
        super().__init__(flat, world, form)

    def default(self, p: ir.Parameter) -> object:
        """The parameter's default."""
        if p.default is None:
            raise NotGenerated(f"{p.name} without a value")
        return self.reference.eval(p.default, {})
