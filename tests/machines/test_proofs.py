"""What is proved of the five systems' machines, with sorts and lists as large as their scopes say.

Of the two entries, and of machines with sorts of any size, the tests of each system say more.
"""

from __future__ import annotations

import pytest

from lawful import Machine
from lawful.checks.induction import TO_INDUCTION
from lawful.checks.obligation import ProofResult
from lawful.checks.prove import prove
from lawful.machines.message_scheduler.channel import ChannelFixed
from lawful.machines.object_diffusion.attribution import Attribution
from lawful.machines.object_diffusion.declaration import InboundPeerFixed
from lawful.machines.queue_cluster.declaration import QueueOwnerFixed
from lawful.machines.read_only_windows.timing import AttemptsFixed
from lawful.spec.resolve import resolve

from .established import verdicts


def proof(cls: type[Machine]) -> ProofResult:
    resolved = resolve(cls)
    bounds = resolved.scopes["scope"].bounds if "scope" in resolved.scopes else {}
    sizes = {name: size for name, size in bounds.items() if type(size) is int}
    return prove(resolved.machine, sizes=sizes)


@pytest.mark.parametrize(
    ("cls", "verdict", "covers"),
    [
        (ChannelFixed, "proved", "all integers"),
        (
            InboundPeerFixed,
            "proved-within",
            "all integers; all parameter values that @assume allows; ObjectId=2; "
            "on_receive_ids.ids <= 2; outstanding_fifo <= 2; pending <= 3",
        ),
        pytest.param(
            Attribution,
            "proved-within",
            "all integers; all parameter values; ObjectId=2; Peer=2",
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            QueueOwnerFixed,
            "proved-within",
            "all integers; timers armed or not; all parameter values; Node=3; sent <= 3",
            marks=pytest.mark.nightly,
        ),
    ],
)
def test_it_is_proved(cls: type[Machine], verdict: str, covers: str) -> None:
    result = proof(cls)
    assert verdicts(result) == {verdict}
    assert {(o.covers, o.note) for o in result.obligations} == {(covers, "")}


def test_without_deadlines_a_transaction_may_be_put_back_again() -> None:
    """To a proof an armed timer may be due at any tick; exploration counts the ticks."""
    result = proof(AttemptsFixed)
    left = [o for o in result.obligations if not o.verdict.good]
    assert [(o.obligation, o.property, o.note) for o in left] == [
        ("cut", "put_back_at_most_once", TO_INDUCTION)
    ]
