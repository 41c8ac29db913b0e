"""`lawful lsp`: the server of an editor, by the Language Server Protocol 3.17.

What it knows of a file comes from a process of its own for each text (`declared_file`), because a
declaration runs when it is read: the server ends one that takes too long. Checks are the command
`lawful check` on the saved file.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.metadata
import json
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast

from lawful.commands.errors import CommandError
from lawful.commands.exit_codes import ExitCode
from lawful.commands.options import LspOptions
from lawful.commands.output import Output
from lawful.spec.quick_dataclass import dataclass, field

from .checked_machines import CheckedMachines
from .meanings import MEANINGS
from .rewrites import replacement

CHECK, SHOW = "lawful.check", "lawful.showCounterexample"
SOURCE = "lawful"
READ_SECONDS = 20.0  # For reading a file; a module that waits for something would never end.

Row = Mapping[str, Any]

UNREAD: Row = {
    "problems": [],
    "machines": [],
    "stopped": {
        "line": 0,
        "start": 0,
        "end_line": 0,
        "end": 1,
        "why": f"its import takes more than {READ_SECONDS:g} s, or ends the process",
    },
}


def lsp(options: LspOptions, output: Output) -> int:
    """Serve an editor on standard input and output until it ends."""
    try:
        # pygls is an extra: without it neither this module nor type checkers may need it.
        library: Any = importlib.import_module("pygls.lsp.server")
        types: Any = importlib.import_module("lsprotocol.types")
    except ImportError as error:
        raise CommandError("lsp needs pygls: pip install 'lawful[lsp]'") from error
    server = library.LanguageServer("lawful", importlib.metadata.version("lawful"))
    Editor(server, types, options).register()
    server.start_io()
    return ExitCode.AS_EXPECTED


@dataclass
class File:
    """The last answer about a file, the text that it is of, and the process that reads a newer."""

    text: str = ""
    answer: Row = field(default_factory=dict[str, Any])
    reading: asyncio.Task[None] | None = None


class Editor:
    """The features that the server has."""

    def __init__(self, server: Any, types: Any, options: LspOptions) -> None:
        self.server, self.types, self.options = server, types, options
        self.files: dict[str, File] = {}
        self.checked = CheckedMachines()

    def register(self) -> None:
        """Tell the library what there is. It notes names in what it calls: methods take none."""
        t, feature, command = self.types, self.server.feature, self.server.command
        for name in (t.TEXT_DOCUMENT_DID_OPEN, t.TEXT_DOCUMENT_DID_CHANGE):
            feature(name)(partial(self._changed))
        feature(t.TEXT_DOCUMENT_DID_SAVE)(partial(self._saved))
        feature(t.TEXT_DOCUMENT_DID_CLOSE)(partial(self._closed))
        feature(t.TEXT_DOCUMENT_HOVER)(partial(self._hover))
        feature(t.TEXT_DOCUMENT_CODE_LENS)(partial(self._lenses))
        fixes = t.CodeActionOptions(code_action_kinds=[t.CodeActionKind.QuickFix])
        feature(t.TEXT_DOCUMENT_CODE_ACTION, fixes)(partial(self._actions))
        command(CHECK)(partial(self._check))
        command(SHOW)(partial(self._show))

    # Problems.

    async def _changed(self, params: Any) -> None:
        """Read the file once nobody types for a moment; an older reading ends."""
        self._renew(params.text_document.uri)

    async def _saved(self, params: Any) -> None:
        """Read every open file: others may import what is saved."""
        for uri in {params.text_document.uri, *self.files}:
            self._renew(uri)

    def _renew(self, uri: str) -> None:
        file = self.files.setdefault(uri, File())
        if file.reading is not None:
            file.reading.cancel()
        file.reading = asyncio.ensure_future(self._read(uri, file))

    async def _closed(self, params: Any) -> None:
        file = self.files.pop(params.text_document.uri, None)
        if file is not None and file.reading is not None:
            file.reading.cancel()
        self._publish(params.text_document.uri, [])

    async def _read(self, uri: str, file: File) -> None:
        await asyncio.sleep(self.options.delay)
        document = self.server.workspace.get_text_document(uri)
        text = document.source
        request = json.dumps({"path": document.path, "text": text})
        words = [sys.executable, "-m", "lawful.editor.declared_file"]
        told, _ = await ended(words, request, READ_SECONDS)
        answer: dict[str, Any] = json.loads(told) if told else dict(UNREAD)
        if not answer["machines"] and file.answer:
            answer["machines"] = file.answer["machines"]  # While it cannot be read.
        file.text, file.answer = text, answer
        place = partial(self._range, document)
        problems = [self._diagnostic(each, place(each)) for each in answer["problems"]]
        if answer["stopped"] is not None and "lawful" in text:  # Else it declares nothing.
            problems.append(self._not_run(answer["stopped"], place(answer["stopped"])))
        self._publish(uri, problems)

    def _publish(self, uri: str, diagnostics: list[Any]) -> None:
        params = self.types.PublishDiagnosticsParams(uri=uri, diagnostics=diagnostics)
        self.server.text_document_publish_diagnostics(params)

    def _diagnostic(self, problem: Row, place: Any) -> Any:
        found, expected, rewrite = (problem[each] for each in ("found", "expected", "rewrite"))
        text = f"{problem['what']}\nfound: {found}\nexpected: {expected}\nrewrite: {rewrite}"
        return self.types.Diagnostic(
            range=place,
            message=text,
            severity=self.types.DiagnosticSeverity.Error,
            code=problem["number"],
            source=SOURCE,
            data=dict(problem),
        )

    def _not_run(self, stopped: Row, place: Any) -> Any:
        text = f"Python stops here, so nothing of this file is judged: {stopped['why']}"
        severity = self.types.DiagnosticSeverity.Error
        return self.types.Diagnostic(place, text, severity=severity, source=SOURCE)

    def _range(self, document: Any, row: Row) -> Any:
        """The place in the units that the editor counts, such as those of UTF-16."""
        start = self.types.Position(row["line"], row["start"])
        whole = self.types.Range(start, self.types.Position(row["end_line"], row["end"]))
        return document.position_codec.range_to_client_units(document.lines, whole)

    def _actions(self, params: Any) -> list[Any]:
        """The rewrites of the problems at a place, where one means an exact change."""
        t, uri = self.types, params.text_document.uri
        lines = self.server.workspace.get_text_document(uri).source.splitlines()
        found: list[Any] = []
        for each in params.context.diagnostics:
            data: Any = each.data
            if each.source != SOURCE or not isinstance(data, dict):
                continue
            problem = cast(Row, data)
            new = replacement(problem, marked(lines, problem))
            if new is not None:
                edit = t.WorkspaceEdit(changes={uri: [t.TextEdit(each.range, new)]})
                kind = t.CodeActionKind.QuickFix
                found.append(t.CodeAction(f"write {new}", kind=kind, diagnostics=[each], edit=edit))
        return found

    # Properties and verdicts.

    def _hover(self, params: Any) -> Any:
        """What the transition or property on this line means, and its last verdict."""
        uri, line = params.text_document.uri, params.position.line
        path = self._path(uri)
        for machine in self._machines(uri):
            for member in machine["members"]:
                if member["line"] == line:
                    verdict = self.checked.verdict(path, machine, member["name"])
                    text = [f"**{member['name']}**: {member['kind']}", MEANINGS[member["kind"]]]
                    text += [member["doc"]] if member["doc"] else []
                    text += [f"Last verdict: `{verdict}`"] if verdict else []
                    kind = self.types.MarkupKind.Markdown
                    value = "\n\n".join(text)
                    return self.types.Hover(self.types.MarkupContent(kind, value))
        return None

    def _lenses(self, params: Any) -> list[Any]:
        """Over each class `check`, and over each violated property its counterexample."""
        uri, lenses = params.text_document.uri, list[Any]()
        path = self._path(uri)
        for machine in self._machines(uri):
            name, told = machine["name"], self.checked.told(path, machine)
            title = f"check ({told})" if told else "check"
            lenses.append(self._lens(machine["line"], title, CHECK, [uri, name]))
            lines: dict[str, int] = {
                member["name"]: member["line"] for member in machine["members"]
            }
            for property in self.checked.violated(path, machine):
                line = lines[property] if property in lines else int(machine["line"])
                title = f"show counterexample of {property}"
                lenses.append(self._lens(line, title, SHOW, [uri, name, property]))
        return lenses

    def _lens(self, line: int, title: str, command: str, words: Sequence[str]) -> Any:
        t = self.types
        place = t.Range(t.Position(line, 0), t.Position(line, 0))
        return t.CodeLens(place, command=t.Command(title, command, arguments=list(words)))

    async def _check(self, uri: str, machine: str) -> str:
        """Check a machine of the saved file; the result is its verdict."""
        path = self._path(uri)
        words = [sys.executable, "-m", "lawful", "check", f"{path}:{machine}", "--json", "-"]
        told, errors = await ended(
            [*words, "--max-seconds", str(self.options.max_seconds)], "", None
        )
        answer: dict[str, Any] = json.loads(told) if told.startswith("{") else {}
        if not answer.get("machines"):
            unsaved = "\nThe file that is saved has another text." if self._unsaved(uri) else ""
            self._say(f"{errors.strip() or f'{machine} cannot be checked'}{unsaved}")
            return "unknown"
        found: Row = answer["machines"][0]
        self.checked.keep(path, machine, found)
        self._say(f"{machine}: {found['verdict']}, {found['distinct']:,} states")
        self.server.workspace_code_lens_refresh(None)
        return str(found["verdict"])

    async def _show(self, uri: str, machine: str, property: str) -> str:
        """Show the counterexample of a property; the result is its text."""
        words = [sys.executable, "-m", "lawful", "check", f"{self._path(uri)}:{machine}"]
        more = ["--only", property, "--max-seconds", str(self.options.max_seconds)]
        told, errors = await ended([*words, *more], "", None)
        text = told or errors
        self._say(text)
        return text

    def _say(self, text: str) -> None:
        kind = self.types.MessageType.Info
        first = text.partition("\n")[0]
        self.server.window_show_message(self.types.ShowMessageParams(kind, first))
        self.server.window_log_message(self.types.LogMessageParams(kind, text))

    def _machines(self, uri: str) -> Sequence[Row]:
        file = self.files.get(uri)
        rows: Sequence[Row] = file.answer.get("machines", ()) if file else ()
        return rows

    def _unsaved(self, uri: str) -> bool:
        """Whether the editor has another text than the file."""
        try:
            saved = self._path(uri).read_text(encoding="utf-8")
        except (OSError, ValueError):
            return True
        return bool(saved != self.server.workspace.get_text_document(uri).source)

    def _path(self, uri: str) -> Path:
        return Path(self.server.workspace.get_text_document(uri).path)


def marked(lines: Sequence[str], row: Row) -> str:
    """The text from one place to another."""
    if row["line"] >= len(lines) or row["end_line"] >= len(lines):
        return ""
    if row["line"] == row["end_line"]:
        return str(lines[row["line"]][row["start"] : row["end"]])
    between: list[str] = list(lines[row["line"] + 1 : row["end_line"]])
    last = str(lines[row["end_line"]][: row["end"]])
    first = str(lines[row["line"]][row["start"] :])
    return "\n".join([first, *between, last])


async def ended(words: Sequence[str], request: str, seconds: float | None) -> tuple[str, str]:
    """What a process prints on standard output and error; nothing where it takes too long.

    It ends with whoever waits for it.
    """
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*words, stdin=pipe, stdout=pipe, stderr=pipe)
    try:
        async with asyncio.timeout(seconds):
            said = await process.communicate(request.encode())
    except TimeoutError:
        return "", ""
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return said[0].decode(errors="replace"), said[1].decode(errors="replace")
