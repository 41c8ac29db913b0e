"""Clients of a node over HTTP, and a judge that knows nothing but what they saw.

A writer reads a number, works, and adds one: two writes at once would give a number twice. A reader
reads the number, works, and reads it again: a write meanwhile would change it. What was answered
before a request began is seen by it.
"""

from __future__ import annotations

import http.client
import json
import threading
import time
from dataclasses import dataclass, field

from ...services import LOOPBACK

PATIENCE = 60.0  # Seconds for an answer.


@dataclass(frozen=True)
class Load:
    """How many clients of each kind, for how long; `work`: milliseconds of each transaction."""

    readers: int
    writers: int
    seconds: float
    work: int = 3


@dataclass(frozen=True)
class Seen:
    """One request: from when to when, and what came; `values` are empty without an answer."""

    writes: bool
    began: float
    ended: float
    status: int
    values: tuple[int, ...]


@dataclass
class Judged:
    """What the judge has found, and the figures."""

    seen: list[Seen]
    seconds: float
    problems: list[str] = field(default_factory=list[str])

    @property
    def good(self) -> bool:
        """Whether every promise was kept, and something was answered."""
        return not self.problems and any(each.status == 200 for each in self.seen)

    @property
    def text(self) -> str:
        """The figures, one kind in a line, and the problems."""
        lines: list[str] = []
        for name, writes in (("read-only", False), ("writes", True)):
            of = [s for s in self.seen if s.writes == writes]
            took = sorted(s.ended - s.began for s in of if s.status == 200)
            if took:
                middle, late = took[len(took) // 2], took[len(took) * 99 // 100]
                lines.append(
                    f"{name}: {len(took)} of {len(of)} answered, {len(took) / self.seconds:.0f}/s,"
                    f" median {middle * 1e3:.0f} ms, 99 % within {late * 1e3:.0f} ms"
                )
        return "\n".join([*lines, f"promises broken: {len(self.problems)}", *self.problems[:5]])


def judge(seen: list[Seen]) -> list[str]:
    """What was promised and did not happen: writes one at a time, none during a reader, and in an
    order that time allows (the history is linearizable)."""
    found = [
        f"a write came during a reader: {s.values}"
        for s in seen
        if not s.writes and s.values and len(set(s.values)) > 1
    ]
    done = [s for s in seen if s.values]
    given = [s.values[-1] for s in done if s.writes]
    if len(set(given)) < len(given):
        found.append(f"{len(given) - len(set(given))} writes were lost")
    newest = 0  # What the requests have seen that had ended.
    ends = sorted(done, key=lambda s: s.ended)
    at = 0
    for s in sorted(done, key=lambda s: s.began):
        while at < len(ends) and ends[at].ended < s.began:
            newest = max(newest, ends[at].values[-1])
            at += 1
        if s.values[-1] < newest + s.writes:
            found.append(f"{s.values[-1]} was seen after {newest}")
    return found


def loaded(port: int, load: Load) -> Judged:
    """Ask the node at this port; the clients run in threads."""
    seen: list[Seen] = []
    failed: list[str] = []
    until = time.monotonic() + load.seconds
    reads = [{"get": "n"}, {"work": load.work}, {"get": "n"}]
    writes = [{"work": load.work}, {"add": ["n", 1]}]

    def client(path: str, steps: object, is_write: bool) -> None:
        connection = http.client.HTTPConnection(LOOPBACK, port, timeout=PATIENCE)
        try:
            began = time.monotonic()
            while began < until or not seen:
                connection.request("POST", f"/v1/chain/{path}", json.dumps({"steps": steps}))
                response = connection.getresponse()
                content = json.loads(response.read())
                values = tuple(each or 0 for each in content.get("values", ()))
                seen.append(Seen(is_write, began, time.monotonic(), response.status, values))
                began = time.monotonic()
        except (OSError, http.client.HTTPException, ValueError) as error:
            failed.append(f"a client had no answer: {type(error).__name__}: {error}")
        finally:
            connection.close()

    reader = ("send_read_only_transaction", reads, False)
    writer = ("send_transaction2", writes, True)
    threads = [
        threading.Thread(target=client, args=each)
        for each in [reader] * load.readers + [writer] * load.writers
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return Judged(seen, load.seconds, [*judge(seen), *failed])
