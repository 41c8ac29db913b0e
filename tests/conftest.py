"""What every test gets: how Hypothesis searches, no proofs of the user, and a measured budget.

In `make test` Hypothesis draws the same examples in every run, whatever else runs and however busy
the machine is; under the profile `nightly` it draws new ones.
"""

from __future__ import annotations

import gc
import os
import resource
import signal
import tempfile
from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

from lawful.checks.explore.compiled import background, llvm
from lawful.checks.smt.solver import cache, z3_terms
from tests.processor_time import Measuring
from tests.runtime.faults.counting import FAULT, Count, table

# What a command prints is the same in a workflow of GitHub.
os.environ.pop("GITHUB_ACTIONS", None)

# Without a profile of our own, Hypothesis takes another one where CI is set. Its check for slow
# drawing reads the clock, so that a busy machine would fail it.
settings.register_profile(
    "lawful",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=25,  # `make test` has a budget; see tests/house/budgets.txt.
    print_blob=False,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "nightly", parent=settings.get_profile("lawful"), derandomize=False, max_examples=300
)
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "lawful")
settings.load_profile(PROFILE)
if PROFILE == "lawful":
    # Hypothesis draws constants from the source of all modules that are imported, and so others
    # in each selection of tests. There is no setting for it.
    CONSTANTS = "_get_local_constants"
    assert hasattr(providers, CONSTANTS)
    setattr(providers, CONSTANTS, Constants)


# A campaign that takes more memory fails by its name; without a limit the system would end some
# process, and nobody could tell which test it was.
MEMORY = 16 * 2**30


# The collector walks all modules, tests and terms again for a few objects more. Seldom is enough.
YOUNG = 200_000


def pytest_configure(config: pytest.Config) -> None:
    gc.set_threshold(YOUNG, 50, 100)
    # A shell starts background jobs with SIGINT ignored, and so would be every process of a test.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if not hasattr(config, "workerinput"):  # A worker shares the folder of the run it works for.
        folder = tempfile.TemporaryDirectory(prefix="lawful-cache-")
        config.add_cleanup(folder.cleanup)
        os.environ["XDG_CACHE_HOME"] = folder.name  # The user's caches would change what tests see.
    if PROFILE == "nightly":
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    config.pluginmanager.register(Measuring(config))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of a test's cases that `one_in(n)` marks, every n-th is left to `make test`.

    The others become nightly. One case that a command line selects is the first of the collected
    ones, and so it runs.
    """
    cases: Counter[str] = Counter()
    for item in items:
        sampled = item.get_closest_marker("one_in")
        if sampled is None:
            continue
        test = item.nodeid.partition("[")[0]
        if cases[test] % sampled.args[0]:
            item.add_marker(pytest.mark.nightly)
        cases[test] += 1


@pytest.fixture(autouse=True)
def nothing_asked_before() -> None:
    """Z3 begins anew: which terms it has seen decides how it searches, and so what it finds out
    within its budget. A test's answers are the same after whichever other tests."""
    z3_terms.forget()


@pytest.fixture(autouse=True)
def nothing_proved_before(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """What the user's proofs showed is not known to a test, and no test adds to it."""
    monkeypatch.setattr(cache, "users", lambda: tmp_path_factory.mktemp("proofs"))


@pytest.fixture(autouse=True)
def no_compiler_for_a_small_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """In `make test` a search takes half a second of plain steps before it starts a compiler, and
    none starts a second process for better code.

    To compile the steps takes longer than the whole search in most tests. The tests of the compiled
    engine ask for it by name.
    """
    if PROFILE == "lawful":
        monkeypatch.setattr(background, "PATIENCE", 0.5)
        monkeypatch.setattr(background, "LONGER", 1e9)


@pytest.fixture(autouse=True)
def machine_code_is_not_optimised(request: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """In `make test` only what is marked `optimised` compares or runs optimised machine code.

    LLVM takes ten times as long to optimise the steps of a small machine as to translate them.
    """
    if PROFILE == "lawful" and request.node.get_closest_marker("optimised") is None:
        monkeypatch.setattr(llvm, "SPEED", llvm.QUICK)


@pytest.fixture(autouse=True, scope="module")
def what_stays_is_not_collected_again() -> None:
    """The garbage collector leaves out what was made before the module: imports and tests.

    Tests that collect garbage by themselves would walk all of it each time.
    """
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What the comparison of all engines met: the shard that ended last has summed it. And what the
    faults did that were injected."""
    reports = terminalreporter.getreports("passed") + terminalreporter.getreports("failed")
    told = [row for each in reports if each.when == "call" for row in each.user_properties]
    faults = {str(row[0]): Count(*row[1:]) for name, row in told if name == FAULT}
    if faults:
        terminalreporter.section("faults")
        terminalreporter.write_line(table(faults))
    text = next((text for name, text in told if name == "agreement"), None)
    if text is not None:  # Of two shards that end at once both have summed it.
        terminalreporter.section("agreement of all engines")
        terminalreporter.write_line(str(text))
