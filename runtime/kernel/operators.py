"""Functions that the expressions and statements of generated code call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from lawful.spec import types as t
from lawful.spec.values.bounds import Values, breach
from lawful.spec.values.ranks import order_of, ring

from ..timers import Ticks, ticks_of
from .guards import NEEDED, Refusal
from .state import State, Untold
from .suspects import suspect


def needed(value: Any, why: str | Callable[[], str]) -> Any:
    """The value; refuses where it is None."""
    if value is None:
        raise Refusal(NEEDED, why if isinstance(why, str) else why())
    return value


def values(state: State, kind: t.Type) -> tuple[Any, ...]:
    """Every value of a finite type; of a sort, the elements in the instance's universe."""
    resolved = state.__plan__.resolved
    try:
        return Values(resolved.world, {}, state.__environment__.universe).of(kind)
    except KeyError as error:
        return universe(state, str(error.args[0]))


def universe(state: State, sort: str) -> tuple[Any, ...]:
    """The elements of a sort; `Untold` where the instance's universe lacks it."""
    try:
        return state.__environment__.universe[sort]
    except KeyError:
        name = state.__plan__.name
        raise Untold(
            f"{name} asks for the elements of {sort}: make it with universe={{{sort}: [...]}}"
        ) from None


def order(state: State, kind: t.Type) -> Callable[[Any], Any]:
    """The sort key of values of a type.

    The key of an element is its rank, or its text where the universe lacks its sort.
    """
    return order_of(kind, lambda sort: state.__environment__.universe.get(str(sort)))


def rank(state: State, sort: str, element: Any) -> int:
    """The position of an element in the instance's universe."""
    place: int = ring(universe(state, sort), element, None)
    return place


def successor(state: State, sort: str, element: Any) -> Any:
    """The next element, of the last one the first."""
    return ring(universe(state, sort), element, 1)


def predecessor(state: State, sort: str, element: Any) -> Any:
    """The element before, of the first one the last."""
    return ring(universe(state, sort), element, -1)


def ask(state: State, function: str, *args: Any) -> Any:
    """Call a helper or a property of a part."""
    return state.__plan__.functions[function](state, *args)


def first_new(machine: str, known: dict[str, Any], key: str) -> Callable[..., Any]:
    """A function of the whole and of parameters by keyword that makes a part in its initial state,
    on its whole's clock. When it is called, it puts a quicker one in its place under this key."""

    def make(whole: State, **parameters: Any) -> Any:
        plan = whole.__plan__
        known[key] = quicker = plan.maker_of(plan.resolved.parts[machine]) or new
        return quicker(whole, **parameters)

    def new(whole: State, **parameters: Any) -> Any:
        """Its bounds are judged at the end of the step if it has parts or breaks one now."""
        plan = whole.__plan__
        made: State = plan.part_of(plan.resolved.parts[machine], whole, parameters)
        if made.__plan__.families or breaks_bounds(made):
            suspect(whole)
        return made

    return make


def breaks_bounds(made: State) -> bool:
    """Whether a value of a new part is out of its bounds."""
    return any(
        hasattr(made, place) and breach(getattr(made, place), kind) is not None
        for place, kind in made.__plan__.bounds
    )


def view(state: State, machine: str, **values: Any) -> Any:
    """An instance of the abstract machine with these values."""
    cls: Any = state.__plan__.resolved.parts[machine]
    return cls.lawful.state(universe=state.__environment__.universe.universe(), **values)


def ticking(state: State, tick: float) -> Ticks:
    """The count of ticks of a new instance, from now on; a part shares that of its whole."""
    environment = state.__environment__
    return ticks_of(environment, tick, environment.now())


def counted(counts: Mapping[Any, int]) -> Counter[Any]:
    """The bag with these counts, without elements of count 0."""
    return Counter({key: count for key, count in counts.items() if count})


def put(bag: Any, key: Any, count: int) -> bool:
    """Set an element's count, and remove it at count 0; whether the count is below 0."""
    if count:
        bag[key] = count
        return count < 0
    bag.pop(key, None)
    return False


def stray(value: Any, kind: t.Type) -> bool:
    """Whether a written value is out of the bounds of its type."""
    return breach(value, kind) is not None
