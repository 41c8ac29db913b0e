"""A search of few states, with generated steps in plain Python or with the reference engine.

There is no machine code: a limit that counts work ends it at the same state on every machine.
"""

from __future__ import annotations

from .compiled.engine import NotGenerated
from .compiled.engine import search as packed
from .limits import Limits, OutOfBudget
from .search import search, unbegun
from .search_result import Explored
from .space import Space


def short_search(space: Space, limits: Limits) -> Explored:
    """Search until a limit is met. `not_generated` names why the reference engine did it, if so.

    Raises `ValueError` where no initial state is within the scope.
    """
    try:
        return packed(space, limits, tier="generated")
    except OutOfBudget as end:
        return unbegun(space, limits, end)
    except NotGenerated as reason:
        slow = search(space, limits)
        slow.not_generated = str(reason)
        return slow
