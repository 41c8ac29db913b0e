"""What is done to the services that dial peers: unicast, scheduler, object diffusion."""

from __future__ import annotations

import contextlib
import random
import socket
import time
from collections.abc import Callable
from pathlib import Path

from lawful.machines.message_scheduler.service import wire as scheduler_wire
from lawful.machines.object_diffusion.service import wire as diffusion_wire
from lawful.machines.object_diffusion.service.demonstration import judged
from lawful.machines.services import LOOPBACK
from lawful.machines.unicast.service import wire as unicast_wire
from tests.root import PATIENCE

from .liars import BURST, Liars
from .processes import JUMP, MOST_GROWTH, Harmed, Outcome, counted

KEY = b"a secret of all members"
MESSAGES = 2_000  # Of each member.
OBJECTS = 900
MOST_FILES = 40  # One for each peer, those of the program, and a few.
SECONDS = 25.0  # Until a fetcher gives the liars up, which are never notified.


def at(peers: dict[str, int]) -> list[str]:
    """As words."""
    return [f"{name}={port}" for name, port in peers.items()]


def shuffled(draw: random.Random, *steps: Callable[[], object]) -> None:
    """Take these steps, in an order and with pauses that are drawn."""
    for step in draw.sample(steps, len(steps)):
        time.sleep(draw.uniform(0.2, 0.8))
        step()


def watched(outcome: Outcome, service: Harmed) -> None:
    """Wait until it ends; it takes little more memory than it had at first, and opens few files."""
    first, memory, files = service.memory(), 0, 0
    while not service.over:
        memory, files = max(memory, service.memory()), max(files, service.files())
        time.sleep(0.1)
    size = max(0, memory - first)
    outcome.observed["KiB of growth"] += size // 1_024
    outcome.expect(size < MOST_GROWTH, f"it grew by {size} bytes")
    outcome.expect(files <= MOST_FILES, f"it had {files} files and sockets open")


def message_scheduler(seed: int, _: Path) -> Outcome:
    """Two honest peers, of which one is unreliable, and a liar of each kind."""
    outcome, draw = Outcome(), random.Random(seed)
    words = ("message_scheduler", "peer")
    bad = ("--late", 0.05, "--never", 0.02, "--hang-up", 0.02, "--seed", seed)
    with contextlib.ExitStack() as stack:
        liars = stack.enter_context(Liars(seed))
        honest = [
            stack.enter_context(Harmed(outcome, *words, *more, "--delay", 0.02)).listening()
            for more in (("A",), ("B", *bad))
        ]
        peers = {name: peer.port for name, peer in zip("AB", honest, strict=True)}
        peers |= liars.serve(lambda name: scheduler_wire.encode(scheduler_wire.Hello(name, 2)))
        task = ("--objects", OBJECTS, "--seconds", SECONDS, "--jumps", JUMP)
        fetch = stack.enter_context(Harmed(outcome, words[0], "fetch", *at(peers), *task))
        time.sleep(1.0)
        shuffled(
            draw,
            fetch.jump,
            fetch.jump,
            lambda: fetch.stand_still(0.5),
            honest[1].kill_and_restart,
        )
        watched(outcome, fetch)
        said = fetch.rest()
        outcome.expect(f"objects: {OBJECTS} of {OBJECTS}" in said, said)
        outcome.expect("forward 2, back 2" in said, said)
        liars.wait()
    return _with(outcome, liars, said)


def object_diffusion(seed: int, folder: Path) -> Outcome:
    """An honest peer, an unreliable one, a liar of each kind; the node is killed, too."""
    outcome, draw = Outcome(), random.Random(seed)
    words, pool = ("object_diffusion", "peer"), folder / "pool.sqlite"
    bad = ("--late", 0.05, "--never", 0.02, "--invalid", 0.05, "--hang-up", 0.05, "--seed", seed)
    with contextlib.ExitStack() as stack:
        liars = stack.enter_context(Liars(seed))
        honest = [
            stack.enter_context(
                Harmed(outcome, *words, *more, "--delay", 0.1, "--objects", OBJECTS)
            ).listening()
            for more in (("A",), ("B", *bad))
        ]
        peers = {name: peer.port for name, peer in zip("AB", honest, strict=True)}
        peers |= liars.serve(lambda name: diffusion_wire.encode(diffusion_wire.Hello(name)))
        task = ("--objects", OBJECTS, "--seconds", PATIENCE, "--jumps", JUMP, "--pool", pool)
        timeout = ("--reply-timeout", 2)
        node = stack.enter_context(Harmed(outcome, words[0], "node", *at(peers), *task, *timeout))
        time.sleep(1.0)
        shuffled(
            draw,
            node.jump,
            node.jump,
            lambda: node.stand_still(0.5),
            honest[1].kill_and_restart,
            node.kill_and_restart,
        )
        watched(outcome, node)
        said = node.rest()
        outcome.expect(f"objects: {OBJECTS} of {OBJECTS}" in said, said)
        outcome.expect(judged(pool, OBJECTS), "the pool is not what was offered")
        liars.wait()
    return _with(outcome, liars, said)


