"""Local times: which of them a zone has once, twice or never, and the names of zones in texts.

A zone is one of the IANA database, with its area (`Europe/Berlin`). Short names such as CST have no
one meaning.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from functools import cache
from typing import Literal, get_args
from zoneinfo import ZoneInfo

Twice = Literal["refuse", "first", "second"]
TWICE: tuple[str, ...] = get_args(Twice)
NAME = re.compile(r"\[?\b([A-Z][A-Za-z]+(?:/[A-Z][A-Za-z0-9_+-]*)+)\]?")


class UnclearTime(Exception):
    """A local time that its zone has twice, or never."""


@dataclass(frozen=True)
class LocalTimes:
    """How texts are read that do not say how far from UTC they are: the zone, and which of two
    times is meant where clocks went back."""

    zone: str = ""
    twice: Twice = "refuse"

    def wrong(self) -> str:
        """What is wrong in it, as a sentence; empty where nothing is."""
        if self.twice not in TWICE:
            return f"twice has to be one of {', '.join(TWICE)}, not {self.twice}"
        if self.zone and zone_named(self.zone) is None:
            return (
                f"zone has to be a zone of the IANA database such as Europe/Berlin, not {self.zone}"
            )
        return ""

    def at(self, when: datetime, named: tzinfo | None = None) -> datetime:
        """The time with its zone: its own, the one that is `named` with it, that of this object, or
        else UTC. Raises UnclearTime."""
        zone = named or (zone_named(self.zone) if self.zone else None)
        if when.tzinfo is not None or zone is None:
            return when if when.tzinfo is not None else when.replace(tzinfo=UTC)
        first, second = (when.replace(tzinfo=zone, fold=fold) for fold in (0, 1))
        if first.utcoffset() == second.utcoffset():
            return first
        if first.astimezone(UTC).astimezone(zone).replace(tzinfo=None) != when:
            raise UnclearTime(f"a local time that {zone} never has: {when}")
        if self.twice == "refuse":
            what = f"a local time that {zone} has twice: {when}"
            raise UnclearTime(f"{what}; `twice` of the mapping says which is meant")
        return first if self.twice == "first" else second


@cache
def zone_named(name: str) -> tzinfo | None:
    """The zone with a name; None where there is none."""
    if name in ("UTC", "GMT"):
        return UTC
    try:
        return ZoneInfo(name) if NAME.fullmatch(name) else None
    except (OSError, ValueError, KeyError):
        return None


def without_zone(text: str, instead: str) -> tuple[str, tzinfo | None] | None:
    """The text with something else in the place of the name of a zone, and that zone, if it has
    one. None where there is no such zone."""
    match = NAME.search(text)
    if match is None:
        return text, None
    zone = zone_named(match[1])
    return None if zone is None else (text[: match.start()] + instead + text[match.end() :], zone)
