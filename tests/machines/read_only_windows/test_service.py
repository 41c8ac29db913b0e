"""The service over HTTP: what it answers, what it refuses; and as a process."""

from __future__ import annotations

import asyncio
import contextlib
import json
import queue
import threading
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawful.machines.read_only_windows.declaration import WindowFixed
from lawful.machines.read_only_windows.service import (
    Config,
    Kind,
    Options,
    Overloaded,
    Stats,
    WindowedExecutor,
)
from lawful.machines.read_only_windows.service.front import LONGEST_BODY, Front
from lawful.machines.read_only_windows.service.jobs import Answer
from lawful.machines.read_only_windows.service.program import main
from lawful.machines.read_only_windows.service.scripts import ScriptError, Step, parsed
from lawful.machines.read_only_windows.service.settings import CONTRADICTIONS
from lawful.machines.read_only_windows.service.table import GuardedTable, Overlap
from lawful.machines.services.threads import SystemThreads
from lawful.runtime.instance import Machine
from lawful.runtime.timers import SimulatedClock
from tests.root import PATIENCE

CHAIN = "/v1/chain/"
LONG = 600_000  # Milliseconds that nothing here takes, however busy the machine is.
SINGLE = Config(
    max_read_only_transaction_time=LONG, read_only_window_time=2 * LONG, max_write_time=LONG
)
POOL = replace(SINGLE, read_only_transaction_num_threads=2, read_only_transaction_threshold=1)


class Timed(SystemThreads):
    """Real threads, but time passes only while one of them works."""

    def __init__(self) -> None:
        self.clock = SimulatedClock()

    def sleep(self, seconds: float) -> None:
        self.clock.advance(seconds)


@contextlib.contextmanager
def running(config: Config) -> Generator[tuple[WindowedExecutor, SimulatedClock], None, None]:
    """An executor, and the clock that its work advances."""
    threads = Timed()
    options = Options(threads.clock, threads=threads)
    executor = WindowedExecutor(config, GuardedTable(threads), options)
    yield executor, threads.clock
    executor.shutdown()


@pytest.fixture(params=[SINGLE, POOL], ids=["no readers", "two readers"])
def front(request: pytest.FixtureRequest) -> Iterator[Front]:
    with running(request.param) as (executor, _):
        yield Front(executor)


def asked(front: Front, path: str, body: object, method: str = "POST") -> tuple[int, Any]:
    """What the application answers to one request."""
    return asyncio.run(_asked(front, path, body, method))


async def _asked(front: Front, path: str, body: object, method: str) -> tuple[int, Any]:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    sent: list[Any] = []
    messages = iter([{"type": "http.request", "body": raw, "more_body": False}])

    async def receive() -> Any:
        return next(messages)

    async def send(message: Any) -> None:
        sent.append(message)

    scope: dict[str, Any] = {
        "type": "http", "method": method, "path": path, "raw_path": path.encode(),
        "query_string": b"", "headers": [], "root_path": "", "scheme": "http",
    }  # fmt: skip
    await front.app(scope, receive, send)
    return sent[0]["status"], json.loads(sent[1]["body"])


class Slow:
    """In the place of an executor: it answers when it is told to."""

    def submit(self, kind: Kind, script: object, answered: Callable[[Answer], object]) -> None:
        self.answered = answered


def test_an_answer_to_nobody_does_no_harm() -> None:
    """The server ends while a request waits for its answer."""
    slow, errors = Slow(), list[object]()
    front = Front(cast("WindowedExecutor", slow))

    async def ask() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: errors.append(context))
        asking = loop.create_task(_asked(front, CHAIN + "get_table", {"keys": ["n"]}, "POST"))
        while not hasattr(slow, "answered"):
            await asyncio.sleep(0)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        slow.answered(Answer("answered", (1,)))
        await asyncio.sleep(0)

    asyncio.run(ask())
    assert errors == []


def test_reads_and_writes_are_answered(front: Front) -> None:
    write = {"steps": [{"put": ["a", "text"]}, {"add": ["n", 2]}]}
    assert asked(front, CHAIN + "send_transaction2", write) == (200, {"values": [2], "tries": 1})
    block = {"transactions": [[{"add": ["n", 1]}], [{"add": ["n", 1]}]]}
    assert asked(front, CHAIN + "push_block", block) == (200, {"values": [3, 4], "tries": 1})
    read = {"steps": [{"get": "a"}, {"work": 6}, {"get": "n"}, {"get": "b"}]}
    values = {"values": ["text", 4, None], "tries": 1}
    assert asked(front, CHAIN + "send_read_only_transaction", read) == (200, values)
    assert asked(front, CHAIN + "get_table", {"keys": ["n"]}) == (200, {"values": [4], "tries": 1})
    failing = {"steps": [{"add": ["n", 1]}, {"fail": "why"}]}
    failed = {"error": "failed: why", "outcome": "failed"}
    assert asked(front, CHAIN + "send_transaction2", failing) == (422, failed)
    assert asked(front, CHAIN + "get_table", {"keys": ["n"]})[1]["values"] == [4]
    status, info = asked(front, CHAIN + "get_info", b"", "GET")
    assert (status, info["queued"], info["executing"]) == (200, 0, 0)
    assert info["http"] == {"200": 5, "422": 1}


