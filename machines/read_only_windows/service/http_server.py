"""A node that serves HTTP on 127.0.0.1 with uvicorn, until it is interrupted."""

from __future__ import annotations

import socket
import threading
from types import FrameType

import uvicorn

from .executor import WindowedExecutor
from .front import Front
from .settings import Config, Options
from .table import GuardedTable

LOOPBACK = "127.0.0.1"
MOST_CONNECTIONS = 500
GRACE = 5  # Seconds for the last answers.


class _Server(uvicorn.Server):
    """Shuts the executor down first, so that each request that waits has its answer."""

    executor: WindowedExecutor

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        # The signal may have come while this very thread holds the executor's lock.
        threading.Thread(target=self.executor.shutdown, name="shutdown").start()
        super().handle_exit(sig, frame)


def serve(
    config: Config, table: GuardedTable, options: Options, port: int
) -> tuple[WindowedExecutor, Front]:
    """Listen until the process gets SIGINT or SIGTERM. Errors: OSError for a port in use."""
    listening = socket.create_server((LOOPBACK, port))
    executor = WindowedExecutor(config, table, options)
    front = Front(executor)
    server = _Server(
        uvicorn.Config(
            front.app,
            lifespan="off",
            ws="none",
            log_level="error",
            limit_concurrency=MOST_CONNECTIONS,
            timeout_graceful_shutdown=GRACE,
        )
    )
    server.executor = executor
    print(f"listens on {LOOPBACK} port {listening.getsockname()[1]}", flush=True)
    try:
        server.run(sockets=[listening])
    except KeyboardInterrupt:
        pass  # Uvicorn raises the signal again when it has ended.
    finally:
        executor.shutdown()
        listening.close()
    return executor, front
