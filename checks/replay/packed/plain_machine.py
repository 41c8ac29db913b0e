"""A machine whose instances can be packed: its compiled steps, and its states as JSON forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lawful.spec import types as t
from lawful.spec.ir import Json
from lawful.spec.syntax.declare import slot
from lawful.spec.values.world import World, decode, encoder

from ..columnar.components import dtypes
from ..columnar.layout import Layout, Unsupported
from ..columnar.steps import Steps
from ..program import ReplayProgram

Forms = tuple[Json, ...]  # The JSON forms of the variables of a state, in their order.
PLAIN = "plain machine"
NONE, UNSURE = -1, -2  # In place of the index of a transition.


class PlainMachine:
    """Runs the rows of the instances of one machine. Unsupported where it cannot: a variable has no
    fixed width, or the compiled steps may not decide."""

    def __init__(self, program: ReplayProgram, layout: Layout) -> None:
        self.layout = layout
        self.steps = steps = Steps(program.steppers[layout.mapping.machine], layout.mapping)
        if not steps.decidable or steps.parameters is None:
            raise Unsupported
        stepper = steps.stepper
        variables = [v for _, v in stepper.form.kept]
        for v in variables:
            dtypes(v.type)  # Unsupported where it has no fixed width.
        self.name, self.fingerprint = stepper.machine.name, stepper.fingerprint
        self.variables = [v.name for v in variables]
        self.slots = [slot(v.name) for v in variables]
        self.encoders = [encoder(v.type) for v in variables]
        self.decoders = [_decoder(v.type, stepper.world) for v in variables]
        begun = steps.opened("", 0).state
        self.parameters = [
            (slot(p.name), getattr(begun, slot(p.name))) for p in stepper.machine.parameters
        ]
        self.initial = self.forms(begun)
        self.members = [each.name for each in steps.members] or [""]
        self.member = {id(each): i for i, each in enumerate(steps.members)}
        self.begins_in = 0 if steps.control is None else self.member[id(steps.control(begun))]
        self.transitions = [each.name for each in stepper.machine.transitions]
        index = {name: i for i, name in enumerate(self.transitions)}
        self.index = {"": NONE, **index}
        self.skipped = np.array([name in layout.skipped for name in layout.names])
        # Of each event the transition that it surely takes.
        self.sure = np.array([self._sure(name) for name in layout.names])
        self.unsure = bool((self.sure == UNSURE).any())

    def _sure(self, theirs: str) -> int:
        if theirs in self.layout.skipped:
            return NONE
        name = self.layout.events[theirs].name
        return self.index[self.steps.sure[name]] if name in self.steps.sure else UNSURE

    def state(self, forms: Forms) -> Any:
        """An instance in this state."""
        made = self.steps.bare()
        for name, value in self.parameters:
            setattr(made, name, value)
        for name, read, form in zip(self.slots, self.decoders, forms, strict=True):
            setattr(made, name, read(form))
        return made

    def forms(self, state: Any) -> Forms:
        """The forms of the variables of an instance."""
        return tuple(
            form(getattr(state, name)) for name, form in zip(self.slots, self.encoders, strict=True)
        )


def plain_machine(program: ReplayProgram, layout: Layout) -> PlainMachine | None:
    """The machine of a program; None where its instances are not packed. It is made once."""
    if PLAIN not in program.compiled:
        try:
            program.compiled[PLAIN] = PlainMachine(program, layout)
        except Unsupported:
            program.compiled[PLAIN] = None
    found = program.compiled[PLAIN]
    return found if isinstance(found, PlainMachine) else None


def _decoder(kind: t.Type, world: World) -> Callable[[Any], Any]:
    """The function that makes values of their forms."""
    match kind:
        case t.Bool():
            return _itself
        case t.Int():
            return lambda form: form if type(form) is int else decode(form, kind, world)
        case t.Enum(name=name):
            return world.enums[name].__members__.__getitem__
        case _:
            return lambda form: decode(form, kind, world)


def _itself(form: Any) -> Any:
    return form
