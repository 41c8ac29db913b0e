"""The reachable states as a count and one hash, and the verdicts that they have."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence

from lawful.spec.flat import Flat
from lawful.spec.quick_dataclass import dataclass
from lawful.spec.values.world import World
from lawful.spec.words import Expected

from ..explore.check import Engine, searched
from ..explore.limits import Limits
from ..explore.space import Space
from ..explore.state_json import shown
from ..explore.verdicts import judge
from ..reference.states import State
from ..verdict import PropertyResult


@dataclass(frozen=True, slots=True)
class StateSet:
    """What one engine found: `digest` is the hash of all reachable states.

    It is the SHA-256 of the sorted SHA-256 hashes of the states, each as compact JSON with sorted
    keys (docs/language.md, "Values as JSON"); so it depends on the set alone, and on no order.
    """

    engine: Engine
    complete: bool
    distinct: int
    generated: int
    depth: int
    cuts: int
    digest: str
    properties: Sequence[PropertyResult]


def state_set(
    flat: Flat,
    world: World,
    expects: Mapping[str, Expected],
    engine: Engine,
    limits: Limits,
) -> StateSet:
    """Explore with one engine. Raises what `explore` raises."""
    space = Space(flat, world)
    used, found = searched(space, limits, None, engine)
    return StateSet(
        used,
        found.complete,
        found.distinct,
        found.generated,
        found.depth,
        sum(found.cut_by.values()),
        digest(space, found.states),
        tuple(judge(found, expects)),
    )


def digest(space: Space, states: Sequence[State]) -> str:
    """The hash of a set of states, as `StateSet` says."""
    whole = space.machine
    fixed = [p.name for p in whole.parameters]
    hashes = [_hashed(shown(whole, state, whole, fixed)) for state in states]
    return hashlib.sha256(b"".join(sorted(hashes))).hexdigest()


def _hashed(state: object) -> bytes:
    text = json.dumps(state, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).digest()
