"""The explorer: its page in a browser, what its server refuses, and what a view tells."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from lawful.checks.explorer.explorer_page import page
from lawful.checks.explorer.explorer_server import Answers, ExplorerServer, Question
from lawful.checks.explorer.walked_path import NoPath, WalkedPath
from lawful.cli import main
from lawful.commands.explore import answers
from lawful.commands.options import ExploreOptions
from lawful.targets import machine, scoped
from tests.root import unconfined

from .browser import Browser

TURN = """
from lawful import Machine, Nat, Scope, State, invariant, reachable, require, terminal, transition

class Door(State):
    OPEN = "open"
    SHUT = "shut"

class Turn(Machine):
    state: Door = Door.OPEN
    n: Nat = 0

    @transition(source=Door.OPEN, target=Door.SHUT)
    def shut(self) -> None:
        require(self.n < 3, "<img src=x onerror=alert(1)></script>")
        self.n += 1

    @transition(source=Door.SHUT, target=Door.OPEN)
    def open(self, by: bool) -> None:
        pass

    @invariant
    def below_two(self) -> bool:
        return self.n < 2

    @terminal
    def over(self) -> bool:
        return self.n == 4

    @reachable
    def two(self) -> bool:
        return self.n == 2

    deadlock_ok = True
    scope = Scope(Nat=range(0, 5))
"""


@pytest.fixture
def target(tmp_path: Path) -> str:
    path = tmp_path / "turn_explored.py"
    path.write_text(TURN, encoding="utf-8")
    return str(path)


@pytest.fixture
def server(target: str) -> Iterator[ExplorerServer]:
    found = scoped(machine(target), ())
    made = ExplorerServer(answers(found, ExploreOptions(target, (), None, 0, 30.0)))
    thread = threading.Thread(target=made.serve_forever, args=(0.01,))
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


def got(server: ExplorerServer, path: str, **headers: str) -> tuple[int, str]:
    connection = HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("GET", path, headers={k.replace("_", "-"): v for k, v in headers.items()})
    answer = connection.getresponse()
    assert answer.getheader("Access-Control-Allow-Origin") is None
    return answer.status, answer.read().decode()


def test_a_view_tells_what_is_enabled_refused_and_false(target: str) -> None:
    found = scoped(machine(target), ())
    walked = WalkedPath(found.flat, found.world)
    view: Any = walked.view((0, 0, 1, 0))
    assert view["state"] == {"state": "SHUT", "n": 2}
    assert [step["transition"] for step in view["steps"]] == ["shut", "open", "shut"]
    assert [(row["index"], row["transition"], row["args"]) for row in view["enabled"]] == [
        (0, "open", {"by": False}),
        (1, "open", {"by": True}),
    ]
    assert [row["transition"] for row in view["refused"]] == ["shut"]
    assert view["refused"][0]["because"] == [
        {"clause": "state is SHUT, not OPEN", "args": {}},
    ]
    assert {row["name"]: row["now"] for row in view["properties"]} == {
        "deadlock": "holds here",
        "below_two": "fails",
        "over": "not here",
        "two": "reached",
    }
    with pytest.raises(NoPath, match="number 2 of the path, 7: there is no such event"):
        walked.view((0, 7))


def test_the_server_answers_only_its_own_page(server: ExplorerServer) -> None:
    page = f"/{server.token}/"
    assert server.server_address[0] == "127.0.0.1"
    assert got(server, page)[0] == 200
    assert got(server, f"{page}view?path=0.0")[0] == 200
    assert got(server, "/")[0] == 404
    assert got(server, f"/{server.token[:-1]}/")[0] == 404
    assert got(server, page, Host="evil.example")[0] == 403
    assert got(server, page, Host=f"evil.example:{server.port}")[0] == 403
    assert got(server, page, Sec_Fetch_Site="cross-site")[0] == 403
    assert got(server, f"{page}view?path=0.x") == (
        400,
        json.dumps({"error": "the path '0.x' is not numbers with points between them"}),
    )


def test_the_check_leads_to_its_counterexample(server: ExplorerServer) -> None:
    told = json.loads(got(server, f"/{server.token}/check")[1])
    rows = {row["name"]: (row["verdict"], row["path"]) for row in told["properties"]}
    assert rows["below_two"] == ("violated", [0, 0, 0, 0])
    assert told["transitions"] == {
        "shut": {"enabled": 3, "new": 3},
        "open": {"enabled": 6, "new": 3},
    }


def test_one_step_that_the_scope_cuts_is_one_step(target: str) -> None:
    found = scoped(machine(target), ["Nat=0..2"])
    asked = answers(found, ExploreOptions(target, ["Nat=0..2"], None, 0, 30.0)).questions
    told: Any = asked["check"](Question(()))
    assert told["summary"] == (
        "every state within the scope; 5 states, 8 generated, depth 5, 1 step cut by the scope"
    )


def test_exports_are_of_the_path(server: ExplorerServer) -> None:
    page = f"/{server.token}/"
    made = json.loads(got(server, f"{page}test?path=0.0.0.0")[1])
    assert made["name"] == "test_below_two.py"
    assert "`lawful explore " in made["text"]
    compile(made["text"], made["name"], "exec")
    code, said = got(server, f"{page}test?path=0.0")
    assert (code, "no property fails" in said) == (400, True)
    drawn = json.loads(got(server, f"{page}sequence?path=0.0")[1])
    assert drawn["text"].startswith("sequenceDiagram\n")
    assert "1. shut()" in drawn["text"]


def test_equal_seeds_walk_equally(server: ExplorerServer, target: str) -> None:
    page = f"/{server.token}/"
    ways = [
        json.loads(got(server, f"{page}walk?path=0&events=6&seed={n % 9}")[1]) for n in range(18)
    ]
    assert ways[:9] == ways[9:]
    # From the start: two events by turns, and each second one has two arguments.
    assert all(len(way["path"]) == 7 and way["path"][:2] == [0, 0] for way in ways)
    assert len({tuple(way["path"]) for way in ways}) > 4
    # Where nothing leads on, the walk is shorter.
    end = json.loads(got(server, f"{page}walk?path=0.0.0.0.0.0&events=6&seed=1")[1])
    assert len(end["path"]) == 7
    found = scoped(machine(target), ())
    assert WalkedPath(found.flat, found.world).random_walk((0,), 8, 6) == tuple(ways[8]["path"])


def test_a_walk_has_a_seed_and_few_events(server: ExplorerServer) -> None:
    page = f"/{server.token}/walk?path=0"
    assert got(server, f"{page}&events=2&seed=-1") == (
        400,
        json.dumps({"error": "the seed '-1' is not a number below 1,000,000,000"}),
    )
    assert got(server, f"{page}&events=1001&seed=1") == (
        400,
        json.dumps({"error": "a random walk has at most 1,000 events, not 1,001"}),
    )


def test_what_a_declaration_says_cannot_end_the_script() -> None:
    text = page("T", "", {"machine": "</script><img src=x>"}, live=False)
    inside = text.partition('id="data">')[2].partition("</script>")[0]
    assert "<" not in inside
    assert json.loads(inside) == {"machine": "</script><img src=x>"}


def in_browser(address: str, folder: Path) -> str:
    """The page's text after its script has run."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is not installed")
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}"]
    command = [chromium, *options, "--virtual-time-budget=4000", "--dump-dom", address]
    done = subprocess.run(
        unconfined(command), capture_output=True, text=True, check=True, timeout=120
    )
    return re.sub(r"<script[^>]*>.*?</script>", "", done.stdout, flags=re.DOTALL)


