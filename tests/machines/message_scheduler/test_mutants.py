"""Who notices each mutant of `Scheduler`: a table, which is compared with what is judged.

`mutants.txt` has a line for each mutant: its identity, and the machine and property that notice it,
or `survived`, with the reason. `MUTANTS=write` writes it anew from what `make nightly` judges.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from lawful import Machine
from lawful.checks.explore import Limits
from lawful.checks.mutation.judge import Judge
from lawful.checks.mutation.mutants import Mutant, identities, mutants
from lawful.machines.message_scheduler.system import MessagingFixed, MessagingInTime
from lawful.spec.resolve import resolve

TABLE = Path(__file__).with_name("mutants.txt")
JUDGES: tuple[type[Machine], ...] = (MessagingFixed, MessagingInTime)


def of_the_scheduler(cls: type[Machine]) -> dict[str, Mutant]:
    """The mutants of the scheduler within a composed machine, by identity."""
    own = [each for each in mutants(resolve(cls).machine) if each.owner == "Scheduler"]
    return dict(zip(identities(own), own, strict=True))


def judged(names: Sequence[str]) -> dict[str, str]:
    """Who notices each of these: the first of the judges that does."""
    found: dict[str, str] = {}
    for cls in JUDGES:
        resolved, every = resolve(cls), of_the_scheduler(cls)
        judge = Judge(resolved, resolved.scopes["scope"], Limits())
        for name in names:
            if name not in found:
                judgement = judge(every[name])
                if judgement.outcome in ("noticed", "no machine"):
                    by = judgement.by if judgement.outcome == "noticed" else "no machine"
                    found[name] = f"{cls.__name__} {by}"
    return {name: found.get(name, "survived") for name in names}


def table() -> dict[str, str]:
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    return {name: by for name, _, by in (line.partition(" ") for line in lines)}


def test_the_table_has_every_mutant_and_few_survive() -> None:
    assert list(table()) == list(of_the_scheduler(MessagingFixed))
    survivors = [by for by in table().values() if by.startswith("survived")]
    assert len(survivors) <= 0.02 * len(table())
    assert all(len(by) > len("survived: ") + 10 for by in survivors)


@pytest.mark.nightly
def test_every_mutant_is_noticed_as_the_table_says() -> None:
    found = judged(list(of_the_scheduler(MessagingFixed)))
    if os.environ.get("MUTANTS") == "write":
        lines = (f"{name} {by}\n" for name, by in found.items())
        TABLE.write_text("".join(lines), encoding="utf-8")
    assert found == {name: by.partition(":")[0] for name, by in table().items()}
