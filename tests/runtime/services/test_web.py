"""The example of the page with FastAPI, where that is installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lawful import Machine, Nat, require, transition
from lawful.spec.values.json_schema import DIALECT

PAGE = Path(__file__).parents[3] / "docs" / "runtime.md"


class Sender(Machine):
    sent: Nat = 0
    acked: Nat = 0

    @transition()
    def send(self) -> Nat:
        self.sent += 1
        return self.sent

    @transition()
    def ack(self, upto: Nat) -> None:
        require(upto <= self.sent, "acknowledges what was never sent")
        self.acked = max(self.acked, upto)


def test_the_example_of_the_page() -> None:
    client: Any = pytest.importorskip("fastapi.testclient")
    sender = Sender()
    names: dict[str, Any] = {"Sender": Sender, "sender": sender}
    (text,) = PAGE.read_text(encoding="utf-8").split("```py\n")[1:]
    exec(text.partition("```")[0], names)
    http = client.TestClient(names["app"])

    def post(event: str, **sent: Any) -> tuple[int, Any]:
        answer = http.post(f"/sender/{event}", **sent)
        return answer.status_code, answer.json()

    assert post("send", json={}) == (200, 1)
    assert post("ack", json={"upto": 1}) == (200, None)
    why = "ack: acknowledges what was never sent (2 <= 1 is false)"
    assert post("ack", json={"upto": 2}) == (409, {"detail": why})
    status, body = post("ack", json={"upto": "2"})
    assert (status, body["detail"]) == (422, 'ack: upto: expected a Nat, found "2"')
    assert post("ack", content="{")[0] == 422
    assert (sender.sent, sender.acked) == (1, 1)
    paths = http.get("/openapi.json").json()["paths"]
    content = paths["/sender/ack"]["post"]["requestBody"]["content"]
    assert content["application/json"]["schema"] == Sender.lawful.schema()["ack"]["arguments"]
    answers = paths["/sender/send"]["post"]["responses"]["200"]["content"]
    assert answers["application/json"]["schema"]["$schema"] == DIALECT
