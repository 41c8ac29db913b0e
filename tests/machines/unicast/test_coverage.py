"""What the scopes of the repaired machines exercise: guards, transitions, what shall be reached.

`NEVER` lists what does not happen in any of them, each with its reason. Guards are counted for the
entries, as their callers use them, and as they are under a clock.
"""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

from lawful import Machine
from lawful.checks.explore import CheckResult, explore
from lawful.machines.unicast.callers import (
    ReceiverCalled,
    ReceiverUnreaped,
    SenderCalled,
    SenderUnreaped,
)
from lawful.machines.unicast.crashes import LinkCrashing
from lawful.machines.unicast.exchange import Exchange
from lawful.machines.unicast.in_time import LinkInTime, ReceiverInTime, SenderInTime
from lawful.machines.unicast.interruptions import LinkClosed, LinkPartitioned
from lawful.machines.unicast.reports import LinkReporting
from lawful.machines.unicast.restarts import LinkWithEpoch
from lawful.machines.unicast.system import LinkBurst, LinkFixed
from lawful.spec.lower import lower
from lawful.spec.resolve import abstract_scopes, resolve
from lawful.targets import scope_of

Case = tuple[type[Machine], str]  # A machine and its scope.
# What belongs together: what one of them leaves out, another one exercises.
ENTRIES: dict[str, tuple[Case, ...]] = {
    "sender": ((SenderCalled, "scope"), (SenderUnreaped, "scope"), (SenderInTime, "scope")),
    "receiver": ((ReceiverCalled, "scope"), (ReceiverUnreaped, "scope"), (ReceiverInTime, "scope")),
}
SYSTEMS: dict[str, tuple[Case, ...]] = {
    "link": tuple(
        (cls, "scope")
        for cls in (
            *(LinkFixed, LinkBurst, LinkReporting, LinkCrashing, LinkInTime, LinkWithEpoch),
            *(LinkPartitioned, LinkClosed),
        )
    ),
    "exchange": ((Exchange, "lossy"),),
}
# By the family and what never happens: the reason.
NEVER: dict[str, dict[str, str]] = {
    "exchange": {
        "send_sync never happens": "Each end submits one message, which is marked as first."
        " In a link B asks where to begin.",
    },
}


@cache
def explored(case: Case, coverage: bool) -> CheckResult:
    cls, scope = case
    resolved = resolve(cls)
    named = [] if scope == "scope" else [scope]
    flat = lower(resolved.machine, scope_of(cls, named), abstract_scopes(resolved))
    return explore(flat, resolved.world, resolved.expects, coverage=coverage)


def guards(results: list[CheckResult]) -> set[str]:
    """The guards that are never true, or never refuse, in all of these."""
    true, refused = Counter[str](), Counter[str]()
    for result in results:
        assert result.coverage is not None
        for each in result.coverage.guards:
            key = f"{each.transition}: {each.clause}"
            true[key] += each.true
            refused[key] += each.refused
    assert true
    never = {f"{key} is never true" for key, count in true.items() if not count}
    return never | {f"{key} never refuses" for key, count in refused.items() if not count}


def missing(results: list[CheckResult]) -> set[str]:
    """The transitions that never happen, and what shall be reached and is not, in all of these."""
    rows = [(name, row["enabled"]) for each in results for name, row in each.transitions.items()]
    happen = {name for name, count in rows if count}
    reachable = [p for each in results for p in each.properties if p.kind == "reachable"]
    reached = {p.name for p in reachable if p.verdict.good}
    assert happen and reached
    return {f"{name} never happens" for name, _ in rows if name not in happen} | {
        f"{p.name} is never reached" for p in reachable if p.name not in reached
    }


@pytest.mark.nightly
@pytest.mark.parametrize("family", ENTRIES)
def test_everything_of_an_entry_is_exercised(family: str) -> None:
    results = [explored(case, coverage=True) for case in ENTRIES[family]]
    assert guards(results) | missing(results) == set(NEVER.get(family, {}))


@pytest.mark.nightly
@pytest.mark.parametrize("family", SYSTEMS)
def test_everything_of_a_system_happens(family: str) -> None:
    results = [explored(case, coverage=False) for case in SYSTEMS[family]]
    assert missing(results) == set(NEVER.get(family, {}))
