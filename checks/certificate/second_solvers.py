"""A second opinion of a proof: what another solver than Z3 says of a script in SMT-LIB."""

from __future__ import annotations

import importlib
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

SAID = ("unsat", "sat", "unknown")


class NoSolver(Exception):
    """There is no second solver, or it cannot be started; the text says what to do."""


class SecondSolver(Protocol):
    """A solver that is asked whether a script is satisfiable."""

    name: str

    def answer(self, text: str) -> str:
        """`unsat`, `sat` or `unknown`; that is also what a time limit gives."""
        ...


def second_solver(command: str | None, seconds: float) -> SecondSolver:
    """The solver of a command line, or cvc5 where its Python package is installed.

    Raises NoSolver where there is none.
    """
    return Cvc5(seconds) if command is None else Started(shlex.split(command), seconds)


class Cvc5:
    """The Python package cvc5, https://cvc5.github.io."""

    def __init__(self, seconds: float) -> None:
        try:
            self.library: Any = importlib.import_module("cvc5")
        except ImportError as error:
            raise NoSolver(
                "there is no second solver: pip install cvc5, or name one by --second-solver"
            ) from error
        self.milliseconds = str(int(seconds * 1000))
        self.name = f"cvc5 {self.library.__version__}"

    def answer(self, text: str) -> str:
        library = self.library
        solver = library.Solver(library.TermManager())
        solver.setOption("tlimit-per", self.milliseconds)
        solver.setOption("arrays-exp", "true")
        parser = library.InputParser(solver)
        parser.setStringInput(library.InputLanguage.SMT_LIB_2_6, text, "obligation")
        symbols, said = parser.getSymbolManager(), ""
        while not (command := parser.nextCommand()).isNull():
            said += str(command.invoke(solver, symbols))
        return first_word(said)


class Started:
    """A program that takes the name of a file with a script, as every SMT solver does."""

    def __init__(self, words: Sequence[str], seconds: float) -> None:
        self.words, self.seconds = list(words), seconds
        self.name = " ".join(words)

    def answer(self, text: str) -> str:
        with TemporaryDirectory(prefix="lawful-script-") as folder:
            path = Path(folder) / "obligation.smt2"
            path.write_text(text, encoding="utf-8")
            return self._run(path)

    def _run(self, path: Path) -> str:
        try:
            done = subprocess.run(
                [*self.words, str(path)],
                capture_output=True,
                text=True,
                timeout=self.seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return "unknown"
        except OSError as error:
            raise NoSolver(f"{self.name} cannot be started: {error.strerror}") from error
        return first_word(done.stdout)


def first_word(said: str) -> str:
    """The first word of a solver's answer; anything but these three decides nothing."""
    word = said.split(maxsplit=1)[0] if said.split() else ""
    return word if word in SAID else "unknown"
