"""Processes that die, and threads that call one instance at once."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path
from random import Random

from lawful.runtime.journal import Journal
from lawful.runtime.store import Store
from tests.root import PATIENCE, ROOT
from tests.runtime.faults.counting import Count
from tests.runtime.faults.ledger import Ledger, is_torn, journalled
from tests.runtime.faults.signals import made

WORKER = """
import sys
from pathlib import Path
from lawful.runtime.journal import Journal
from lawful.runtime.store import Store
from tests.runtime.faults.ledger import Ledger
from tests.runtime.faults.signals import made

folder = Path(sys.argv[1])
with Store(folder / "s.db", synchronous="NORMAL", snapshot_every=7) as store:
    with Journal(folder / "j.jsonl", buffer=0, largest=4000) as journal:
        ledger = store.restore(Ledger, "a") if "a" in store else store.add(made(), "a")
        journal.attach(ledger, "a")
        for number in range(ledger.amount + 1, 10**6):
            ledger.add(1)
            print(number, flush=True)
"""


def killed(kills: int, folder: Path) -> Count:
    """One store and one journal, whose process is killed again and again: what it told is there."""
    found, rng = Count(), Random(kills)
    for _ in range(kills):
        command = [sys.executable, "-c", WORKER, str(folder)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT, text=True) as process:
            assert process.stdout is not None
            told, wanted = 0, rng.randint(1, 40)
            for line in process.stdout:
                told = int(line)
                wanted -= 1
                if not wanted:
                    break
            process.send_signal(signal.SIGKILL)
            rest = process.stdout.read().split("\n")[:-1]
            told = max([told, *map(int, rest)])
        with Store(folder / "s.db") as store:
            back = store.restore(Ledger, "a")
            rows = store.events("a")
        Journal(folder / "j.jsonl").close()
        rows_fit = journalled(folder / "j.jsonl")
        events = [row["seq"] for row in rows]
        torn = is_torn(back) or events != list(range(1, len(events) + 1)) or rows_fit is None
        # An event that nobody was told of may be kept: one at most.
        lost = not told <= back.amount <= told + 1
        found.took(process.returncode == -signal.SIGKILL, lost, torn)
    return found


NOTING = """
import os
import sys
from pathlib import Path
from lawful.runtime.store import Store
from tests.runtime.faults.ledger import Ledger
from tests.runtime.faults.signals import made

folder = Path(sys.argv[1])
notes = os.open(folder / "notes", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
with Store(folder / "s.db", synchronous="NORMAL", snapshot_every=7) as store:
    ledger = store.restore(Ledger, "a") if "a" in store else store.add(made(), "a")
    ledger.lawful.observe(lambda done: print(flush=True))  # After the commit.
    for number in range(len(ledger.entries) + 1, 10**6):
        os.write(notes, b"i")  # The intent; a killed process leaves what it has written.
        print(flush=True)
        ledger.add(number)
        os.write(notes, b"a")  # The acknowledgement.
"""


def noted(kills: int, folder: Path) -> Count:
    """One store whose process notes each event before and after it, and is killed again and again.

    The restored state is that after the last acknowledged event, or after one more, which was
    intended: it was committed, and the process died before it could tell (`observed`)."""
    found, rng, notes = Count(), Random(kills), folder / "notes"
    acknowledged = 0
    for _ in range(kills):
        command = [sys.executable, "-c", NOTING, str(folder)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT, text=True) as process:
            assert process.stdout is not None
            for _, _ in zip(range(rng.randint(1, 40)), process.stdout, strict=False):
                pass
            process.send_signal(signal.SIGKILL)
        life = notes.read_bytes()
        notes.unlink()
        assert life.strip(b"i") in (b"", b"a" + b"ia" * (life.count(b"a") - 1))
        acknowledged += life.count(b"a")
        intended = acknowledged + life.endswith(b"i")
        with Store(folder / "s.db") as store:
            back = store.restore(Ledger, "a")
        has = len(back.entries)
        torn = is_torn(back) or back.entries != [*range(1, has + 1)] or has > intended
        found.took(acknowledged < has == intended, has < acknowledged, torn)
        acknowledged = has
    return found


def threads(rounds: int, folder: Path) -> Count:
    """Threads without a runner: each call is whole, or is told that another one runs."""
    found = Count()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with Store(folder / "s.db", synchronous="NORMAL") as store:
            ledger, answers, told = store.add(made(), "a"), list[int](), list[int]()

            def call() -> None:
                for _ in range(rounds):
                    try:
                        answers.append(ledger.add(1))
                    except RuntimeError:
                        told.append(1)

            several = [threading.Thread(target=call, daemon=True) for _ in range(4)]
            for each in several:
                each.start()
            for each in several:
                each.join(PATIENCE)
            assert not any(each.is_alive() for each in several)
            kept = len(store.events("a"))
    finally:
        sys.setswitchinterval(interval)
    found.injected, found.observed = 4 * rounds, len(told)
    found.lost = len(answers) - kept
    found.torn = is_torn(ledger) + len(answers) - len(set(answers))
    return found