def test_what_takes_too_long_is_given_up() -> None:
    """Between two slices, and its changes are not made."""
    late = {"error": "took too long", "outcome": "invalid"}
    long = {"steps": [{"add": ["n", 1]}, {"work": 60_000}]}
    with running(Config(max_write_time=148)) as (executor, clock):
        assert asked(Front(executor), CHAIN + "send_transaction2", long) == (504, late)
        assert clock.now() == pytest.approx(0.150)
        assert executor.call(Kind.GET, (Step("get", "n"),)).values == (None,)


REFUSED: tuple[tuple[str, Any, int, str], ...] = (
    ("send_transaction2", b"{", 400, "the body is no JSON"),
    ("send_transaction2", b"\xff", 400, "the body is no JSON"),
    ("send_transaction2", b"[" * 60_000, 400, "the body is no JSON"),
    ("send_transaction2", [], 400, "expected an object with the field steps, found 'list'"),
    ("send_transaction2", {"steps": 7}, 400, "steps: expected an array, found 7"),
    ("send_transaction2", {"steps": [{"add": ["n", 1.5]}]}, 400, "steps[0].add: expected a whole"),
    ("send_transaction2", {"steps": [{"put": "n"}]}, 400, "steps[0].put: expected [key, value]"),
    ("send_transaction2", {"steps": [{"sub": 1}]}, 400, "steps[0]: expected an object with one"),
    ("send_transaction2", {"steps": [{"get": ""}]}, 400, "steps[0].get: a key is not empty"),
    ("send_read_only_transaction", {"steps": [{"put": ["n", 1]}]}, 400, "steps[0].put: a read-"),
    ("push_block", {"transactions": [[1]]}, 400, "transactions[0].steps[0]: expected an object"),
    ("get_table", {"keys": [1]}, 400, "keys[0]: expected a printable text"),
    ("send_transaction2", bytes(LONGEST_BODY + 1), 413, "a body has at most 64000 bytes"),
    ("nothing", {}, 404, "Not Found"),
    ("get_info", {}, 405, "Method Not Allowed"),
)


def test_what_is_malformed_is_refused_and_counted(front: Front) -> None:
    for path, body, status, text in REFUSED:
        found = asked(front, CHAIN + path, body)
        assert found[0] == status
        assert found[1]["error"].startswith(text)
    reasons = {"malformed": 12, "oversized": 1, "unknown": 2}
    assert front.counts == {**reasons, "400": 12, "404": 1, "405": 1, "413": 1}
    write = {"steps": [{"add": ["n", 2]}]}
    assert asked(front, CHAIN + "send_transaction2", write) == (200, {"values": [2], "tries": 1})


FEW = settings.default.max_examples // 2 if settings.default else 15
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
NAMES = st.sampled_from(["get", "put", "add", "fail", "work"])
STEPS = st.lists(JSON | st.dictionaries(NAMES, JSON | st.lists(st.text() | st.integers())))


@given(st.one_of(st.binary(), JSON, st.fixed_dictionaries({"steps": STEPS})))
@settings(max_examples=FEW)
def test_no_body_does_any_harm(body: object) -> None:
    with running(SINGLE) as (executor, _):
        status, content = asked(Front(executor), CHAIN + "send_transaction2", body)
        assert status in (200, 400, 413, 422)
        assert ("values" in content) == (status == 200)
        assert executor.call(Kind.WRITE, ()) == Answer("answered", (), "", 1)
    assert executor.stats().counts.get("raised") is None


@given(STEPS)
@settings(max_examples=FEW)
def test_steps_are_read_or_refused(data: list[object]) -> None:
    try:
        script = parsed(data, writes=True)
    except ScriptError as error:
        assert str(error).startswith("steps")
    else:
        assert len(script) == len(data)


# The executor.


def test_too_many_are_refused_and_a_shutdown_answers_all() -> None:
    got: list[Answer] = []
    with running(Config(read_only_transaction_num_threads=1, most_waiting=2)) as (executor, _):
        for _ in range(2):
            executor.submit(Kind.READ, (Step("get", "a"),), got.append)
        with pytest.raises(Overloaded, match="2 requests of this kind wait"):
            executor.submit(Kind.READ, (Step("get", "a"),), got.append)
        executor.shutdown()
        executor.shutdown()
        assert executor.call(Kind.WRITE, ()).outcome == "abandoned"
    assert got == [Answer("abandoned", (), "the node shuts down", 0)] * 2
    assert executor.stats() == Stats(
        window="the node has shut down",
        queued=0,
        executing=0,
        held=0,
        counts={"read_only_transaction": 2, "write": 1, "overloaded": 1, "abandoned": 3},
    )


def test_the_guard_fails_hard_and_for_good() -> None:
    table = GuardedTable(SystemThreads())
    with table.reading() as view:
        with pytest.raises(Overlap, match="1 writers and 1 readers"), table.writing():
            pass
        with pytest.raises(Overlap, match="a read-only transaction changes 'a'"):
            view.put("a", 1)
    with pytest.raises(Overlap, match="1 writers and 1 readers"), table.reading():
        pass


