"""What a scope takes from its ancestor's is what exploration cannot do without."""

from __future__ import annotations

import pytest

from lawful import Machine, Scope
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


@pytest.mark.parametrize("cls", [c for c in everyone() if "scope" in resolve(c).scopes], ids=str)
def test_a_bound_is_taken_where_it_is_missing_and_only_there(cls: type[Machine]) -> None:
    machine, scope = resolve(cls).machine, resolve(cls).scopes["scope"]
    if _lacks(cls, scope):
        pytest.skip("the scope is not whole")
    # Bounds that nothing needs are not taken, whatever they are.
    wrong = {v.name: range(7, 9) for v in machine.variables} | {"Nat": range(7, 9), "int": range(9)}
    assert taken(machine, scope.bounds, wrong) == {}
    for key, bound in scope.bounds.items():
        rest = {k: b for k, b in scope.bounds.items() if k != key}
        without = Scope(rest).widened({}, frozenset(rest))
        found = taken(machine, rest, scope.bounds)
        assert found == ({key: bound} if _lacks(cls, without) else {}), key
