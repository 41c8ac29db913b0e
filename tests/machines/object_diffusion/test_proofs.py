"""What is proved of object diffusion, for any number of peers."""

from __future__ import annotations

import pytest

from lawful.checks.prove import prove
from lawful.checks.prove.nonvacuity import transitions_seen
from lawful.machines.object_diffusion.registry import AnyPeers
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve
from lawful.targets import scope_of
from tests.machines.established import verdicts

FEW = {"outstanding_fifo": 1, "pending": 1, "on_receive_ids.ids": 1}
MORE = {"outstanding_fifo": 2, "pending": 3, "on_receive_ids.ids": 2}


@pytest.mark.nightly
@pytest.mark.parametrize("bounds", [FEW, MORE])
def test_the_limit_is_kept_for_any_number_of_peers(bounds: dict[str, int]) -> None:
    """What is outstanding and in flight, and all else that holds of an entry, while others come
    and go and decide as they like."""
    resolved = resolve(AnyPeers)
    flat = lower(resolved.machine, scope_of(AnyPeers, []))
    result = prove(
        resolved.machine,
        sizes={"ObjectId": 1, **bounds},
        transitions_seen=lambda: transitions_seen(flat, resolved.world).met,
    )
    assert verdicts(result) == {"proved-within"}
    lists = "; ".join(f"{name} <= {n}" for name, n in sorted(bounds.items()))
    assert {(o.covers, o.note) for o in result.obligations} == {
        (
            "all integers; timers armed or not; all parameter values that @assume allows; "
            "ObjectId=1; any Peer; "
            f"{lists}",
            "",
        )
    }
    limit = "peers.outbound_keeps_no_more_than_agreed"
    assert sum(o.property == limit for o in result.obligations) == 14
