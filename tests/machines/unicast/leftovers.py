"""What an endpoint of unicast keeps, and need not keep any more: it would grow with that."""

from __future__ import annotations

from lawful.machines.unicast.service.endpoint import Unicast
from lawful.machines.unicast.service.peer import Peer
from tests.machines.simulated_runs import left_behind
from tests.machines.unicast.plan import NAMES

MOST_TIMERS = 72  # Two for each of the four entries of an endpoint, and 64 that were put off.


def left_of_messages(end: Unicast) -> list[str]:
    """What an endpoint still has of messages that are all delivered and acknowledged: it would grow
    with them. It may have something to do with each peer, once."""
    has, others = vars(end), len(NAMES) - 1
    found = left_behind(end.name, end, {"_peers": others, "_busy": others})
    for name in ("_inbox", "_outgoing", "_sending", "_socket", "_doubts"):
        found += left_behind(f"{name} of {end.name}", has[name])
    for peer in has["_peers"].values():
        what = f"{end.name} with {peer.name}"
        found += left_behind(what, peer, {"ends": 4})  # Two entries, their timers and journals.
        found += left_behind(f"{what}, arriving", peer.arrivals)
        found += left_behind(f"{what}, large", peer.large)
        kept = {"a window": peer.sender.window, "a buffer": peer.receiver.buffer}
        found += [f"{what} has {len(each)} left in {name}" for name, each in kept.items() if each]
    timers = len(has["_deadlines"])
    return found + [f"{end.name} has {timers} timers"] * (timers > MOST_TIMERS)


def left_of_peer(end: Unicast, known: Peer) -> list[str]:
    """What an endpoint has of a peer that it has forgotten."""
    has = vars(end)
    kept: dict[str, object] = {**has, **vars(has["_outgoing"])}
    kept["_held"] = vars(has["_inbox"])["_held"]
    found = [name for name, each in kept.items() if isinstance(each, dict) and known.name in each]
    found += ["ends"] * bool(known.ends)
    return [f"{end.name} has forgotten {known.name}, and still has it in {name}" for name in found]
