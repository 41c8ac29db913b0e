"""A member brings a new node up to date while others go on: all of it is explored."""

from __future__ import annotations

import pytest

from lawful.machines.queue_cluster.joining import Updatee, Updater
from lawful.machines.queue_cluster.updates import UpdatesFixed
from lawful.spec.resolve import resolve
from tests.machines.checked import checked, counts


@pytest.mark.nightly
def test_everything_holds() -> None:
    assert counts(checked(UpdatesFixed)) == (2_059, 10_962, 22)


def test_it_has_the_machines_of_a_service() -> None:
    assert resolve(UpdatesFixed).parts == {"Updatee": Updatee, "Updater": Updater}
