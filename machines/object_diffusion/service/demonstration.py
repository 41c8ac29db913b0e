"""A node and its peers as processes: some peers answer badly, processes are killed, all must come.

Peer A is honest. The judge reads the pool's file: each object that peers offer is there, once, and
no other.
"""

from __future__ import annotations

import hashlib
import random
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from .outbound import FATES

NAMES = "ABCDEFGH"
REPLY_TIMEOUT, LATENESS, DELAY = 1, 2.0, 0.02  # Seconds.


@dataclass(frozen=True)
class Plan:
    """`faults`: the share of requests that each peer but A answers badly. `kill`: whether the node
    and a bad peer are killed halfway. All within `seconds`. `journal`: a file, or None. Errors:
    ValueError."""

    names: str
    objects: int
    faults: float
    kill: bool
    seed: int
    seconds: float
    journal: Path | None

    def __post_init__(self) -> None:
        if not 0.0 <= self.faults <= 1.0:
            raise ValueError(f"faults is a share in 0..1, not {self.faults}")
        if not 1 <= len(self.names) <= len(NAMES):
            raise ValueError(f"there are 1 to {len(NAMES)} peers, not {len(self.names)}")


def body_of(n: int) -> bytes:
    """The object that each peer has as its number n."""
    return b"object %d" % n


class ServiceProcess:
    """`lawful run object_diffusion WORDS` in a process of its own, which can be started again."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = list(words)
        self._start()

    def _start(self) -> None:
        call = [sys.executable, "-m", "lawful", "run", "object_diffusion", *self.words]
        self._process = subprocess.Popen(call, stdout=subprocess.PIPE, text=True)

    def line(self) -> str:
        """The next line that it prints; empty after its end."""
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def ends(self, seconds: float) -> bool:
        """Wait so long for its end; whether it has come."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def result(self) -> tuple[int, str]:
        """The exit code, and what it printed, of a process that has ended."""
        said, _ = self._process.communicate()
        return self._process.returncode, said

    def kill(self) -> None:
        """Kill it without warning (SIGKILL)."""
        self._process.kill()
        self._process.communicate()

    def restart(self) -> None:
        """Start it again, with the same words."""
        self._start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.terminate()
            self._process.communicate()


class PeerProcess(ServiceProcess):
    """A peer; `port` is where it listens, also after a restart. Errors: OSError if it does not."""

    def __init__(self, name: str, plan: Plan) -> None:
        self.name = name
        share = 0.0 if name == NAMES[0] else plan.faults / len(FATES)
        words = ["peer", name, "--objects", str(plan.objects), "--seed", str(plan.seed)]
        words += ["--delay", str(DELAY), "--lateness", str(LATENESS)]
        words += [word for fate in FATES for word in (f"--{fate.replace('_', '-')}", str(share))]
        super().__init__(words)
        self.port = self._listening()
        self.words += ["--port", str(self.port)]

    def _listening(self) -> int:
        said = self.line()
        if not said:
            raise OSError(f"peer {self.name} did not begin to listen")
        return int(said.split()[-1])

    def restart(self) -> None:
        """Start it again, on its port."""
        super().restart()
        self._listening()


def demo(plan: Plan, pool: Path) -> bool:
    """Peers and a node with this pool, killed halfway; whether every promise was kept."""
    begun = time.monotonic()
    with ExitStack() as processes:
        peers = [processes.enter_context(PeerProcess(name, plan)) for name in plan.names]
        at = [f"{peer.name}={peer.port}" for peer in peers]
        print(f"seed {plan.seed}: {', '.join(at)}")
        words = ["node", *at, "--objects", str(plan.objects), "--pool", str(pool)]
        words += ["--reply-timeout", str(REPLY_TIMEOUT), "--seconds", str(plan.seconds)]
        words += [] if plan.journal is None else ["--journal", str(plan.journal)]
        node = processes.enter_context(ServiceProcess(words))
        victim = random.Random(plan.seed).choice(peers[1:] or peers)
        to_kill = plan.kill
        while not node.ends(0.02) and time.monotonic() - begun < plan.seconds:
            if to_kill and len(_held(pool)) * 2 > plan.objects:
                for process in (node, victim):
                    process.kill()
                print(f"killed: peer {victim.name}, and the node with {len(_held(pool))} objects")
                for process in (node, victim):
                    process.restart()
                to_kill = False
        if not node.ends(0.0):
            print(f"the node did not end within {plan.seconds} s")
            return False
        _, said = node.result()
        print(said, end="")
    if to_kill:
        print("nothing was killed: all came before")
    return judged(pool, plan.objects) and not to_kill


def judged(pool: Path, objects: int) -> bool:
    """Print what the file has; whether it is exactly what was offered."""
    held = _held(pool)
    offered = {body_of(n) for n in range(objects)}
    bodies = [each for _, each in held]
    twice = len(bodies) - len(set(bodies))
    wrong = sum(hashlib.blake2b(b, digest_size=16).hexdigest() != x for x, b in held)
    missing, foreign = len(offered - set(bodies)), len(set(bodies) - offered)
    print(
        f"pool: {len(held)} objects, {missing} missing, {twice} twice, {foreign} foreign,", end=""
    )
    print(f" {wrong} under another ID")
    return not (missing or twice or foreign or wrong)


def _held(pool: Path) -> list[tuple[str, bytes]]:
    """What the file has now; nothing before the node has made it."""
    if not pool.exists():
        return []
    with closing(sqlite3.connect(pool)) as file:
        try:
            return [(x, bytes(b)) for x, b in file.execute("SELECT id, body FROM objects")]
        except sqlite3.OperationalError:  # It has no table yet, or is locked.
            return []
