"""Scripts of peers that lie, over TCP: each speaks to one service, for a bounded time.

`good` is a frame that the service would take. Where a script says it first, the service believes
that it has an honest peer.
"""

from __future__ import annotations

import contextlib
import random
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Self

from lawful.machines.services import LOOPBACK
from lawful.machines.services.peers import GARBAGE, OVERSIZED

SPELL = 12.0  # Seconds of one script: longer than the services wait for a frame to be complete.
BURST = 4_000  # Frames of a flood.


class Talk:
    """One connection of a script."""

    def __init__(self, connection: socket.socket, good: bytes, seed: int) -> None:
        connection.settimeout(0.2)
        self.good = good
        self.draw = random.Random(seed)
        self._connection = connection
        self._end = time.monotonic() + SPELL
        self.closed = False  # By the service.

    def say(self, data: bytes) -> None:
        """Send this, as far as the service reads it and time allows."""
        while data and self.going:
            try:
                data = data[self._connection.send(data) :]
            except TimeoutError:
                continue
            except OSError:
                self.closed = True

    @property
    def going(self) -> bool:
        return not self.closed and time.monotonic() < self._end

    def listen(self, seconds: float = SPELL) -> None:
        """Read and forget, for so long."""
        until = time.monotonic() + seconds
        while self.going and time.monotonic() < until:
            try:
                self.closed = not self._connection.recv(65_536)
            except TimeoutError:
                continue
            except OSError:
                self.closed = True

    def hang_up(self) -> None:
        """Reset the connection."""
        linger = struct.pack("ii", 1, 0)
        self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self._connection.close()
        self._end = 0.0


def silent(talk: Talk) -> None:
    talk.listen()


def greets_and_stalls(talk: Talk) -> None:
    talk.say(talk.good)
    talk.listen()


def half_a_frame(talk: Talk) -> None:
    talk.say(talk.good[: len(talk.good) // 2])
    talk.listen()


def a_byte_a_second(talk: Talk) -> None:
    for byte in talk.good:
        talk.say(bytes((byte,)))
        talk.listen(1.0)


def floods(talk: Talk) -> None:
    talk.say(talk.good * BURST)
    talk.listen()


def floods_with_garbage(talk: Talk) -> None:
    talk.say(talk.good + (GARBAGE + b"\n") * BURST)
    talk.listen()


def random_bytes(talk: Talk) -> None:
    talk.say(talk.draw.randbytes(20_000))
    talk.listen()


def a_length_beyond_all(talk: Talk) -> None:
    talk.say(OVERSIZED + bytes(100_000))
    talk.listen()


def no_end_of_a_frame(talk: Talk) -> None:
    """Bytes for as long as the service takes them, which end no frame."""
    while talk.going:
        talk.say(b"{" * 65_536)


def damaged(talk: Talk) -> None:
    """Frames with one wrong bit."""
    for _ in range(100):
        data = bytearray(talk.good)
        data[talk.draw.randrange(len(data))] ^= 1 << talk.draw.randrange(8)
        talk.say(bytes(data))
    talk.listen()


def hangs_up(talk: Talk) -> None:
    talk.hang_up()


def hangs_up_in_a_frame(talk: Talk) -> None:
    talk.say(talk.good[:-1])
    talk.hang_up()


SCRIPTS: tuple[Callable[[Talk], None], ...] = (
    silent,
    greets_and_stalls,
    half_a_frame,
    a_byte_a_second,
    floods,
    floods_with_garbage,
    random_bytes,
    a_length_beyond_all,
    no_end_of_a_frame,
    damaged,
    hangs_up,
    hangs_up_in_a_frame,
)


class Liars:
    """All scripts at once, in threads. `counts`: how often each began, and what the service did:
    `closed`, or `kept` to the end of the script."""

    def __init__(self, seed: int) -> None:
        self.begun: Counter[str] = Counter()
        self.ends: Counter[str] = Counter()
        self._seed = seed
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._servers: list[socket.socket] = []

    def call(self, port: int, good: bytes) -> None:
        """Each script speaks to the service at this port."""
        for script in SCRIPTS:
            with contextlib.suppress(OSError):
                self._begin(socket.create_connection((LOOPBACK, port)), script, good)

    def serve(self, good: Callable[[str], bytes]) -> dict[str, int]:
        """Each script at a port of its own, for a service that dials: ports by name. `good`: the
        frame of a peer of this name."""
        ports: dict[str, int] = {}
        for number, script in enumerate(SCRIPTS):
            name = f"L{number}"
            server = socket.create_server((LOOPBACK, 0))
            self._servers.append(server)
            ports[name] = server.getsockname()[1]
            begin = (server, script, good(name))
            threading.Thread(target=self._accept, args=begin, daemon=True).start()
        return ports

    def _accept(self, server: socket.socket, script: Callable[[Talk], None], good: bytes) -> None:
        with contextlib.suppress(OSError):  # The server is closed.
            while True:
                self._begin(server.accept()[0], script, good)

    def _begin(self, to: socket.socket, script: Callable[[Talk], None], good: bytes) -> None:
        thread = threading.Thread(target=self._lie, args=(to, script, good), daemon=True)
        self._threads.append(thread)
        thread.start()

    def _lie(self, to: socket.socket, script: Callable[[Talk], None], good: bytes) -> None:
        with self._lock:
            self.begun[script.__name__.replace("_", " ")] += 1
            seed = self._seed + sum(self.begun.values())
        with to:
            talk = Talk(to, good, seed)
            script(talk)
        with self._lock:
            self.ends["connections closed" if talk.closed else "connections kept"] += 1

    def wait(self) -> None:
        """Until every script has come to its end."""
        for thread in self._threads:
            thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for server in self._servers:
            server.shutdown(socket.SHUT_RDWR)  # What accepts there ends.
            server.close()
