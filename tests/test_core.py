"""The core runs on the standard library and annotated-types alone: services embed it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TURNSTILE = """
from lawful import Machine, Nat, Refused, State, transition

class Arm(State):
    LOCKED = "locked"
    OPEN = "open"

class Turnstile(Machine):
    state: Arm = Arm.LOCKED
    coins: Nat = 0

    @transition(source=Arm.LOCKED, target=Arm.OPEN)
    def pay(self) -> Nat:
        self.coins += 1
        return self.coins

    @transition(source=Arm.OPEN, target=Arm.LOCKED)
    def push(self) -> None: ...

def run() -> None:
    turnstile = Turnstile()
    assert turnstile.pay() == 1 and turnstile.state == Arm.OPEN
    turnstile.push()
    try:
        turnstile.push()
    except Refused:
        return
    raise AssertionError("a locked turnstile let somebody through")
"""
# Site hooks of the environment may have imported something before the first line runs; what
# annotated-types itself imports where it finds it is its own.
FOREIGN = """
import sys
import annotated_types
before = set(sys.modules)
sys.path.insert(0, {folder!r})
{work}
own = {{"lawful", "annotated_types", "turnstile", *sys.stdlib_module_names}}
print(*sorted({{name.split(".")[0] for name in set(sys.modules) - before}} - own))
"""


# What a first instance and its events do not need, though some instances do: each takes 1 to 5 ms.
LATE = {
    *("threading", "pathlib", "urllib.parse", "ipaddress", "json", "base64", "decimal"),
    *("fractions", "numbers", "logging", "sqlite3", "lawful.spec.codec.as_json"),
    *("lawful.spec.codec.frozen", "lawful.runtime.migration", "lawful.runtime.instances.growth"),
    *("lawful.runtime.instances.observers", "lawful.runtime.instances.enforcement"),
    *("lawful.runtime.instances.access", "lawful.runtime.kernel.event_record"),
    *("lawful.runtime.compile.observed_method", "lawful.runtime.compile.logged_method"),
}
MOST_MODULES = 154  # Of lawful, with those that `import lawful` and the class statement need.


@pytest.mark.parametrize(
    ("work", "most"),
    [
        ("import lawful", 16),
        ("import lawful.cli", sys.maxsize),
        ("import turnstile; turnstile.run()", MOST_MODULES),
    ],
)
def test_the_core_needs_no_library_and_few_modules(work: str, most: int, tmp_path: Path) -> None:
    (tmp_path / "turnstile.py").write_text(TURNSTILE, encoding="utf-8")
    script = FOREIGN.format(folder=str(tmp_path), work=work)
    told = "print(*set(sys.modules) - before, file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", script + told],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    foreign, read = done.stdout.split(), set(done.stderr.split())
    assert not foreign, f"`{work}` imports {foreign}; import them where they are used"
    own = [name for name in read if name.partition(".")[0] == "lawful"]
    assert len(own) <= most, f"`{work}` reads {len(own)} modules; read them where they are used"
    if work != "import lawful.cli":
        assert not read & LATE, "no instance needs these to begin with"


def test_the_core_test_can_fail() -> None:
    script = FOREIGN.format(folder=".", work="import pluggy")
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["pluggy"]


def imported(work: str) -> set[str]:
    """The modules that this imports."""
    script = f"import sys; before = set(sys.modules); {work}; print(*set(sys.modules) - before)"
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:] = {sys.path!r}; {script}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


def test_classes_that_a_small_check_makes_compile_few_functions() -> None:
    """Those of the standard library compile up to six each, half a millisecond."""
    script = """
import dataclasses
made = []
standard = dataclasses.dataclass
def counted(cls=None, /, **how):
    if how.get("init", True):
        made.append(how)
    return standard(cls, **how)
dataclasses.dataclass = counted
import lawful.cli, lawful.commands.check, lawful.checks.conform.trace_player
print(len(made))
"""
    done = subprocess.run(
        (sys.executable, "-c", script), capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert int(done.stdout) <= 10


def test_a_small_check_waits_for_no_import_that_it_does_not_need() -> None:
    """Most of its time is imports."""
    slow = {"email", "importlib.metadata", "difflib", "annotated_types", "numpy", "llvmlite", "z3"}
    slow |= {"tempfile", "subprocess", "lawful.checks.explore.compiled.counting"}
    slow |= {"lawful.checks.explore.compiled.orbit_search"}
    assert not imported("import lawful.cli, lawful.commands.check") & slow
    assert imported("import email, lawful.cli") & slow == {"email"}
