"""`lawful lsp` as an editor uses it: a client of the protocol talks to the program."""

from __future__ import annotations

import asyncio
import importlib
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from lawful.editor import declared_file
from lawful.editor.meanings import MEANINGS
from lawful.editor.rewrites import replacement
from lawful.spec.verdicts import KINDS

pytest.importorskip("pygls")
client_library: Any = importlib.import_module("pygls.lsp.client")
types: Any = importlib.import_module("lsprotocol.types")

HEAD = "from lawful import Machine, Nat, Scope, invariant, require, transition\n"
GOOD = f'''{HEAD}

class Tank(Machine):
    litres: Nat = 0

    @transition
    def fill(self) -> None:
        self.litres += 1

    @invariant
    def never_two(self) -> bool:
        """It would be too much."""
        return self.litres != 2

    scope = Scope(Nat=range(0, 4))
'''
# Errors of two stages in one class, and one in another class.
WRONG = f"""{HEAD}

class Tank(Machine):
    litres: Nat = 0

    @transition
    def fill(self) -> None:
        while self.litres < 3:
            self.litres *= 2

    @transition
    def empty(self) -> None:
        self.liters = 0


class Pump(Machine):
    on: bool = False

    @transition
    def go(self) -> None:
        self.on = require
        raise ValueError("é")
"""


def _noted(into: list[str], params: Any) -> None:
    into.append(params.message)


def _ignored(params: Any) -> None:
    """What an editor gets and a test does not look at."""


class Client:
    """An editor: what the server publishes waits in queues."""

    def __init__(self) -> None:
        self.library: Any = client_library.LanguageClient("editor", "1")
        self.published: asyncio.Queue[Any] = asyncio.Queue()
        self.messages: list[str] = []
        self.library.feature("textDocument/publishDiagnostics")(partial(self.published.put_nowait))
        self.library.feature("window/showMessage")(partial(_noted, self.messages))
        self.log: list[str] = []
        self.library.feature("window/logMessage")(partial(_noted, self.log))
        self.library.feature("workspace/codeLens/refresh")(_ignored)

    async def open(self, path: Path, text: str) -> list[Any]:
        """The problems of a text that is opened."""
        document = types.TextDocumentItem(path.as_uri(), "python", 1, text)
        params = types.DidOpenTextDocumentParams(document)
        self.library.text_document_did_open(params)
        return await self.problems()

    async def change(self, path: Path, text: str, version: int) -> None:
        """Replace the whole text."""
        params = types.DidChangeTextDocumentParams(
            types.VersionedTextDocumentIdentifier(version, path.as_uri()),
            [types.TextDocumentContentChangeWholeDocument(text)],
        )
        self.library.text_document_did_change(params)

    async def save(self, path: Path) -> None:
        """Say that a file was saved."""
        document = types.TextDocumentIdentifier(path.as_uri())
        self.library.text_document_did_save(types.DidSaveTextDocumentParams(document))

    async def close(self, path: Path) -> None:
        """Say that a file is no longer open."""
        document = types.TextDocumentIdentifier(path.as_uri())
        self.library.text_document_did_close(types.DidCloseTextDocumentParams(document))

    async def problems(self) -> list[Any]:
        """What the server publishes next."""
        found = await self.published.get()
        return list(found.diagnostics)

    async def lenses(self, path: Path) -> list[Any]:
        """The lines and titles over the classes and properties."""
        params = types.CodeLensParams(types.TextDocumentIdentifier(path.as_uri()))
        found = await self.library.text_document_code_lens_async(params)
        return [(each.range.start.line, each.command.title) for each in found]

    async def hover(self, path: Path, line: int) -> str:
        """The text beside a line."""
        where = types.TextDocumentIdentifier(path.as_uri())
        params = types.HoverParams(where, types.Position(line, 8))
        found = await self.library.text_document_hover_async(params)
        return "" if found is None else str(found.contents.value)

    async def fixes(self, path: Path, problem: Any) -> list[tuple[str, str]]:
        """The titles of the quick fixes of a problem, and the new texts."""
        where = types.TextDocumentIdentifier(path.as_uri())
        context = types.CodeActionContext([problem])
        params = types.CodeActionParams(where, problem.range, context)
        found = await self.library.text_document_code_action_async(params)
        return [(a.title, a.edit.changes[path.as_uri()][0].new_text) for a in found]

    async def run(self, command: str, *words: str) -> str:
        """The result of a command of the server."""
        params = types.ExecuteCommandParams(command, list(words))
        return str(await self.library.workspace_execute_command_async(params))


