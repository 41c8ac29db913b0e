"""Chromium without a window, spoken to over its two pipes (Chrome DevTools Protocol)."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.root import unconfined

# Waits until the page has nothing under way: its script sets `busy` while it asks its server.
SETTLED = (
    "new Promise((done) => { const look = () => busy ? setTimeout(look, 5) : done(true); look(); })"
)


def _pipe() -> tuple[int, int]:
    """A pipe of which neither end is 3 or 4: these are the numbers that the browser's ends get."""
    ends = os.pipe()
    high = fcntl.fcntl(ends[0], fcntl.F_DUPFD, 10), fcntl.fcntl(ends[1], fcntl.F_DUPFD, 10)
    for end in ends:
        os.close(end)
    return high


class Browser:
    """One page in a Chromium of its own; its expressions are JavaScript."""

    def __init__(self, program: str, profile: Path) -> None:
        self._number = 0
        read, self._to = _pipe()
        self._from, write = _pipe()
        shell = f'exec "$0" "$@" 3<&{read} 4>&{write} {read}<&- {write}>&-'
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe"]
        self._process = subprocess.Popen(
            unconfined(["bash", "-c", shell, program, *options, f"--user-data-dir={profile}"]),
            pass_fds=(read, write),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(read)
        os.close(write)
        self._answers = os.fdopen(self._from, "rb")
        self._rest = b""
        self._session = ""
        self._events: list[str | None] = []

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ask("Browser.close")
        os.close(self._to)
        self._answers.close()
        self._process.wait(timeout=60)

    def open(self, address: str) -> None:
        """Show an address in a new page, and wait until it is drawn."""
        self._session = ""
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        found = self._ask("Target.attachToTarget", targetId=target, flatten=True)
        self._session = found["sessionId"]
        self._ask("Page.enable")
        self._ask("Page.navigate", url=address)
        self._until("Page.loadEventFired")
        self.run(SETTLED)

    def run(self, expression: str) -> Any:
        """The value of an expression, or what its promise gives. AssertionError if it throws."""
        told = self._ask(
            "Runtime.evaluate",
            expression=expression,
            awaitPromise=True,
            returnByValue=True,
        )
        assert "exceptionDetails" not in told, told["exceptionDetails"]
        return told["result"].get("value")

    def click(self, text: str) -> None:
        """Click the first button that begins with the text, and wait until that is done."""
        found = "[...document.querySelectorAll('button')].find((b) => b.textContent.startsWith"
        self.run(f"{found}({json.dumps(text)})).click()")
        self.run(SETTLED)

    def text(self) -> str:
        """What one reads on the page."""
        return str(self.run("document.body.innerText"))

    def fragment(self) -> str:
        """What stands behind the `#` of the address."""
        return str(self.run("location.hash.slice(1)"))

    def _ask(self, method: str, **given: object) -> Any:
        self._number += 1
        message: dict[str, object] = {"id": self._number, "method": method, "params": given}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            told = self._read()
            if told.get("id") == self._number:
                assert "error" not in told, told["error"]
                return told["result"]
            self._events.append(told.get("method"))

    def _until(self, event: str) -> None:
        while event not in self._events:
            self._events.append(self._read().get("method"))
        self._events.clear()

    def _read(self) -> Any:
        while b"\0" not in self._rest:
            more = os.read(self._from, 65536)
            assert more, "the browser has ended"
            self._rest += more
        whole, _, self._rest = self._rest.partition(b"\0")
        return json.loads(whole)
