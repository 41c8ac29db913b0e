"""The executor over HTTP: an ASGI application of Starlette. It needs the extra `serve`.

    GET  /v1/chain/get_info
    POST /v1/chain/get_table                    {"keys": ["a"]}
    POST /v1/chain/send_read_only_transaction   {"steps": [{"get": "a"}, {"work": 20}]}
    POST /v1/chain/send_transaction2            {"steps": [{"add": ["a", 1]}]}
    POST /v1/chain/push_block                   {"transactions": [[{"put": ["a", "text"]}]]}

Every answer is a JSON object. 200: `values`, `tries`. Otherwise `error`: 400 for a body that is
malformed, 404 and 405 for a path or method that is not there, 408 for a body that does not come,
413 for one that is too long, 422 for a transaction that has failed, 503 while overloaded or
shutting down, 504 for a transaction that took too long.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from lawful.spec.codec.as_json import is_list, is_object

from .executor import WindowedExecutor
from .jobs import Answer, Kind, Overloaded
from .scripts import MOST_STEPS, Script, ScriptError, keys_of, parsed

LONGEST_BODY = 64_000  # Bytes.
PATIENCE = 10.0  # Seconds until a body has come.
STATUS = {"answered": 200, "failed": 422, "invalid": 504, "abandoned": 503}


class Front:
    """The application `app`; `counts`: answers by status, and each refusal by its reason."""

    def __init__(self, executor: WindowedExecutor) -> None:
        self.counts: Counter[str] = Counter()
        self._executor = executor
        chain = "/v1/chain"
        self.app = Starlette(
            routes=[
                Route(f"{chain}/get_info", self._info, methods=["GET"]),
                Route(f"{chain}/get_table", self._table, methods=["POST"]),
                Route(f"{chain}/send_read_only_transaction", self._read, methods=["POST"]),
                Route(f"{chain}/send_transaction2", self._write, methods=["POST"]),
                Route(f"{chain}/push_block", self._block, methods=["POST"]),
            ],
            exception_handlers={HTTPException: self._refused},
        )

    async def _info(self, request: Request) -> JSONResponse:
        stats = self._executor.stats()
        content = {
            "window": stats.window,
            "queued": stats.queued,
            "executing": stats.executing,
            "held": stats.held,
            "counts": dict(stats.counts),
            "http": dict(self.counts),
        }
        return self._said(200, content)

    async def _table(self, request: Request) -> JSONResponse:
        keys = await self._field(request, "keys")
        return await self._asked(Kind.GET, self._script(keys_of, keys))

    async def _read(self, request: Request) -> JSONResponse:
        steps = await self._field(request, "steps")
        return await self._asked(Kind.READ, self._script(lambda data: parsed(data, False), steps))

    async def _write(self, request: Request) -> JSONResponse:
        steps = await self._field(request, "steps")
        return await self._asked(Kind.WRITE, self._script(lambda data: parsed(data, True), steps))

    async def _block(self, request: Request) -> JSONResponse:
        """All transactions of a block are one write."""
        block = await self._field(request, "transactions")
        return await self._asked(Kind.WRITE, self._script(_of_block, block))

    def _script(self, read: Callable[[Any], Script], data: Any) -> Script:
        try:
            return read(data)
        except ScriptError as error:
            raise self._wrong(400, "malformed", str(error)) from error

    async def _field(self, request: Request, name: str) -> Any:
        """The one field of the body. Errors: HTTPException."""
        body = await self._body(request)
        try:
            data = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise self._wrong(400, "malformed", f"the body is no JSON: {error}") from error
        if not is_object(data) or set(data) != {name}:
            found = sorted(data) if is_object(data) else type(data).__name__
            text = f"expected an object with the field {name}, found {ascii(found)[:200]}"
            raise self._wrong(400, "malformed", text)
        return data[name]

    async def _body(self, request: Request) -> bytes:
        body = bytearray()
        try:
            async with asyncio.timeout(PATIENCE):
                async for piece in request.stream():
                    body += piece
                    if len(body) > LONGEST_BODY:
                        text = f"a body has at most {LONGEST_BODY} bytes"
                        raise self._wrong(413, "oversized", text)
        except TimeoutError as error:
            raise self._wrong(408, "slow", f"no body within {PATIENCE} seconds") from error
        except ClientDisconnect as error:
            raise self._wrong(400, "gone", "the client has gone") from error
        return bytes(body)

    async def _asked(self, kind: Kind, script: Script) -> JSONResponse:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Answer] = loop.create_future()

        def tell(answer: Answer) -> None:
            if not future.done():
                future.set_result(answer)

        try:
            self._executor.submit(
                kind, script, lambda answer: loop.call_soon_threadsafe(tell, answer)
            )
        except Overloaded as error:
            raise self._wrong(503, "overloaded", str(error)) from error
        answer = await future
        if answer.outcome == "answered":
            return self._said(200, {"values": list(answer.values), "tries": answer.tries})
        return self._said(
            STATUS[answer.outcome], {"error": answer.error, "outcome": answer.outcome}
        )

    def _wrong(self, status: int, reason: str, text: str) -> HTTPException:
        self.counts[reason] += 1
        return HTTPException(status, text)

    async def refuse(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request on a connection beyond those that the server keeps."""
        self.counts["overloaded"] += 1
        answer = self._said(503, {"error": "too many connections"})
        answer.headers["connection"] = "close"
        await answer(scope, receive, send)

    async def _refused(self, request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        if error.status_code in (404, 405):
            self.counts["unknown"] += 1
        return self._said(error.status_code, {"error": error.detail})

    def _said(self, status: int, content: dict[str, Any]) -> JSONResponse:
        self.counts[str(status)] += 1
        return JSONResponse(content, status)


def _of_block(data: Any) -> Script:
    if not is_list(data) or len(data) > MOST_STEPS:
        raise ScriptError(f"transactions: expected an array of at most {MOST_STEPS}")
    parts: list[Script] = []
    for number, each in enumerate(data):
        try:
            parts.append(parsed(each, True))
        except ScriptError as error:
            raise ScriptError(f"transactions[{number}].{error}") from error
    return tuple(step for part in parts for step in part)
