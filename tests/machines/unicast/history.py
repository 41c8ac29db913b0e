"""What the applications at unicast endpoints did and saw, and the judge of it.

The judge knows neither endpoints nor machines. Each payload is sent once, and names the
life of its sender. What is in the inbox of a life that ends counts as arrived. Promised is:

1. A life gets what another sent in its order, and nothing twice, except that a life that began
   later may get again what the one before it got (the document has no handshake). What was sent
   without order may overtake others.
2. What `send` has taken arrives, or `on_dropped` has told of it, unless its sender was killed.
   Where nobody is cut off or ends, nothing is told of but what is too large for a life of its
   target; and nothing else is refused.
   A life that has forgotten a sender for a short while may get again what it got before.
3. Within `BOUND` seconds after the last fault all of this has happened, and within as many again
   to messages that are sent after that.
4. Nothing comes that nobody sent.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field


@dataclass
class Sent:
    """A message that `send` has taken: by which life of whom, its place there; whether
    `on_dropped` told of it, and whether it has to come in order."""

    source: str
    life: int
    target: str
    place: int
    dropped: bool = False
    ordered: bool = True


@dataclass
class History:
    """All that the applications did and saw. `got`: by (target, its life), in order. `forgot`: by
    (target, its life), whom it forgot for a short while, and how much it had got before. `killed`:
    the lives that were; `troubled`: names that were cut off, deaf, closed, or had another life."""

    sent: dict[bytes, Sent] = field(default_factory=dict[bytes, Sent])
    got: dict[tuple[str, int], list[bytes]] = field(
        default_factory=dict[tuple[str, int], list[bytes]]
    )
    forgot: dict[tuple[str, int], list[tuple[int, str]]] = field(
        default_factory=dict[tuple[str, int], list[tuple[int, str]]]
    )
    killed: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])
    troubled: set[str] = field(default_factory=set[str])


def problems(history: History) -> list[str]:
    """What was promised and did not happen, one line for each."""
    found: list[str] = []
    arrived = {(name, payload) for (name, _), got in history.got.items() for payload in got}
    for (name, life), payloads in history.got.items():
        latest: dict[tuple[str, int], int] = defaultdict(lambda: 2**32)
        once: set[bytes] = set()
        forgot = history.forgot.get((name, life), [])
        for count, payload in enumerate(payloads):
            for source in [source for at, source in forgot if at == count]:
                latest = _without(latest, source)
                once = {each for each in once if history.sent[each].source != source}
            sent = history.sent.get(payload)
            if sent is None or sent.target != name:
                found.append(f"{name}{life} got what nobody sent to it: {payload!r}")
                continue
            if not sent.ordered:
                if payload in once:
                    found.append(f"{name}{life} got {payload!r} again")
                once.add(payload)
                continue
            way = sent.source, sent.life
            if sent.place >= latest[way]:  # Places count down.
                again = "again" if sent.place == latest[way] else "too late"
                found.append(f"{name}{life} got {payload!r} {again}")
            latest[way] = min(sent.place, latest[way])
    for payload, sent in history.sent.items():
        told = sent.dropped or (sent.source, sent.life) in history.killed
        if not told and (sent.target, payload) not in arrived:
            found.append(f"{payload!r} was taken, never came, and nobody was told")
    return found


def _without(latest: dict[tuple[str, int], int], source: str) -> dict[tuple[str, int], int]:
    """What is the latest of each life, if nothing is known of the lives of this name."""
    kept = {way: place for way, place in latest.items() if way[0] != source}
    return defaultdict(lambda: 2**32, kept)
