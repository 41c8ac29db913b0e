"""The program `lawful run unicast`: two endpoints that exchange messages through a bad network.

lawful run unicast --messages 1000 --loss 0.1 --duplicate 0.05 --reorder 0.2 --seed 7
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections.abc import Awaitable, Sequence
from pathlib import Path

from .relay import Faults
from .run import ExchangeReport, exchange

FAILED, USAGE = 1, 5


def main(words: Sequence[str]) -> int:
    """Run the exchange of these words; the exit code: 0, 1 if it was not exactly once and in
    order or took too long, 5 for words that cannot be used."""
    try:
        given = _parser().parse_args(words)
    except SystemExit as end:
        if not end.code:  # The help was asked for.
            raise
        return USAGE
    try:
        faults = Faults(loss=given.loss, duplicate=given.duplicate, reorder=given.reorder)
        with tempfile.TemporaryDirectory() as folder:
            journal = given.journal or Path(folder) / "journal.jsonl"
            running = exchange(given.messages, faults, given.seed, journal)
            report = asyncio.run(_within(given.seconds, running))
    except TimeoutError:
        print(f"not all messages came within {given.seconds} seconds")
        return FAILED
    except (OSError, ValueError) as error:
        print(f"lawful run unicast: {error}")
        return USAGE
    _show(report, given.seed)
    return 0 if report.exactly_once_in_order else FAILED


async def _within(seconds: float, running: Awaitable[ExchangeReport]) -> ExchangeReport:
    async with asyncio.timeout(seconds):
        return await running


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="lawful run unicast",
        description="Exchange messages between two endpoints on 127.0.0.1, through a bad network.",
    )
    parser.add_argument("--messages", type=int, default=1_000, help="each way; default 1000")
    for fault in ("loss", "duplicate", "reorder"):
        parser.add_argument(f"--{fault}", type=float, default=0.0, metavar="P")
    parser.add_argument("--seed", type=int, default=0, help="of the network's faults; default 0")
    parser.add_argument("--seconds", type=float, default=60.0, help="give up after; default 60")
    parser.add_argument("--journal", type=Path, help="write the machines' events into this file")
    return parser


def _show(report: ExchangeReport, seed: int) -> None:
    for name, way in report.directions.items():
        print(
            f"{name}: {way.delivered} of {way.sent} delivered, {way.duplicates} twice,"
            f" {way.out_of_order} out of order, {way.foreign} foreign"
        )
    relay = report.relay
    print(
        f"network, seed {seed}: {relay.received} datagrams, {relay.dropped} lost,"
        f" {relay.duplicated} doubled, {relay.reordered} overtaken"
    )
    print(f"{report.seconds:.2f} s, {report.journal_rows} rows of journals")
