"""What a scope takes from its ancestor's is what exploration cannot do without."""

from __future__ import annotations

from lawful import Machine, Scope
from lawful.spec import ir
from lawful.spec.analysis.inherited_bounds import taken
from lawful.spec.errors import DeclarationError
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve
from lawful.spec.resolve.resolver import abstract_scopes
from tests.spec.codec.test_every_machine import everyone


def _lacks(cls: type[Machine], scope: Scope) -> bool:
    """Whether exploration is refused for want of a bound."""
    found = resolve(cls)
    try:
        lower(found.machine, scope, abstract_scopes(found))
    except DeclarationError as error:
        return any(problem.number == "L301" for problem in error.problems)
    return False


def test_a_bound_is_taken_where_it_is_missing_and_only_there() -> None:
    resolved = [(cls, resolve(cls)) for cls in everyone()]
    whole = [
        (cls, found.machine, found.scopes["scope"])
        for cls, found in resolved
        if "scope" in found.scopes and not _lacks(cls, found.scopes["scope"])
    ]
    assert len(whole) > 30
    for cls, machine, scope in whole:
        _one_bound_after_the_other_is_missing(cls, machine, scope)


def _one_bound_after_the_other_is_missing(
    cls: type[Machine], machine: ir.Machine, scope: Scope
) -> None:
    # Bounds that nothing needs are not taken, whatever they are.
    wrong = {v.name: range(7, 9) for v in machine.variables} | {"Nat": range(7, 9), "int": range(9)}
    assert taken(machine, scope.bounds, wrong) == {}, cls
    for key, bound in scope.bounds.items():
        rest = {k: b for k, b in scope.bounds.items() if k != key}
        without = Scope(rest).widened({}, frozenset(rest))
        found = taken(machine, rest, scope.bounds)
        assert found == ({key: bound} if _lacks(cls, without) else {}), (cls, key)
