"""Locals that may have no value where they are read: not every way there assigns them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from . import tree

Known = frozenset[str] | None  # What has a value after statements; None where none come after.


def unsure(body: Sequence[tree.Statement], given: Iterable[str]) -> frozenset[str]:
    """The locals of a body that it reads somewhere where they may have no value."""
    found = _Reads(tree.assigned_names(tuple(body)))
    found.block(body, frozenset(given))
    return frozenset(found.unsure)


class _Reads:
    """Goes through statements in their order."""

    def __init__(self, assigned: frozenset[str]) -> None:
        self.assigned = assigned
        self.unsure: set[str] = set()

    def block(self, body: Sequence[tree.Statement], known: frozenset[str]) -> Known:
        """What has a value after these statements."""
        for stmt in body:
            after = self._statement(stmt, known)
            if after is None:
                return None
            known = after
        return known

    def _statement(self, stmt: tree.Statement, known: frozenset[str]) -> Known:
        match stmt:
            case tree.Set(target=target, value=value):
                self._read((value,), known)
                return known | {*self._named(target, known)}
            case tree.Choose(test=test, then=then, other=other):
                self._read((test,), known)
                return _both(self.block(then, known), self.block(other, known))
            case tree.Match(subject=subject, cases=cases):
                self._read((subject,), known)
                return self._cases(cases, known)
            case tree.Each(names=names, over=over, body=body):
                self._read((over,), known)
                self.block(body, known | {*names})
                return known
            case tree.While(test=test, body=body):
                self._read((test,), known)
                self.block(body, known)
                return known
            case tree.Give() | tree.Leave() | tree.Next():
                self._read((stmt,), known)
                return None
            case tree.Evaluate(value=tree.Apply(function=tree.Name(name="refuse"))):
                self._read((stmt,), known)
                return None
            case _:
                self._read((stmt,), known)
                return known

    def _cases(self, cases: Sequence[tree.Case], known: frozenset[str]) -> Known:
        """After a `match`: no case may have taken it, unless one takes everything."""
        after: Known = known
        for case in reversed(cases):
            inside = known | {name for each in case.patterns for name in tree.captured(each)}
            if case.guard is not None:
                self._read((case.guard,), inside)
            end = self.block(case.body, inside)
            takes_all = case.guard is None and any(map(_takes_all, case.patterns))
            after = end if takes_all else _both(after, end)
        return after

    def _named(self, target: tree.Expression, known: frozenset[str]) -> Iterable[str]:
        """The names that an assignment gives a value; what else its target reads is looked at."""
        if isinstance(target, tree.Name):
            return (target.name,)
        if isinstance(target, tree.Display):
            return [name for each in target.items for name in self._named(each, known)]
        self._read((target,), known)
        return ()

    def _read(self, nodes: Iterable[tree.Tree], known: frozenset[str]) -> None:
        for name in _names(nodes):
            if name in self.assigned and name not in known:
                self.unsure.add(name)


def _names(nodes: Iterable[tree.Tree]) -> Iterator[str]:
    for each in tree.nodes(tuple(nodes)):
        if isinstance(each, tree.Name):
            yield each.name


def _takes_all(pattern: tree.Pattern) -> bool:
    tested = pattern.value is not None or pattern.cls is not None or pattern.items is not None
    return not tested


def _both(one: Known, other: Known) -> Known:
    if one is None or other is None:
        return other if one is None else one
    return one & other
