"""A journal whose file is a device."""

from __future__ import annotations

from pathlib import Path

import pytest

from lawful.runtime.journal import Journal
from tests.runtime.services.test_journal import Sender


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="it is a device of Linux")
def test_a_device_is_written_and_not_read(tmp_path: Path) -> None:
    """To read it would not end: it gives as many zeros as one wants."""
    link = tmp_path / "rows"
    link.symlink_to("/dev/full")
    with (
        Journal(link),  # Another one that writes the device is no reason to refuse it.
        pytest.raises(OSError, match="No space left on device"),
        Journal(link, buffer=0) as journal,
    ):
        journal.attach(Sender(), "a")