def _with(outcome: Outcome, liars: Liars, said: str) -> Outcome:
    outcome.injected += liars.begun
    outcome.observed += liars.ends + counted(said)
    return outcome


# Datagrams.


def free() -> int:
    """A port that nobody has."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as found:
        found.bind((LOOPBACK, 0))
        port: int = found.getsockname()[1]
    return port


def _lie(outcome: Outcome, draw: random.Random, port: int, name: str) -> None:
    """Datagrams of many wrong kinds, from nobody who has the key."""
    batch = unicast_wire.Batch("B", name, (), 1)
    good = unicast_wire.encode(batch, KEY)
    kinds: dict[str, Callable[[], bytes]] = {
        "random datagrams": lambda: draw.randbytes(draw.randint(0, 2_000)),
        "forged datagrams": lambda: unicast_wire.encode(batch, draw.randbytes(16)),
        "datagrams without seal": lambda: unicast_wire.encode(batch),
        "half datagrams": lambda: good[: draw.randrange(len(good))],
        "damaged datagrams": lambda: _damaged(draw, good),
        "datagrams of strangers": lambda: unicast_wire.encode(
            unicast_wire.Batch(f"S{draw.random()}", name, (), 1), KEY
        ),
        "datagrams for others": lambda: unicast_wire.encode(
            unicast_wire.Batch("B", "nobody", (), 1), KEY
        ),
    }
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as liar:
        for number, kind in enumerate(draw.choices([*kinds], k=BURST)):
            liar.sendto(kinds[kind](), (LOOPBACK, port))
            outcome.injected[kind] += 1
            if number % 32 == 0:
                time.sleep(0.01)  # Else the buffer of the socket loses most of them.


def _damaged(draw: random.Random, good: bytes) -> bytes:
    data = bytearray(good)
    data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    return bytes(data)


def unicast(seed: int, folder: Path) -> Outcome:
    """Two members, a bad network, forgers. B is killed, and starts again while its wall clock is
    back."""
    outcome, draw = Outcome(), random.Random(seed)
    (folder / "key").write_bytes(KEY)
    ports = {"A": free(), "B": free()}
    network = ("--loss", 0.1, "--duplicate", 0.05, "--reorder", 0.1, "--seed", seed)
    outcome.injected["% of datagrams lost"] += 10

    def member(name: str, peer: str, *more: object) -> Harmed:
        files = ("--key", folder / "key", "--epoch", folder / f"{name}.epoch")
        task = ("--messages", MESSAGES, "--seconds", PATIENCE, "--jumps", 20, *files, *network)
        to = ("--port", ports[name], "--peer", f"{peer}={ports[peer]}")
        return Harmed(outcome, "unicast", "member", name, *to, *task, *more)

    with member("A", "B", "--expected", MESSAGES) as a, member("B", "A") as b:
        a.listening()
        b.listening()
        shuffled(
            draw,
            a.jump,
            b.jump,
            lambda: b.stand_still(0.5),
            lambda: _lie(outcome, draw, ports["A"], "A"),
            lambda: _lie(outcome, draw, ports["B"], "B"),
            b.kill_and_restart,
        )
        b.listening()  # In its second life; A may be done before.
        watched(outcome, a)
        told = a.rest()
        _, other = b.end()
    outcome.expect(f"to B: {MESSAGES} acknowledged, 0 in doubt" in told, told)
    for said in (told, other):
        outcome.expect("again or out of order" not in said, said)
        outcome.expect("clock jumps: " in said, said)
    outcome.observed += counted(told) + counted(other)
    return outcome
