"""The report of a proof."""

from __future__ import annotations

from lawful.checks.report import proofs
from tests.checks.declarations.provable import Listed
from tests.checks.prove.proofs import proof


def test_what_one_reason_leaves_open_is_told_once() -> None:
    told = proofs.text(proof(Listed), {}).split("\n\n")[2:]
    assert [rows.splitlines()[1:] for rows in told] == [
        ["  put: bounds, asserts, undefined, natural, short"],
        [],
        ["  size: bounds, asserts, undefined, natural, short"],
        [
            "  visit: bounds, asserts, undefined, natural, short",
            "for check, not for prove: deadlock",
        ],
    ]
    assert told[0].startswith("5 are unknown  not encodable: ")
    assert told[1].startswith("count: short is unknown  not encodable: ")