class Filling:
    """A journal on a disk that is full after so many rows."""

    def __init__(self, rows: int) -> None:
        self.rows = rows

    def attach(self, entry: Machine, instance: str, *, refused: bool = True) -> Callable[[], None]:
        return entry.lawful.observe(self._row)

    def _row(self, _: object) -> None:
        self.rows -= 1
        if self.rows < 0:
            raise OSError("no space left")


@pytest.mark.parametrize("rows", range(16))
def test_a_journal_that_fails_ends_the_executor_and_answers_all(rows: int) -> None:
    """Whatever step it fails in; what was answered before it is right."""
    threads, told, failed = Timed(), queue.Queue[Answer](), queue.Queue[BaseException]()
    journal = Filling(rows)
    options = Options(threads.clock, journal, threads, failed.put)
    executor = WindowedExecutor(POOL, GuardedTable(threads), options)
    accepted = 0
    for number in range(8):
        kind = Kind.READ if number % 2 else Kind.WRITE
        steps = parsed([{"get": "n"}] if number % 2 else [{"add": ["n", 1]}], True)
        with contextlib.suppress(OSError):
            executor.submit(kind, steps, told.put)
            accepted += 1
    assert executor.wait(PATIENCE)
    executor.shutdown()
    assert executor.broken == "OSError: no space left"
    assert str(failed.get(timeout=PATIENCE)) == "no space left"
    assert failed.empty()
    answers = [told.get(timeout=PATIENCE) for _ in range(accepted)]
    assert told.empty()
    assert {each.outcome for each in answers} <= {"answered", "failed", "abandoned"}
    texts = {each.error for each in answers if each.outcome == "failed"}
    assert texts <= {"the node is broken: OSError: no space left"}
    late: list[Answer] = []
    executor.submit(Kind.GET, (), late.append)
    assert late == [Answer("abandoned", error="the node shuts down")]


def test_the_state_outlives_the_node(tmp_path: Path) -> None:
    for values in ((1,), (2,), (3,)):
        table = GuardedTable(SystemThreads(), tmp_path / "s.db")
        executor = WindowedExecutor(SINGLE, table)
        answer = executor.call(Kind.WRITE, (Step("add", "n", number=1),))
        executor.shutdown()
        table.close()
        assert answer == Answer("answered", values, "", 1)


def test_a_file_is_of_one_node_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "s.db"
    table = GuardedTable(SystemThreads(), path)
    with table.writing() as view:
        view.put("n", 1)
    assert main(["serve", "--file", str(path)]) == 5
    said = capsys.readouterr().out
    assert said == f"lawful run read_only_windows: {path}: database is locked\n"
    table.close()
    again = GuardedTable(SystemThreads(), path)
    with again.reading() as view:
        assert view.get("n") == 1
    again.close()


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (
            ["--read-only-window-time", "60"],
            "read_only_window_time, 60, has to be more than"
            " max_read_only_transaction_time, 150, + latency, 10\n",
        ),
        (
            ["--read-only-window-margin", "190"],
            "read_only_window_margin, 190, + latency, 10, has to be less than"
            " read_only_window_time, 200\n",
        ),
        (["--read-write-window-time", "0"], "read_write_window_time, 0, has to be more than 0\n"),
        (["--read-only-transaction-num-threads", "-1"], "is a whole number in 0..128, not -1"),
    ],
)
def test_limits_are_refused_at_the_start(
    words: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", *words]) == 5
    assert text in capsys.readouterr().out


def test_each_assumption_of_the_window_is_told_by_options() -> None:
    assert set(CONTRADICTIONS) == set(WindowFixed.__plan__.assumed)


def test_a_file_that_cannot_be_opened_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", "--file", str(tmp_path)]) == 5
    said = capsys.readouterr().out
    assert said == f"lawful run read_only_windows: {tmp_path}: unable to open database file\n"


def test_a_node_as_a_process(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    journal = tmp_path / "events.jsonl"
    assert main(["demo", "--seconds", "0.3", "--journal", str(journal)]) == 0
    assert "promises broken: 0" in capfd.readouterr().out
    assert journal.stat().st_size > 0


def test_many_threads_submit() -> None:
    executor = WindowedExecutor(POOL, GuardedTable(SystemThreads()))
    got: list[Answer] = []
    done = threading.Event()

    def answered(answer: Answer) -> None:
        got.append(answer)
        if len(got) == 80:
            done.set()

    def submits() -> None:
        for _ in range(10):
            executor.submit(Kind.READ, (Step("get", "n"),), answered)
            executor.submit(Kind.WRITE, (Step("add", "n", number=1),), answered)

    threads = [threading.Thread(target=submits) for _ in range(4)]
    for thread in threads:
        thread.start()
    assert done.wait(PATIENCE)
    executor.shutdown()
    assert {answer.outcome for answer in got} == {"answered"}
    assert executor.broken == ""
