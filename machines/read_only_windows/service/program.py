"""The program `lawful run read_only_windows`: a node over HTTP, and clients that try one.

lawful run read_only_windows serve --port 8888 --read-only-transaction-num-threads 3
lawful run read_only_windows demo --readers 4 --writers 2 --seconds 5
"""

from __future__ import annotations

import argparse
import contextlib
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from lawful import argument_types as types
from lawful.runtime.journal import Journal, JournalError
from lawful.runtime.timers import REAL

from ...services.jumping_clock import JumpingClock, add_jumps
from ...services.threads import SystemThreads
from .load_clients import Load, loaded
from .settings import Config, Options
from .table import GuardedTable

FAILED, USAGE = 1, 5
DEMO = {
    "read_only_transaction_num_threads": 3,
    "read_write_window_time": 50,
    "read_only_window_time": 100,
    "read_only_transaction_threshold": 4,
    "max_read_only_transaction_time": 60,
}
# By the name of each option: what it counts, and what it is.
OPTIONS = {
    "read_only_transaction_num_threads": ("N", "threads for read-only transactions; 0: no windows"),
    "read_write_window_time": ("MS", "how long a read-write window lasts"),
    "read_only_window_time": ("MS", "how long a read-only window lasts at most"),
    "read_only_transaction_threshold": ("N", "so many that wait begin their window early; 0: none"),
    "read_only_window_margin": ("MS", "before the end of a window in which none is started"),
    "max_read_only_transaction_time": ("MS", "after which a read-only transaction is given up"),
    "latency": ("MS", "what the threads may need to ask for their first transaction of a window"),
    "max_write_time": ("MS", "after which a write is given up"),
    "slice_time": ("MS", "how long work goes on before a thread looks up"),
    "most_waiting": ("N", "so many requests of each kind may wait, others get 503"),
}


def main(words: Sequence[str]) -> int:
    """Run the command of these words; the exit code: 0, 1 if a promise was broken, 5 for words that
    are no command, or options that the node refuses."""
    try:
        given = _parser().parse_args(words)
    except SystemExit as end:
        if not end.code:  # The help was asked for.
            raise
        return USAGE
    try:
        config = Config(**{name: getattr(given, name) for name in Config.__dataclass_fields__})
        if given.command == "serve":
            return _serve(config, given.port, given.file, given.journal, given.jumps)
        return _demo(config, Load(given.readers, given.writers, given.seconds), given.journal)
    except ModuleNotFoundError as error:
        print(f"lawful run read_only_windows: {error}; pip install 'lawful[serve]'")
        return USAGE
    except (OSError, ValueError, sqlite3.Error, JournalError) as error:
        print(f"lawful run read_only_windows: {error}")
        return USAGE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="lawful run read_only_windows",
        description="A node with read-only windows, over HTTP on 127.0.0.1.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    serve = commands.add_parser("serve", help="a node, until it is interrupted")
    serve.add_argument("--port", type=types.port, default=0, help="default: any free port")
    serve.add_argument("--file", type=Path, help="keep the state in this SQLite file")
    serve.add_argument("--journal", type=Path, help="write the machines' events into this file")
    add_jumps(serve)
    _options(serve, {})
    demo = commands.add_parser("demo", help="start a node, let clients ask it, judge the answers")
    demo.add_argument("--readers", type=types.count, default=4, help="clients that read; default 4")
    demo.add_argument(
        "--writers", type=types.count, default=2, help="clients that write; default 2"
    )
    demo.add_argument("--seconds", type=types.seconds, default=3.0, help="default 3")
    demo.add_argument("--journal", type=Path, help="of the node")
    _options(demo, DEMO)
    return parser


def _options(parser: argparse.ArgumentParser, defaults: dict[str, int]) -> None:
    group = parser.add_argument_group("the node", "N is a number, MS are milliseconds.")
    for name, field in Config.__dataclass_fields__.items():
        default = defaults.get(name, field.default)
        option, (unit, text) = f"--{name.replace('_', '-')}", OPTIONS[name]
        told = f"{text}; default {default}"
        group.add_argument(option, type=int, default=default, metavar=unit, help=told)


def _serve(
    config: Config, port: int, file: Path | None, path: Path | None, jumps: float | None
) -> int:
    from .http_server import serve

    with contextlib.ExitStack() as stack:
        journal = None
        if path is not None:
            journal = stack.enter_context(Journal(path))
        table = GuardedTable(SystemThreads(), file)
        stack.callback(table.close)
        clock = REAL if jumps is None else JumpingClock(jumps)
        executor, front = serve(config, table, Options(clock, journal), port)
        counts = {**executor.stats().counts, **front.counts}
        print(", ".join(f"{name} {n}" for name, n in sorted(counts.items())) or "nothing")
        if isinstance(clock, JumpingClock):
            print(clock)
        if executor.broken:
            print(f"the state is broken: {executor.broken}")
        return FAILED if executor.broken else 0


def _demo(config: Config, load: Load, journal: Path | None) -> int:
    words = [sys.executable, "-m", "lawful", "run", "read_only_windows", "serve"]
    for name in Config.__dataclass_fields__:
        words += [f"--{name.replace('_', '-')}", str(getattr(config, name))]
    if journal is not None:
        words += ["--journal", str(journal)]
    node = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        assert node.stdout is not None
        line = node.stdout.readline()
        print(line, end="")
        if not line.startswith("listens"):
            return node.wait() or FAILED
        judged = loaded(int(line.split()[-1]), load)
        begun = time.monotonic()
        node.terminate()
        rest, _ = node.communicate(timeout=30)
    finally:
        node.kill()
        node.wait()
    print(judged.text)
    print(f"the node: {rest.strip()}")
    print(f"it ended after {time.monotonic() - begun:.2f} s")
    return 0 if judged.good and node.returncode == 0 else FAILED
