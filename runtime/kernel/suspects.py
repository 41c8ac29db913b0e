"""The instances into whose containers a step wrote a value out of its bounds.

Generated code judges each value when it writes it. When the step ends, the containers of these
instances are judged whole: the value may have been overwritten since, or the step be undone. One
collection serves the process, so that an instance needs no slot for what hardly ever happens.

Who judges a step, or undoes it, takes out the instances that it finds. It does not find a part that
the step made and lost again, so an instance also leaves when it is freed. An entry too many costs
time and nothing else: while there is one, each step that may have made or changed parts judges
them all. Only an interrupt while a refusal or a fault is handled leaves one: it goes when the
instance is judged again, or when the collector frees the part.
"""

from __future__ import annotations

from functools import partial
from weakref import ref

from .state import State

SUSPECT: dict[int, ref[State]] = {}  # By the `id` of the instance.


def suspect(state: State) -> None:
    """Have the containers of the instance judged when the step ends."""
    key = id(state)
    # A callback of Python code could swallow an interrupt.
    SUSPECT[key] = ref(state, partial(SUSPECT.pop, key))
