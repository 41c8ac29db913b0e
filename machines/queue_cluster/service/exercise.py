"""Clients that use a cluster at random, and note all that they did and saw.

Publishers and consumers connect to any broker, and to another one when theirs ends. Each body is
published once. Consumers accept, release and reject. They hang up with messages that they have,
before or after they have ended a subscription. Once `calm` is called they accept everything.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass

from .client import Client, CommandFailed, ConnectionLost
from .frames import Delivered
from .histories import Got, History, Sent, lost
from .settings import Config

SPOILT = "spoilt"  # The queue of messages that were rejected.


@dataclass(frozen=True)
class Manners:
    """How consumers behave: the probabilities of what they do with a message, else they accept it.
    `leave`: they end the subscription, and then hang up.
    `credit`: at most; `work`: seconds before a message is settled, at most, until `calm`; `batch`:
    how many messages a publisher sends at a time, at most; `pause`: seconds between two times, at
    most."""

    release: float = 0.05
    reject: float = 0.05
    hang_up: float = 0.01
    leave: float = 0.01
    credit: int = 5
    work: float = 0.0
    batch: int = 5
    pause: float = 0.02


class Exercise:
    """Clients of the brokers at these ports, and their history."""

    def __init__(
        self,
        ports: Sequence[int],
        queues: Sequence[str],
        seed: float,
        manners: Manners | None = None,
    ) -> None:
        self.history = History(alternates=dict.fromkeys(queues, SPOILT))
        self.publishing = 0
        self.config = Config()
        self._ports = ports
        self._queues = queues
        self._draw = random.Random(seed)
        self._manners = manners or Manners()
        self._calm = False
        self._over = asyncio.Event()
        self._jobs: dict[asyncio.Task[None], None] = {}  # In the order in which they came.

    def start(self, publishers: int, consumers: int, messages: int) -> None:
        """Start so many; each publisher sends so many messages."""
        self.publishing = publishers
        for number in range(publishers):
            self._job(self._publisher(f"P{number}", messages))
        for number in range(consumers):
            self._job(self._consumer(f"C{number}"))

    def _job(self, work: Coroutine[object, object, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._jobs[task] = None
        task.add_done_callback(self._jobs.pop)
        return task

    def calm(self) -> None:
        """From now on consumers accept everything."""
        self._calm = True

    @property
    def complete(self) -> bool:
        """Whether all is published, and what was answered is delivered and ended."""
        return not self.publishing and not lost(self.history)

    async def end(self) -> None:
        """End all clients."""
        self._over.set()
        for job in tuple(self._jobs):
            job.cancel()
        await asyncio.gather(*self._jobs, return_exceptions=True)

    async def _connected(self) -> Client:
        """A client of any broker that answers, with all queues declared there."""
        while True:
            with suppress(OSError, ConnectionLost, CommandFailed, TimeoutError):
                port = self._draw.choice(self._ports)
                async with asyncio.timeout(10.0):
                    return await self._declared(await Client.connect(port, self.config))
            await asyncio.sleep(0.1)

    async def _declared(self, client: Client) -> Client:
        """The client with all queues declared; it hangs up where that fails, or is cancelled."""
        try:
            for queue in self._queues:
                await client.declare(queue, alternate=SPOILT)
        except BaseException:
            client.abort()
            raise
        return client

    async def destroy_one(self) -> None:
        """Make a queue with a few messages, which nobody is to get, and destroy it."""
        with suppress(ConnectionLost, CommandFailed, TimeoutError):
            async with asyncio.timeout(5.0):
                client = await self._connected()
                try:
                    await client.declare("brief")
                    await client.subscribe("brief", 2)
                    await asyncio.gather(*(client.send("brief", b"%d" % n) for n in range(3)))
                    await client.destroy("brief")
                finally:
                    client.abort()

    # Publishers.

    async def _publisher(self, name: str, messages: int) -> None:
        made, lives = 0, 0
        while made < messages:
            client = await self._connected()
            lives += 1
            connection = f"{name}.{lives}"
            try:
                while made < messages and client.alive:
                    size = min(self._draw.randint(1, self._manners.batch), messages - made)
                    await self._batch(client, connection, range(made, made + size))
                    made += size
                    await asyncio.sleep(self._draw.uniform(0.0, self._manners.pause))
            finally:
                client.abort()
        self.publishing -= 1

    async def _batch(self, client: Client, connection: str, places: range) -> None:
        name = connection.partition(".")[0]
        for_each: list[Coroutine[object, object, None]] = []
        for place in places:
            queue = self._draw.choice(self._queues)
            sent = Sent(f"{name}/{place}".encode(), queue, connection, place)
            self.history.sent.append(sent)
            for_each.append(self._send(client, sent))
        await asyncio.gather(*for_each)

    async def _send(self, client: Client, sent: Sent) -> None:
        with suppress(ConnectionLost, CommandFailed, TimeoutError):
            async with asyncio.timeout(15.0):
                await client.send(sent.queue, sent.body)
            sent.answered = True

    # Consumers.

    async def _consumer(self, name: str) -> None:
        lives = 0
        while not self._over.is_set():
            client = await self._connected()
            lives += 1
            opened = self.history.moment()
            try:
                for queue in (*self._queues, SPOILT):
                    credit = self._draw.randint(1, self._manners.credit)
                    await client.subscribe(queue, credit)
                await self._consume(client, f"{name}.{lives}", opened)
            except (ConnectionLost, CommandFailed):
                await asyncio.sleep(0.05)
            finally:
                client.abort()

    async def _consume(self, client: Client, connection: str, opened: int) -> None:
        while (message := await client.next()) is not None:
            moment = self.history.moment()
            body, queue = message.body, str(message.queue)
            got = Got(body, queue, connection, message.redelivered, moment, opened)
            self.history.got.append(got)
            chance = 1.0 if self._calm else self._draw.random()
            manners = self._manners
            if chance < manners.hang_up:
                return
            chance -= manners.hang_up
            if chance < manners.leave:
                await client.unsubscribe(queue)
                return
            chance -= manners.leave
            if chance < manners.release:
                self._job(self._settle(got, "release", client, message))
            elif chance < manners.release + manners.reject and queue != SPOILT:
                self._job(self._settle(got, "reject", client, message))
            else:
                self._job(self._settle(got, "accept", client, message))

    async def _settle(self, got: Got, how: str, client: Client, message: Delivered) -> None:
        if self._manners.work and not self._calm:
            await asyncio.sleep(self._draw.uniform(0.0, self._manners.work))
        if not client.alive:
            return
        ways = {"accept": client.accept, "reject": client.reject, "release": client.release}
        got.tried = how
        with suppress(ConnectionLost, CommandFailed):
            await ways[how](message)
            got.settled, got.at = how, self.history.moment()
