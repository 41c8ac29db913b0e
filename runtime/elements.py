"""The universe of an instance: the elements of its sorts, which a caller gives as `universe=`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lawful.spec.analysis.named_elements import with_named
from lawful.spec.words import OrderedSort, Sort

Named = Mapping[str, tuple[str, ...]]  # The elements that a machine names, by their sort.
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

    def __init__(self, listed: Mapping[str, tuple[Any, ...]]) -> None:
        super().__init__(listed)
        self.members = Members({sort: frozenset(map(str, row)) for sort, row in listed.items()})

    def universe(self) -> Universe:
        """The same in the form in which a caller gives it."""
        return {type(row[0]): row for row in self.values()}

    def texts(self) -> dict[str, list[str]]:
        """The same in JSON form."""
        return {sort: list(map(str, row)) for sort, row in self.items()}


ANYTHING = _Anything()
NO_ELEMENTS = Elements({})


def elements_of(
    universe: Universe, sorts: Mapping[str, type[Sort]], machine: str, named: Named
) -> Elements:
    """The elements that a caller gives for a machine with these sorts, and after them those that
    the machine names; a text names an element.

    Raises TypeError for a key that is no sort, for another class than the machine's sort of that
    name, or for a value that is no element of it; ValueError if a sort has no element, if it has
    one twice, or if an ordered sort lacks one that the machine names: its place is not known.
    """
    made: dict[str, tuple[Any, ...]] = {}
    untyped: Mapping[Any, Any] = universe  # A caller's types may be wrong.
    for key, several in untyped.items():
        if not isinstance(key, type) or not issubclass(key, Sort):
            raise TypeError(f"universe: {key!r} is no sort")
        sort: type[Sort] = key
        name = sort.__name__
        own = sorts.get(name, sort)
        if own is not sort:
            wanted = f"{own.__module__}.{own.__qualname__}"
            raise TypeError(f"universe: {machine}'s {name} is {wanted}, another class")
        if not hasattr(several, "__iter__"):
            raise TypeError(f"universe: {name} is an iterable of its elements, not {several!r}")
        given: tuple[Any, ...] = tuple(several)  # It may be one that is read only once.
        for each in given:
            if type(each) not in (str, sort):
                raise TypeError(f"universe: {each!r} is no {name}")
        elements = tuple(map(sort, given))
        if not elements:
            raise ValueError(f"universe: {name} has no element; it needs at least one")
        if len(set(elements)) < len(elements):
            raise ValueError(f"universe: an element of {name} is given twice")
        made[name] = tuple(map(sort, with_named(map(str, elements), named.get(name, ()))))
        if issubclass(sort, OrderedSort) and len(made[name]) > len(elements):
            absent = made[name][len(elements)]
            raise ValueError(
                f"universe: {name} lacks {absent!r}, which {machine} names and which must have a "
                "place in the order"
            )
    return Elements(made)


def other_elements(given: Universe, kept: Universe) -> str:
    """How the first sort differs that has other elements in one universe than in another; empty
    where none does. The order counts in ordered sorts."""
    for sort in [each for each in given if each in kept]:
        mine, was = list(map(str, given[sort])), list(map(str, kept[sort]))
        if mine != was and (issubclass(sort, OrderedSort) or set(mine) != set(was)):
            return f"{sort.__name__} is {was}, not {mine}"
    return ""
