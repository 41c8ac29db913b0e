"""A resumable upload session in chunks."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, ClassVar

from lawful import (
    Machine,
    Nat,
    Opaque,
    Param,
    Record,
    Scope,
    State,
    Timer,
    invariant,
    recoverable,
    require,
    transition,
)


class Upload(State):
    NEW = "new"
    RECEIVING = "receiving"
    VERIFYING = "verifying"
    COMPLETE = "complete"
    ABANDONED = "abandoned"

    @property
    def final(self) -> bool:
        return self in (Upload.COMPLETE, Upload.ABANDONED)


Digest = Annotated[bytes, Opaque("Digest")]


class Progress(Record):
    received: Nat
    total: Nat
    missing: frozenset[int]
    text: str = ""


class Session(Machine):
    MAX_CHUNKS: ClassVar[int] = 3

    state: Upload = Upload.NEW
    total: Nat = 0
    received: set[int] = set()
    digest: Digest | None = None
    inactivity: Timer = Timer()
    timeout: Param[timedelta] = timedelta(minutes=5)

    @transition(source=Upload.NEW, target=Upload.RECEIVING)
    def begin(self, chunks: Nat, digest: Digest) -> None:
        require(1 <= chunks <= self.MAX_CHUNKS, "bad number of chunks")
        self.total, self.digest = chunks, digest
        self._touch()

    @transition(source=Upload.RECEIVING, target=[Upload.RECEIVING, Upload.VERIFYING])
    def chunk(self, index: Nat) -> Progress:
        require(index < self.total, "no such chunk")
        self.received |= {index}
        self._touch()
        if len(self.received) == self.total:
            self.state = Upload.VERIFYING
        return self._progress()

    @transition(source=Upload.VERIFYING, target=(Upload.RECEIVING, Upload.COMPLETE))
    def verify(self, actual: Digest) -> bool:
        ok = actual == self.digest
        if not ok:
            self.received.clear()
            self._touch()
        else:
            self.inactivity.stop()
        self.state = Upload.COMPLETE if ok else Upload.RECEIVING
        return ok

    @transition(
        source=(Upload.RECEIVING, Upload.VERIFYING), target=Upload.ABANDONED, timer="inactivity"
    )
    def expire(self) -> None:
        self.received = set()

    def _touch(self) -> None:
        self.inactivity.start(300)

    def _progress(self) -> Progress:
        missing = frozenset(i for i in range(self.total) if i not in self.received)
        done = len(self.received)
        return Progress(
            done, self.total, missing, f"{done}/{self.total} ({done * 100 // self.total:d}%)"
        )

    @invariant
    def only_known_chunks(self) -> bool:
        return all(0 <= i < self.total for i in self.received)

    @invariant
    def complete_is_whole(self) -> bool:
        return self.state != Upload.COMPLETE or self.received == set(range(self.total))

    @recoverable
    def can_end(self) -> bool:
        return self.state.final

    deadlock_ok = True
    scope = Scope(Nat=range(0, 5), int=range(0, 5), Digest=2)
