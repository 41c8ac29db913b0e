"""The universe of an instance: the elements of its sorts, which a caller gives as `universe=`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.walk import everything
from lawful.spec.words import OrderedSort, Sort

Universe = Mapping[type[Any], Any]  # What a caller gives as `universe=`.


class _Anything:
    """The members of a sort whose elements nobody gave: everything."""

    def __contains__(self, value: object) -> bool:
        return True


class Members(dict[str, Any]):
    """The elements of each sort as a set of texts, which are looked up faster than elements; a sort
    that the universe lacks contains everything."""

    __slots__ = ()

    def __missing__(self, sort: str) -> _Anything:
        return ANYTHING


class Elements(dict[str, tuple[Any, ...]]):
    """The elements of each sort of a universe, in their order, by the sort's name; never changed.

    `members`: the same as sets of texts, to look an element up.
    """

    __slots__ = ("members",)

    def __init__(self, told: Mapping[str, tuple[Any, ...]]) -> None:
        super().__init__(told)
        self.members = Members({sort: frozenset(map(str, row)) for sort, row in told.items()})

    def universe(self) -> Universe:
        """The same in the form in which a caller gives it."""
        return {type(row[0]): row for row in self.values()}

    def and_named(self, named: Mapping[str, frozenset[str]]) -> Elements:
        """The same, with the elements that the declaration itself names as members, too: a state
        may hold these, whatever the caller gave."""
        more = {sort: texts for sort, texts in named.items() if sort in self}
        if not more:
            return self
        made = Elements(self)
        made.members.update({sort: made.members[sort] | texts for sort, texts in more.items()})
        return made


ANYTHING = _Anything()
NO_ELEMENTS = Elements({})


def elements_of(universe: Universe, sorts: Mapping[str, type[Sort]], machine: str) -> Elements:
    """The elements that a caller gives for a machine with these sorts; text names an element.

    TypeError for what is no sort, for another class than the machine's sort of that name, or for
    no element of it; ValueError where a sort has no element, or an element stands twice.
    """
    made: dict[str, tuple[Any, ...]] = {}
    for sort, given in universe.items():
        if not issubclass(sort, Sort):
            raise TypeError(f"universe: {sort.__name__} is no sort")
        name = sort.__name__
        own = sorts.get(name, sort)
        if own is not sort:
            wanted = f"{own.__module__}.{own.__qualname__}"
            raise TypeError(f"universe: {machine}'s {name} is {wanted}, another class")
        for each in given:
            if type(each) not in (str, sort):
                raise TypeError(f"universe: {each!r} is no {name}")
        elements = tuple(sort(each) for each in given)
        if not elements:
            raise ValueError(f"universe: {name} has no element; it needs at least one")
        if len(set(elements)) < len(elements):
            raise ValueError(f"universe: an element of {name} stands twice")
        made[name] = elements
    return Elements(made)


def other_elements(given: Universe, kept: Universe) -> str:
    """How the first sort differs that has other elements in one universe than in another; empty
    where none does. The order counts in ordered sorts."""
    for sort in [each for each in given if each in kept]:
        mine, was = list(map(str, given[sort])), list(map(str, kept[sort]))
        if mine != was and (issubclass(sort, OrderedSort) or set(mine) != set(was)):
            return f"{sort.__name__} is {was}, not {mine}"
    return ""


def named_in(machine: ir.Machine) -> dict[str, frozenset[str]]:
    """The texts of the elements that a declaration or one of its parts names, by sort."""
    found: dict[str, set[str]] = {}
    for each in everything((machine,)):
        if isinstance(each, ir.Const) and isinstance(each.type, t.Sort):
            found.setdefault(each.type.name, set()).add(str(each.value))
    return {sort: frozenset(texts) for sort, texts in found.items()}
