"""Random machines: whoever watches an instance, its events do the same; questions foretell them."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from lawful.runtime.instances.access import deadlines_of
from lawful.spec.outcomes import Refused
from tests.agree.engines import Engines
from tests.agree.examine import HEAD, forget, seeded
from tests.agree.hits import Hits
from tests.spec import texts

# The last one shows containers in refusals that it has changed in place.
SEEDS = (*range(8), *range(9, 20), 656)  # Of 8 there is no instance.
STATES = 4


class Looks:
    """A follower that counts."""

    def __init__(self) -> None:
        self.count = 0

    def look(self) -> None:
        self.count += 1

    look_again = look


def took(engines: Engines, entry: Any, name: str, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """What an event did, the reasons of a refusal, and the state and the deadlines after it."""
    why: tuple[Any, ...] = ()
    try:
        done = "done", repr(entry.lawful.take(name, *args))
    except Refused as refusal:
        done, why = ("refused", ""), refusal.reasons
    except Exception as error:
        done = type(error).__name__, str(error)
    return done, why, engines.running.state(entry), sorted(deadlines_of(entry))


@pytest.mark.parametrize("seed", SEEDS)
def test_who_watches_changes_nothing_and_questions_foretell(seed: int) -> None:
    engines = Engines(texts.machine(seeded(seed), HEAD), Random(f"run {seed}"), Hits())
    forget()
    machine, plan = engines.resolved.machine, engines.running.cls.lawful.plan
    calls = [(each.name, each.params) for each in machine.events]
    calls += [(row.name, row.function.params) for row in machine.transitions]
    calls = [call for call in calls if call[0] in plan.ways]
    for _ in range(STATES):
        state = engines.state()
        for name, needs in calls:
            args = engines.args(needs)
            entries = [engines.running.instance(state) for _ in range(4)]
            looks, heard = (Looks(), Looks()), list[Any]()
            for entry, look in zip(entries[:2], looks, strict=True):
                entry.lawful.follow(look)
            for entry in entries[1:3]:
                entry.lawful.observe(heard.append)
            may = [each.lawful.may(name, *args) for each in entries]
            why = [each.lawful.explain(name, *args) for each in entries]
            found = [took(engines, each, name, args) for each in entries]
            assert found == [found[0]] * 4, name
            (kind, _), reasons, *_ = found[0]
            assert may == [kind != "refused"] * 4, name
            assert why == [reasons] * 4, name
            over = kind in ("done", "refused")
            assert ([each.count for each in looks], len(heard)) == ([over] * 2, 2 * over), name
            del why, reasons
            then, params = engines.rng.choice(calls)
            given = engines.args(params)
            again = [took(engines, each, then, given) for each in entries]
            assert again == [again[0]] * 4, (name, then)
