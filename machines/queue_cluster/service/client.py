"""A client of a broker.

    client = await Client.connect(7101)
    await client.declare("orders", alternate="spoilt")
    await client.send("orders", b"one")             # returns once the whole cluster has it
    await client.subscribe("orders", credit=10)
    delivered = await client.next()                 # None once the connection has ended
    await client.accept(delivered)

When a broker ends, its clients get `ConnectionLost`, and connect to another one. A command that was
not answered may have been done or not; what was published so may be there twice, as two messages.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable
from itertools import count
from typing import Self

from ...services import LOOPBACK
from ...services.framing import WireError
from ...services.round_robin import RoundRobin
from ..messages import Exchange, QueueName
from .connection import Connection
from .frames import (
    VERSION,
    Accept,
    Answer,
    BindQueue,
    Command,
    Completed,
    DeclareQueue,
    Delivered,
    DestroyQueue,
    Ended,
    Failed,
    Publish,
    Reject,
    Release,
    Send,
    Subscribe,
    Unsubscribe,
    Welcome,
)
from .node import alternate_of
from .settings import Config
from .wire import encode_checked


class CommandFailed(Exception):
    """The broker says no; the message says why. Nothing happened."""


class ConnectionLost(Exception):
    """The connection has ended: whether the command was done is not known."""


class Client:
    """`node`: the broker's name in this life; `cluster`: its number. Under another
    number another cluster has begun: what was in the earlier one is gone.

    At most `window` commands wait for an answer; others wait until one has come.
    """

    def __init__(self, config: Config | None = None, window: int = 256) -> None:
        config = config or Config()
        self.node = ""
        self.cluster = 0
        self._numbers = count(1)
        self._longest_body = config.longest_body
        self._over = "the connection to the broker has ended"
        self._window = asyncio.Semaphore(window)
        self._answers: dict[int, asyncio.Future[None]] = {}
        self._deliveries: deque[Delivered] = deque()
        self._came = asyncio.Event()
        self._welcome: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        kinds, longest = (Answer, Command), config.longest_line
        self._link = Connection[Answer](config, kinds, longest, Counter(), RoundRobin())
        self._link.on_frame = self._take
        self._link.on_end = self._end

    @classmethod
    async def connect(cls, port: int, config: Config | None = None, window: int = 256) -> Self:
        """A client of the broker at this port. Errors: OSError; ConnectionLost, CommandFailed if
        the broker is no member of the cluster now; ConnectionLost, too, where nobody greets within
        `Config.silence` seconds."""
        config = config or Config()
        client = cls(config, window)
        dial = asyncio.get_running_loop().create_connection(lambda: client._link, LOOPBACK, port)
        try:
            async with asyncio.timeout(config.silence):
                await dial
                await client._welcome
        except BaseException as error:
            client.abort()  # Also for a caller that does not wait any longer.
            if isinstance(error, TimeoutError):
                raise ConnectionLost(f"no broker greets at port {port}") from None
            raise
        return client

    def close(self) -> None:
        """Hang up; what was delivered and not settled goes to others."""
        self._link.close()

    def abort(self) -> None:
        """Hang up at once, like a process that is killed."""
        self._link.abort()

    @property
    def alive(self) -> bool:
        """Whether the connection stands."""
        return self._link.alive

    async def declare(self, queue: str, alternate: str | None = None) -> None:
        """Make this queue, unless there is one. `alternate`: another queue, which gets the messages
        that are rejected; it is made, too. Errors: as of all commands, CommandFailed and
        ConnectionLost."""
        q = QueueName(queue)
        if alternate is not None:  # Either all of it can be done, or nothing is.
            self._line(BindQueue(0, alternate_of(q), QueueName(alternate)))
            if alternate == queue:
                raise CommandFailed(f"the queue {queue} is not its own alternate")
        await self._ask(lambda number: DeclareQueue(number, q))
        if alternate is not None:
            await self.declare(alternate)
            await self.bind(alternate_of(q), alternate)

    async def bind(self, exchange: str, queue: str) -> None:
        """From now on the exchange routes to this queue, too."""
        await self._ask(lambda number: BindQueue(number, Exchange(exchange), QueueName(queue)))

    async def destroy(self, queue: str) -> None:
        """End this queue, with its messages."""
        await self._ask(lambda number: DestroyQueue(number, QueueName(queue)))

    async def publish(self, exchange: str, body: bytes) -> None:
        """To all queues to which the exchange routes."""
        await self._ask(lambda number: Publish(number, Exchange(exchange), body))

    async def send(self, queue: str, body: bytes) -> None:
        """To this queue."""
        await self._ask(lambda number: Send(number, QueueName(queue), body))

    async def subscribe(self, queue: str, credit: int = 10) -> None:
        """Get messages of this queue, while fewer than `credit` of them are not settled."""
        await self._ask(lambda number: Subscribe(number, QueueName(queue), credit))

    async def unsubscribe(self, queue: str) -> None:
        """Stop getting messages. Those that have come are still to be settled, and a few may be on
        their way."""
        await self._ask(lambda number: Unsubscribe(number, QueueName(queue)))

    async def accept(self, message: Delivered) -> None:
        """It is done: nobody gets it again."""
        await self._ask(lambda number: Accept(number, message.queue, message.message))

    async def release(self, message: Delivered) -> None:
        """Let somebody have it again."""
        await self._ask(lambda number: Release(number, message.queue, message.message))

    async def reject(self, message: Delivered) -> None:
        """Let the queue's alternate have it."""
        await self._ask(lambda number: Reject(number, message.queue, message.message))

    async def next(self) -> Delivered | None:
        """The next message; None once the connection has ended."""
        while not self._deliveries:
            if self._link.ended.is_set():
                return None
            self._came.clear()
            await self._came.wait()
        return self._deliveries.popleft()

    async def _ask(self, command: Callable[[int], Command]) -> None:
        async with self._window:
            if not self._link.alive:
                raise ConnectionLost(self._over)
            number = next(self._numbers)
            line = self._line(command(number))
            answer = self._answers[number] = asyncio.get_running_loop().create_future()
            self._link.send_line(line)
            await answer

    def _line(self, command: Command) -> bytes:
        """The command as a line. Errors: CommandFailed where the broker would not read it, so that
        its answer would not say to which command; TypeError for a body that is no bytes."""
        if isinstance(command, Publish | Send) and len(command.body) > self._longest_body:
            raise CommandFailed(f"a message has at most {self._longest_body} bytes")
        try:
            return encode_checked(command, Command)
        except WireError as error:
            raise CommandFailed(str(error)) from None

    def _take(self, answer: Answer) -> None:
        match answer:
            case Welcome(version=version, node=node, cluster=cluster):
                if version != VERSION:
                    self._link.abort()
                    return
                self.node, self.cluster = node, cluster
                if not self._welcome.done():
                    self._welcome.set_result(None)
            case Completed(number=number):
                waits = self._answers.pop(number, None)
                if waits is not None and not waits.done():
                    waits.set_result(None)
            case Failed(number=number, why=why):
                self._fail(number, CommandFailed(why))
            case Delivered():
                self._deliveries.append(answer)
                self._came.set()
            case Ended():
                pass

    def _fail(self, number: int, error: Exception) -> None:
        waits = self._welcome if number == 0 else self._answers.pop(number, None)
        if number == 0 and isinstance(
            error, CommandFailed
        ):  # It is about no command, or about all.
            self._over = f"the connection to the broker has ended: {error}"
        if waits is not None and not waits.done():
            waits.set_exception(error)

    def _end(self) -> None:
        self._came.set()
        for number in (0, *self._answers):
            self._fail(number, ConnectionLost(self._over))
        self._welcome.cancel()
