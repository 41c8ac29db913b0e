"""One replica among its clients and the group: everything that it answers is explored."""

from __future__ import annotations

import pytest

from lawful.machines.queue_cluster.acceptance import ClientsFixed
from lawful.machines.queue_cluster.joining import Updatee
from lawful.spec.resolve import resolve
from tests.machines.checked import checked, counts


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        ("alone", (3_805, 26_114, 27)),
        *(
            pytest.param(*row, marks=pytest.mark.nightly)
            for row in (
                ("scope", (20_278, 191_948, 22)),
                ("wiring", (30_067, 359_881, 22)),
                ("ringing", (15_176, 139_232, 22)),
                ("dead_letters", (23_248, 358_724, 21)),
                ("rejecting", (7_190, 62_822, 31)),
                ("destroying", (63_580, 590_987, 33)),
                ("rewiring", (919, 4_651, 7)),
            )
        ),
    ],
)
def test_everything_holds(scope: str, expected: tuple[int, int, int]) -> None:
    result = checked(ClientsFixed, scope)
    assert counts(result) == expected


def test_it_has_the_replica_of_a_service() -> None:
    assert resolve(ClientsFixed).parts == {"Updatee": Updatee}
