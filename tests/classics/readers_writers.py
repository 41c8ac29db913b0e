"""Readers and writers, served in the order of a queue.

Source: the readers-writers problem; as in tlaplus/Examples, specifications/ReadersWriters, whose
manifest has the figures for MC. The configuration was not read: they come out for three actors.
"""

from enum import Enum
from typing import Annotated

from annotated_types import Interval

from lawful import (
    Fairness,
    Machine,
    Scope,
    Weak,
    infinitely_often,
    invariant,
    reachable,
    require,
    transition,
)

COUNTS = (21527, 59674, 13)

Actor = Annotated[int, Interval(ge=1, le=3)]


class Wish(Enum):
    """What an actor waits for."""

    READ = "read"
    WRITE = "write"


class ReadersWriters(Machine):
    """Who waits for both waits twice."""

    readers: set[Actor] = set()
    writers: set[Actor] = set()
    waiting: list[tuple[Wish, Actor]] = []

    @transition()
    def ask(self, wish: Wish, actor: Actor) -> None:
        """TryRead and TryWrite."""
        require((wish, actor) not in self.waiting, "waits for it")
        self.waiting.append((wish, actor))

    @transition()
    def serve(self) -> None:
        """ReadOrWrite."""
        require(len(self.waiting) > 0, "nobody waits")
        require(len(self.writers) == 0, "somebody writes")
        wish, actor = self.waiting.pop(0)
        if wish == Wish.READ:
            self.readers.add(actor)
        else:
            require(len(self.readers) == 0, "somebody reads")
            self.writers.add(actor)

    @transition()
    def stop(self, actor: Actor) -> None:
        """Stop."""
        require(actor in self.readers | self.writers, "does neither")
        if actor in self.readers:
            self.readers.remove(actor)
        else:
            self.writers.remove(actor)

    @invariant
    def safety(self) -> bool:
        """Safety."""
        both = len(self.readers) > 0 and len(self.writers) > 0
        return not both and len(self.writers) <= 1

    @reachable
    def all_read(self) -> bool:
        return len(self.readers) == 3

    @infinitely_often
    def reads(self, actor: Actor) -> bool:
        """Liveness, of reading."""
        return actor in self.readers

    fairness = Fairness(Weak("ask", each=("wish", "actor")), Weak("serve"), Weak("stop", each=()))
    scope = Scope(waiting=6)
