"""The server of the explorer: on the loopback address, for one reader, by the standard library.

A page of another site cannot read from it: the address has a random token, the header `Host` must
name this server (DNS rebinding), requests that the browser marks as another site's are refused, and
no header admits other origins.
"""

from __future__ import annotations

import hmac
import json
import secrets
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

from lawful.spec.ir import Json

from ..explore.limits import OutOfBudget
from .walked_path import NoPath, Path

LOOPBACK = "127.0.0.1"
MOST_EVENTS = 1000  # Of one random walk.
HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


class Question(NamedTuple):
    """What a request asks about: a path, and of a random walk its seed and number of events."""

    path: Path
    seed: int = 0
    events: int = 0


class Answers(NamedTuple):
    """What the server tells: its page, and JSON for a question by its name."""

    page: str
    questions: dict[str, Callable[[Question], Json]]


class ExplorerServer(ThreadingHTTPServer):
    """Answers one question at a time; `url` is the address with its token."""

    daemon_threads = True

    def __init__(self, answers: Answers, port: int = 0) -> None:
        """OSError where the port is taken."""
        super().__init__((LOOPBACK, port), _Handler)
        self.answers = answers
        self.token = secrets.token_urlsafe(24)
        self.one = threading.Lock()

    @property
    def port(self) -> int:
        """The port of the server, also where any was asked for."""
        return int(self.server_address[1])

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"http://{LOOPBACK}:{self.port}/{self.token}/"


class _Handler(BaseHTTPRequestHandler):
    @property
    def explorer(self) -> ExplorerServer:
        """The server that received the request."""
        assert isinstance(self.server, ExplorerServer)
        return self.server

    def do_GET(self) -> None:
        """The page, or the answer to a question."""
        hosts = (f"{LOOPBACK}:{self.explorer.port}", f"localhost:{self.explorer.port}")
        if self.headers.get("Host") not in hosts:
            self._send(403, "text/plain", "this Host is not served")
            return
        if self.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
            self._send(403, "text/plain", "requests of other sites are refused")
            return
        asked = urlsplit(self.path)
        token, _, name = asked.path.lstrip("/").partition("/")
        if not hmac.compare_digest(token.encode(), self.explorer.token.encode()):
            self._send(404, "text/plain", "there is no such page")
        elif not name:
            self._send(200, "text/html; charset=utf-8", self.explorer.answers.page)
        elif name in self.explorer.answers.questions:
            self._answer(name, {key: given[0] for key, given in parse_qs(asked.query).items()})
        else:
            self._send(404, "text/plain", "there is no such page")

    def _answer(self, name: str, given: Mapping[str, str]) -> None:
        try:
            question = read_question(given)
            with self.explorer.one:
                told = self.explorer.answers.questions[name](question)
        except NoPath as error:
            self._send(400, "application/json", json.dumps({"error": str(error)}))
        except OutOfBudget:
            said = "the states of this path take too long to compute"
            self._send(503, "application/json", json.dumps({"error": said}))
        else:
            self._send(200, "application/json", json.dumps(told))

    def _send(self, code: int, kind: str, text: str) -> None:
        content = text.encode()
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Requests are not printed: the address has the token."""


def read_question(given: Mapping[str, str]) -> Question:
    """The question of a request with these parameters. Raises NoPath where one is not a number."""
    seed, events = (given.get(name, "0") for name in ("seed", "events"))
    for name, text in (("seed", seed), ("number of events", events)):
        if not (text.isascii() and text.isdigit() and len(text) < 10):
            raise NoPath(f"the {name} {text[:40]!r} is not a number below 1,000,000,000")
    if int(events) > MOST_EVENTS:
        raise NoPath(f"a random walk has at most {MOST_EVENTS:,} events, not {int(events):,}")
    return Question(read_path(given.get("path", "")), int(seed), int(events))


def read_path(text: str) -> Path:
    """The path that stands in an address: numbers with points between. Raises NoPath."""
    parts = text.split(".") if text else []
    if len(parts) > 10_000 or not all(p.isascii() and p.isdigit() and len(p) < 10 for p in parts):
        raise NoPath(f"the path {text[:40]!r} is not numbers with points between them")
    return tuple(map(int, parts))
