"""What is proved of the five systems' machines, with sorts and lists as large as their scopes say.

Of the two entries, and of machines with sorts of any size, the tests of each system say more.
"""

from __future__ import annotations

import pytest

from lawful import Machine
from lawful.checks.prove import prove
from lawful.checks.prove.result import ProofResult
from lawful.machines.object_diffusion.attribution import Attribution
from lawful.machines.object_diffusion.declaration import InboundPeerFixed
from lawful.machines.queue_cluster.declaration import QueueOwnerFixed
from lawful.machines.unicast.callers import ReceiverCalled, SenderCalled
from lawful.spec.resolve import resolve
from tests.checks.declarations.attempts import AttemptsFixed
from tests.machines.established import verdicts

UNICAST = "all integers; timers armed or not; all parameter values; all values of Payload"
TIMED = "all integers; all ticks; timers stopped or at any tick, urgent ones fired when due"


def proof(cls: type[Machine]) -> ProofResult:
    resolved = resolve(cls)
    bounds = resolved.scopes["scope"].bounds if "scope" in resolved.scopes else {}
    sizes = {name: size for name, size in bounds.items() if type(size) is int}
    return prove(resolved.machine, sizes=sizes)


@pytest.mark.parametrize(
    ("cls", "verdict", "covers"),
    [
        (AttemptsFixed, "proved", f"{TIMED}; all parameter values that @assume allows"),
        (SenderCalled, "proved", UNICAST),
        (ReceiverCalled, "proved", UNICAST),
        pytest.param(
            InboundPeerFixed,
            "proved-within",
            "all integers; timers armed or not; all parameter values that @assume allows; "
            "ObjectId=2; on_receive_ids.ids <= 2; outstanding_fifo <= 2; pending <= 3",
            marks=pytest.mark.nightly,
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
