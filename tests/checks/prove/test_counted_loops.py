"""Loops that count, in proofs: each is a loop over a range, which may have no bound."""

from __future__ import annotations

from lawful import Machine, Nat, transition
from lawful.checks.verdict import Verdict
from tests.checks.prove.proofs import proof


class Counting(Machine):
    n: Nat = 0

    @transition
    def down(self, k: Nat) -> None:
        while k > 0:
            k -= 2
            self.n += 1


def test_a_loop_of_any_number_of_rounds_is_unknown_with_its_reason() -> None:
    rows = {(o.obligation, o.property): o for o in proof(Counting).obligations}
    note = rows["down", "bounds"].note
    assert rows["down", "bounds"].verdict is Verdict.UNKNOWN
    assert note.startswith("not encodable: ")
    assert note.endswith("a loop over an Iterable[int], which has no bound")