def talk(folder: Path, talking: Callable[[Client, Path], Awaitable[None]]) -> None:
    """Start the server and talk to it; it ends when it is told to."""

    async def whole() -> None:
        client = Client()
        await client.library.start_io(sys.executable, "-m", "lawful", "lsp", "--delay", "0.01")
        params = types.InitializeParams(types.ClientCapabilities(), root_uri=folder.as_uri())
        await client.library.initialize_async(params)
        client.library.initialized(types.InitializedParams())
        await talking(client, folder / "tank.py")
        await client.library.shutdown_async(None)
        client.library.exit(None)
        await client.library.stop()

    asyncio.run(whole())


def test_problems_of_all_stages_while_typing_and_their_fixes(tmp_path: Path) -> None:
    async def talking(client: Client, path: Path) -> None:
        found = await client.open(path, WRONG)
        rows = [(p.range.start.line, p.range.start.character, p.code) for p in found]
        assert rows == [(8, 8, "L102"), (13, 8, "L205"), (21, 18, "L201"), (22, 8, "L102")]
        fixes = [await client.fixes(path, each) for each in found]
        assert fixes == [
            [],
            [("write self.litres", "self.litres")],
            [],
            [("write refuse('é')", "refuse('é')")],
        ]
        await client.change(path, GOOD, 2)
        assert await client.problems() == []
        assert not path.exists()  # What is judged is the text of the editor.
        wide = "self.litres += 1; x = '\N{GRINNING FACE}'; self.liters = 2"
        await client.change(path, GOOD.replace("self.litres += 1", wide), 3)
        (found,) = await client.problems()
        start = 8 + wide.index("self.liters") + 1  # The face counts as two in UTF-16.
        assert (found.range.start.character, found.range.end.character) == (start, start + 11)
        assert await client.fixes(path, found) == [("write self.litres", "self.litres")]
        # What another file imports may have changed when a file is saved.
        user, base = path.with_name("user.py"), path.with_name("base.py")
        base.write_text("Tank = 1\n")
        assert await client.open(user, "import lawful\nfrom base import Tank\n") == []
        base.write_text("")
        await client.close(path)
        assert await client.problems() == []
        await client.save(base)
        every = {each.uri: each for each in [await client.published.get() for _ in range(2)]}
        assert sorted(every) == [base.as_uri(), user.as_uri()]
        (found,) = every[user.as_uri()].diagnostics
        assert "nothing of this file is judged: ImportError: cannot import name" in found.message
        assert found.range.start.line == 1

    talk(tmp_path, talking)


