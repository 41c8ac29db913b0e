"""What statements may change, by their text alone, before anything in them is resolved."""

from __future__ import annotations

from collections.abc import Iterator

from ..quick_dataclass import dataclass
from .tree import (
    Apply,
    Attribute,
    Augment,
    Delete,
    Expression,
    Name,
    Set,
    Statement,
    Tree,
    assigned_names,
    nodes,
)


@dataclass(frozen=True, slots=True)
class Changes:
    """The names and attributes that statements assign, and the methods of `self` that they call, in
    their order.

    `anything`: they call an ancestor's method, or hand `self` on.
    """

    names: frozenset[str]
    attributes: frozenset[str]
    methods: tuple[str, ...]
    anything: bool


def changes(body: tuple[Statement, ...]) -> Changes:
    """What these statements may assign; a container that they change in place is not told."""
    inside = [*nodes(body)]
    owners = {id(node.of) for node in inside if isinstance(node, Attribute)}
    methods = dict.fromkeys(
        node.function.name
        for node in inside
        if isinstance(node, Apply) and isinstance(node.function, Attribute)
        if isinstance(node.function.of, Name) and node.function.of.name == "self"
    )
    anything = any(
        isinstance(node, Name)
        and (node.name == "super" or (node.name == "self" and id(node) not in owners))
        for node in inside
    )
    attributes = {
        node.name
        for target in _targets(inside)
        for node in nodes(target)
        if isinstance(node, Attribute)
    }
    return Changes(assigned_names(body), frozenset(attributes), tuple(methods), anything)


def _targets(inside: list[Tree]) -> Iterator[Expression]:
    for node in inside:
        match node:
            case Set(target=target) | Augment(target=target) | Delete(target=target):
                yield target
            case _:
                pass
