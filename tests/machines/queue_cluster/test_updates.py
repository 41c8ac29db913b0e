"""A member brings a new node up to date while others go on: all of it is explored."""

from __future__ import annotations

import pytest

from lawful.machines.queue_cluster.joining import Updatee, Updater
from lawful.machines.queue_cluster.updates import UpdatesFixed
from lawful.spec.resolve import resolve
from tests.machines.checked import checked, counts


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        ("rejecting", (1_054, 10_361, 19)),
        *(
            pytest.param(*row, marks=pytest.mark.nightly)
            for row in (
                ("scope", (2_059, 10_962, 22)),
                ("wiring", (8_574, 41_742, 24)),
                ("several", (22_618, 139_722, 25)),
                ("crowded", (12_860, 95_308, 24)),
                ("dead_letters", (86_942, 984_942, 37)),
                ("behind", (98_286, 951_967, 26)),
            )
        ),
    ],
)
def test_everything_holds(scope: str, expected: tuple[int, int, int]) -> None:
    assert counts(checked(UpdatesFixed, scope)) == expected


def test_it_has_the_machines_of_a_service() -> None:
    assert resolve(UpdatesFixed).parts == {"Updatee": Updatee, "Updater": Updater}