def test_hover_lenses_check_and_counterexample(tmp_path: Path) -> None:
    path = tmp_path / "tank.py"
    path.write_text(GOOD)

    async def talking(client: Client, path: Path) -> None:
        assert await client.open(path, GOOD) == []
        assert await client.lenses(path) == [(3, "check")]
        shown = await client.hover(path, 11)
        meaning = MEANINGS["invariant"]
        assert shown == f"**never_two**: invariant\n\n{meaning}\n\nIt would be too much."
        assert await client.hover(path, 4) == ""
        assert await client.run("lawful.check", path.as_uri(), "Tank") == "violated"
        assert await client.lenses(path) == [
            (3, "check (violated, 4 states)"),
            (11, "show counterexample of never_two"),
        ]
        assert (await client.hover(path, 11)).endswith("Last verdict: `violated`")
        told = await client.run("lawful.showCounterexample", path.as_uri(), "Tank", "never_two")
        assert "never_two is violated: litres != 2 is false (litres = 2)" in told
        assert "    2  fill()\n         litres = 2\n" in told
        await client.change(path, GOOD.replace("!= 2", "!= 3"), 2)
        assert await client.problems() == []
        assert (await client.hover(path, 11)).endswith("`violated (of an earlier text)`")
        # A check is of the file, which has another text than the editor.
        assert await client.run("lawful.check", path.as_uri(), "Tank") == "violated"
        assert (await client.hover(path, 11)).endswith("`violated (of an earlier text)`")
        wrong = "lawful.check", path.as_uri(), "Vat"
        assert await client.run(*wrong) == "unknown"
        told = "has no machine Vat; it defines: Tank\nThe file that is saved has another text."
        assert client.log[-1].endswith(told)

    talk(tmp_path, talking)


@pytest.mark.nightly
def test_a_file_that_cannot_be_read_keeps_what_was_known(tmp_path: Path) -> None:
    async def talking(client: Client, path: Path) -> None:
        assert await client.open(path, GOOD) == []
        await client.change(path, GOOD + "class (", 2)
        (found,) = await client.problems()
        said = "Python stops here, so nothing of this file is judged: SyntaxError: invalid syntax"
        assert (found.range.start.line, found.message) == (GOOD.count("\n"), said)
        assert await client.lenses(path) == [(3, "check")]
        await client.change(path, "def (\n", 3)  # Who does not write of lawful has other servers.
        assert await client.problems() == []

    talk(tmp_path, talking)


@pytest.mark.parametrize(
    ("text", "line", "start", "why"),
    [
        ("x = 1\ny = (\n", 1, 4, "SyntaxError: '(' was never closed"),
        ("import lawful\nlawful.nobody\n", 1, 0, "module 'lawful' has no attribute 'nobody'"),
        ("import nowhere_at_all\n", 0, 0, "No module named 'nowhere_at_all'"),
        ("def f():\n    raise SystemExit(3)\n\nf()\n", 1, 0, "SystemExit: 3"),
    ],
)
def test_a_text_that_cannot_be_run_says_where(
    text: str, line: int, start: int, why: str, tmp_path: Path
) -> None:
    found: Any = declared_file.judged(tmp_path / "stopped.py", text)
    assert (found["problems"], found["machines"]) == ([], [])
    assert found["stopped"] is not None
    stopped = found["stopped"]
    assert (stopped["line"], stopped["start"]) == (line, start)
    assert stopped["why"].endswith(why)


def test_each_kind_has_a_meaning() -> None:
    assert set(MEANINGS) == {*KINDS, "transition", "event", "initial"}


@pytest.mark.parametrize(
    ("rewrite", "found", "text", "new"),
    [
        ("write self.litres", "liters of a Tank", "self.liters", None),
        ("write litres", "liters of a Tank", "self.liters", "self.litres"),
        ("write count", "cout", "cout", "count"),
        ("write refuse('x')", "raise E('x')", 'raise E("x")', "refuse('x')"),
        ("use a for loop", "while x:", "while x:", None),
        ("write one of them", "x", "x", None),
        ("write f(x)", "g(...)", "g(1)", None),
    ],
)
def test_only_an_exact_rewrite_is_a_fix(
    rewrite: str, found: str, text: str, new: str | None
) -> None:
    assert replacement({"rewrite": rewrite, "found": found}, text) == new


def test_places_are_characters(tmp_path: Path) -> None:
    text = f"{HEAD}class M(Machine):\n    é: Nat = 0; x: Nat = -1.5\n"
    found: Any = declared_file.judged(tmp_path / "place.py", text)["problems"]
    assert [(p["number"], p["line"], p["start"], p["end"]) for p in found] == [("L203", 2, 26, 29)]
