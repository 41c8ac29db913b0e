"""One replica among its clients and the group: everything that it answers is explored."""

from __future__ import annotations

import pytest

from lawful.machines.queue_cluster.acceptance import ClientsFixed
from lawful.machines.queue_cluster.joining import Updatee
from lawful.spec.resolve import resolve
from tests.machines.checked import checked, counts


@pytest.mark.nightly
def test_everything_holds() -> None:
    result = checked(ClientsFixed)
    assert counts(result) == (20_278, 191_948, 22)


def test_it_has_the_replica_of_a_service() -> None:
    assert resolve(ClientsFixed).parts == {"Updatee": Updatee}
