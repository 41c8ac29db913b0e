"""What statements may change, by their text."""

from __future__ import annotations

from lawful.spec.syntax.changes import Changes, changes
from lawful.spec.syntax.declare import declared
from tests.spec import texts

LOOP = """\
for k in self.q:
    self.zeta(k)
    self.n, z = k, 1
    self.beta()
    self.q.append(self.alpha(self.n))
    self.zeta(z)
"""


def test_methods_are_in_the_order_of_their_calls() -> None:
    """So that helpers are resolved, and stand in the machine, in one order in every process."""
    method = declared(texts.machine(texts.body(LOOP))).method("go")
    assert method is not None
    found = changes(method.body)
    wanted = Changes(
        frozenset({"k", "z"}), frozenset({"n"}), ("zeta", "beta", "alpha"), anything=False
    )
    assert found == wanted
