"""The program `lawful run unicast`: two endpoints that exchange messages through a bad network.

lawful run unicast --messages 1000 --loss 0.1 --duplicate 0.05 --reorder 0.2 --seed 7
lawful run unicast member A --port 7001 --peer B=7002 --messages 1000 --expected 1000

The second is one endpoint, to be started once for each member, as a process of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections.abc import Awaitable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lawful import argument_types as types
from lawful.runtime.journal import JournalError

from ...services.jumping_clock import add_jumps
from .endpoint import EndpointClosed
from .member import Member, serve
from .relay import Faults
from .run import ExchangeReport, exchange

FAILED, USAGE = 1, 5
FAULTS = ("loss", "duplicate", "reorder")
SHORTEST_SECRET = 16  # Bytes of `--key`.


def main(words: Sequence[str]) -> int:
    """Run the exchange of these words; the exit code: 0, 1 if it was not exactly once and in
    order, took too long or an endpoint failed, 5 for words that cannot be used."""
    member = words[:1] == ["member"]
    try:
        given = _member_parser().parse_args(words[1:]) if member else _parser().parse_args(words)
    except SystemExit as end:
        if not end.code:  # The help was asked for.
            raise
        return USAGE
    try:
        if member:
            return 0 if asyncio.run(serve(_member(vars(given)))) else FAILED
        faults = Faults(loss=given.loss, duplicate=given.duplicate, reorder=given.reorder)
        with tempfile.TemporaryDirectory() as folder:
            journal = given.journal or Path(folder) / "journal.jsonl"
            running = exchange(given.messages, faults, given.seed, journal)
            report = asyncio.run(_within(given.seconds, running))
    except TimeoutError:
        print(f"not all messages came within {given.seconds} seconds")
        return FAILED
    except EndpointClosed as error:
        print(f"lawful run unicast: {error}: {error.__cause__}")
        return FAILED
    except (OSError, ValueError, JournalError) as error:
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
        description="Exchange messages between two endpoints on 127.0.0.1, through a bad network;"
        " `lawful run unicast member --help` tells of endpoints in processes of their own.",
    )
    parser.add_argument(
        "--messages", type=types.count, default=1_000, help="each way; default 1000"
    )
    _common(parser, "give up after; default 60")
    return parser


def _member_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="lawful run unicast member", description="One endpoint on 127.0.0.1, with its peers."
    )
    parser.add_argument("name")
    parser.add_argument("--port", type=types.port, default=0, help="default: any free port")
    parser.add_argument(
        "--peer", action="append", default=[], type=types.address, metavar="NAME=PORT"
    )
    parser.add_argument("--messages", type=types.count, default=0, help="to each peer; default 0")
    parser.add_argument(
        "--expected",
        type=types.count,
        help="end when so many have come from each peer; default: go on until --seconds are over or"
        " a signal comes, which is no failure if all that was to be sent is acknowledged",
    )
    parser.add_argument(
        "--key", type=Path, help="a file with the secret that all members share, 16 bytes or more"
    )
    parser.add_argument("--epoch", type=Path, help="keep the number of this life in this file")
    add_jumps(parser)
    _common(parser, "end after, in any case; default 60")
    return parser


def _member(given: Mapping[str, Any]) -> Member:
    same = ("name", "port", "messages", "expected", "seconds", "seed", "journal", "jumps")
    key: Path | None = given["key"]
    return Member(
        **{name: given[name] for name in same},
        peers=_peers(given),
        faults=Faults(**{name: given[name] for name in FAULTS}),
        key=b"" if key is None else _secret(key),
        epoch_file=given["epoch"],
    )


def _peers(given: Mapping[str, Any]) -> dict[str, int]:
    """The ports of the peers. Errors: ValueError where one is this member, or two have one port."""
    peers = types.distinct(given["peer"])
    places = {given["port"]: given["name"]} if given["port"] else {}
    for name, port in peers.items():
        if name == given["name"]:
            raise ValueError(f"--peer {name}={port}: {name} is this member; name another one")
        if port in places:
            found = f"{places[port]} is at port {port}"
            raise ValueError(f"--peer {name}={port}: {found}; each member has its own")
        places[port] = name
    return peers


def _secret(file: Path) -> bytes:
    """The secret in a file. Errors: OSError; ValueError for none, with which nothing is sealed."""
    secret = file.read_bytes()
    if len(secret) < SHORTEST_SECRET:
        expected = f"expected a secret of {SHORTEST_SECRET} bytes or more"
        raise ValueError(f"{file}: {expected}, found {len(secret)}")
    return secret


def _common(parser: argparse.ArgumentParser, seconds: str) -> None:
    for fault in FAULTS:
        parser.add_argument(f"--{fault}", type=types.probability, default=0.0, metavar="P")
    parser.add_argument("--seed", type=int, default=0, help="of the network's faults; default 0")
    parser.add_argument("--seconds", type=types.seconds, default=60.0, help=seconds)
    parser.add_argument("--journal", type=Path, help="write the machines' events into this file")


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
