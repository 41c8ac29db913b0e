"""A broker whose journal fails ends at once, with the journal's error, and others go on."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

import pytest

from lawful.machines.queue_cluster.service import program
from lawful.machines.queue_cluster.service.broker import Broker
from lawful.machines.queue_cluster.service.bus import Bus
from lawful.machines.queue_cluster.service.client import Client
from lawful.runtime.journal import Journal
from tests.root import PATIENCE


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="it is a device of Linux")
def test_a_broker_whose_disk_is_full_ends_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "rows"
    path.symlink_to("/dev/full")
    monkeypatch.setattr(program, "Journal", partial(Journal, buffer=0))
    bus = Bus()

    async def run() -> None:
        at = await bus.open()
        other = Broker("B", at)
        port = await other.open()
        await other.serving()
        async with asyncio.timeout(PATIENCE):
            with pytest.raises(OSError, match="No space left on device"):
                await program.COMMANDS["broker"](
                    name="A", bus=at, port=0, slice_seconds=0.05, journal=path, jumps=None
                )
        client = await Client.connect(port)
        await client.declare("q")
        await client.send("q", b"one")
        client.close()
        other.close()
        bus.close()

    asyncio.run(run())
    assert capsys.readouterr().out.startswith("A listens on 127.0.0.1 port ")