def test_the_file_shows_its_counterexample_in_a_browser(
    target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "turn.html"
    assert main(["explore", target, "--html", str(file)]) == 0
    assert capsys.readouterr().out == f"{file}\n"
    text = file.read_text(encoding="utf-8")
    assert "<img src=x" not in text
    assert not re.search(r"""(src|href)=["']?(https?:|//)""", text)
    shown = in_browser(f"{file.as_uri()}#0.0.0.0", tmp_path / "profile")
    assert "<td>below_two</td>" in shown
    assert "n = 2" in shown
    assert shown.count('class="node lit"') == 1
    assert "<img" not in shown


def test_the_file_exports_its_counterexamples(target: str, tmp_path: Path) -> None:
    file = tmp_path / "turn.html"
    assert main(["explore", target, "--html", str(file)]) == 0
    inside = file.read_text(encoding="utf-8").partition('id="data">')[2].partition("</script>")[0]
    data = json.loads(inside)
    rows = {row["name"]: (row["path"], row["loop"]) for row in data["checked"]["properties"]}
    assert rows["below_two"] == ([0, 0, 0, 0], None)
    assert rows["two"] == ([0, 0, 0, 0], None)
    assert sorted(data["views"]) == ["", "0", "0.0", "0.0.0", "0.0.0.0"]
    (path,) = data["exports"]
    assert path == "0.0.0.0"
    assert {kind: made["name"] for kind, made in data["exports"][path].items()} == {
        "test": "test_below_two.py",
        "sequence": "Turn.mmd",
    }


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is not installed")
    with Browser(chromium, tmp_path / "profile") as made:
        yield made


@pytest.mark.nightly
def test_the_live_page_is_walked_in_a_browser(server: ExplorerServer, browser: Browser) -> None:
    browser.open(f"{server.url}#0.0.0.0")
    assert "state is SHUT, not OPEN" in browser.text()
    assert browser.run("document.querySelectorAll('g.lit').length") == 1
    browser.click("back")
    assert browser.fragment() == "0.0.0"
    browser.click("shut()")
    assert browser.fragment() == "0.0.0.0"
    browser.click("restart")
    assert browser.fragment() == "0"  # There is one start.
    browser.run("document.querySelector('input').value = 7")
    browser.run("document.querySelector('input').dispatchEvent(new Event('change'))")
    browser.click("random walk (10 events)")
    walked = browser.fragment()
    count = 6  # `shut` is refused the fourth time.
    assert len(walked.partition("&")[0].split(".")) == count + 1
    assert walked.endswith(f"&seed=7&events={count}")
    said = f"Random walk with seed 7: events 1 to {count}."
    assert said in browser.text()
    # The same address in a new page shows the same walk; so does the same seed again.
    browser.open(f"{server.url}#{walked}")
    assert said in browser.text()
    browser.click("again")
    assert browser.fragment() == walked
    browser.click("0. start")
    assert browser.fragment() == "0"
    assert "Random walk" not in browser.text()
    browser.click("check the whole scope")
    browser.click("go to it")
    assert browser.fragment() == "0.0.0.0"
    # An address that leads nowhere says so, and shows the start.
    for wrong, said in (
        ("0.99.5", "number 2 of the path, 99: there is no such event"),
        ("a.b", "the address ends with a.b, which is no path of numbers with points between them"),
    ):
        browser.open(f"{server.url}#{wrong}")
        assert browser.fragment() == "0"
        assert said in browser.text()
        assert "state is OPEN, not SHUT (by=False)" in browser.text()


@pytest.mark.nightly
def test_many_properties_that_hold_are_folded(browser: Browser, tmp_path: Path) -> None:
    path, file = tmp_path / "many_explored.py", tmp_path / "many.html"
    more = [
        f"    @invariant\n    def p{n}(self) -> bool:\n        return self.n < 9\n"
        for n in range(8)
    ]
    path.write_text(TURN.replace("    deadlock_ok", "\n".join([*more, "    deadlock_ok"])))
    assert main(["explore", str(path), "--html", str(file), "--quiet"]) == 0
    browser.open(file.as_uri())
    assert browser.fragment() == "0"
    rows = "[...document.querySelectorAll('{} tr')].map((r) => r.firstChild.textContent)"
    holding = ["deadlock", "below_two", *(f"p{n}" for n in range(8))]
    assert browser.run(rows.format("details")) == holding
    folded = "document.querySelector('details table').checkVisibility()"
    assert "10 hold here" in browser.text()
    assert browser.run(folded) is False
    browser.run("document.querySelector('summary').click()")
    assert browser.run(folded) is True
    browser.open(f"{file.as_uri()}#0.0.0.0")
    first = "document.querySelector('details').previousSibling.firstChild.firstChild.textContent"
    assert browser.run(first) == "below_two"  # It fails.


PAIR = """
from lawful import Machine, Nat, Record, Scope, require, transition

class Ping(Record):
    n: Nat

class Side(Machine):
    n: Nat = 0

    @transition()
    def strike(self) -> Ping:
        self.n += 1
        return Ping(self.n)

    @transition()
    def take(self, ping: Ping) -> None:
        require(ping.n > 0)

class Pair(Machine):
    left: Side = Side()
    right: Side = Side()
    wire: list[Ping] = []

    @transition()
    def send(self) -> None:
        self.wire.append(self.left.strike())

    @transition()
    def receive(self) -> None:
        require(len(self.wire) > 0)
        self.right.take(self.wire.pop(0))

    deadlock_ok = True
    scope = Scope(Nat=range(0, 3), wire=3)
"""


@pytest.mark.nightly
def test_messages_in_flight_are_drawn_between_the_lanes(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "pair_explored.py"
    path.write_text(PAIR, encoding="utf-8")
    found = scoped(machine(f"{path}:Pair"), ())
    file = tmp_path / "pair.html"
    walked = WalkedPath(found.flat, found.world)
    views: dict[str, Any] = {"": walked.view(()), "0.0.0.1": walked.view((0, 0, 0, 1))}
    data: dict[str, Any] = {"machine": "Pair", "views": views, "exports": {}, "checked": None}
    file.write_text(page("Pair", "", data, live=False), encoding="utf-8")
    browser.open(f"{file.as_uri()}#0.0.0.1")
    texts = "[...document.querySelectorAll('.flights > text')].map((t) => t.textContent)"
    assert browser.run(texts) == [
        "leftleft",
        "rightright",
        "in flight now",
        "1. send()send()",
        "2. send()send()",
        "3. receive()receive()",
    ]
    sent = "[...document.querySelectorAll('.flights .way')].map((g) => g.textContent)"
    assert browser.run(sent) == ["Ping(n=1)wire: Ping(n=1)"]
    flying = sent.replace(".way", ".flying")
    assert browser.run(flying) == ["wire: Ping(n=2)wire: Ping(n=2)"]
    places = "[...document.querySelectorAll('.flights .way .line')].map((p) => p.getAttribute('d'))"
    # From the lane of `left` in the first row to that of `right` in the third.
    assert browser.run(places) == ["M360 78 C360 78 600 146 600 146"]


def test_a_port_that_is_taken_is_said(target: str, capsys: pytest.CaptureFixture[str]) -> None:
    with ExplorerServer(Answers("", {})) as taken:
        assert main(["explore", target, "--port", str(taken.port)]) == 5
        said = capsys.readouterr().err
    assert said == f"cannot serve on port {taken.port}: Address already in use\n"
