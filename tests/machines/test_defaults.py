"""The parameters of what services embed have the values of the documents, or of a declaration's
text where its document has none."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest

from lawful import Machine
from lawful.machines.message_scheduler.declaration import Scheduler
from lawful.machines.message_scheduler.service.settings import Config as Overlay
from lawful.machines.object_diffusion.connection import Outbound
from lawful.machines.object_diffusion.declaration import InboundPeerFixed
from lawful.machines.object_diffusion.registry import Registry
from lawful.machines.object_diffusion.service.settings import Config as Node
from lawful.machines.queue_cluster.declaration import QueueOwnerFixed
from lawful.machines.queue_cluster.joining import Updatee
from lawful.machines.queue_cluster.service.settings import Config as Broker
from lawful.machines.read_only_windows.declaration import WindowFixed
from lawful.machines.read_only_windows.service.settings import Config as Executor
from lawful.machines.read_only_windows.transaction import Transaction
from lawful.machines.unicast.declaration import ReceiverEntryFixed, SenderEntryFixed
from lawful.machines.unicast.service.settings import Config as Endpoint
from lawful.spec import ir
from lawful.spec.resolve import resolve

# The options of `read-only-transactions.md` [seed:152-157].
OF_THE_DOCUMENT = {
    "read_only_transaction_num_threads": 0,
    "read_write_window_time": 500,
    "read_only_window_time": 200,
    "read_only_transaction_threshold": 0,
    "read_only_window_margin": 5,
    "max_read_only_transaction_time": 150,
}
# Reaping is on; acks are 500 ms apart [seed:56].
OF_AN_ENTRY = {"conn_expiry_timeout": 120.0, "conn_close_timeout": 60.0, "reaping": True}


@pytest.mark.parametrize(
    ("cls", "expected"),
    [
        (WindowFixed, {**OF_THE_DOCUMENT, "latency": 10}),
        (Transaction, {"max_read_only_transaction_time": 150}),
        (SenderEntryFixed, OF_AN_ENTRY),
        (ReceiverEntryFixed, {**OF_AN_ENTRY, "ack_interval": 0.5, "largest_window": 4096}),
        (Scheduler, {"least": 2**24, "greatest": 2**32 - 1, "patience": 0}),
        (QueueOwnerFixed, {"slice_seconds": 0.02}),
        (Updatee, {"ring": 0}),
        (
            InboundPeerFixed,
            {
                "max_num_objects_outstanding": 100,
                "max_num_objects_inflight": 50,
                "max_num_ids_req": 10,
                "reply_timeout": 10,
            },
        ),
        (Outbound, {"max_num_objects_outstanding": 2}),
        (
            Registry,
            {
                "target_object_redundancy": 3,
                "max_num_objects_outstanding": 100,
                "max_num_objects_inflight_per_peer": 50,
                "max_num_objects_inflight_total": 500,
                "max_num_ids_req": 10,
                "reply_timeout": 10,
            },
        ),
    ],
    ids=lambda given: getattr(given, "__name__", ""),
)
def test_parameters_have_these_values_if_none_are_given(
    cls: type[Machine], expected: dict[str, Any]
) -> None:
    parameters = resolve(cls).machine.parameters
    found = {p.name: p.default.value for p in parameters if isinstance(p.default, ir.Const)}
    assert found == expected


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (Executor, {**OF_THE_DOCUMENT, "latency": 10}),
        (Endpoint, {"ack_interval": 0.5, "conn_expiry_timeout": 120.0, "conn_close_timeout": 60.0}),
        (Broker, {"slice_seconds": 0.05}),  # The machine has 0.02.
        (Overlay, {"least": 2**24, "greatest": 2**32 - 1}),
        (
            Node,
            {
                "redundancy": 1,  # The machine has 3.
                "outstanding": 100,
                "inflight_per_peer": 50,
                "inflight_total": 500,
                "ids_per_request": 10,
                "reply_timeout": 10,
            },
        ),
    ],
    ids=["windows", "unicast", "cluster", "scheduler", "diffusion"],
)
def test_a_service_gives_a_machine_these_values_if_none_are_given(
    config: type[Any], expected: dict[str, Any]
) -> None:
    found = asdict(config())
    assert {name: found[name] for name in expected} == expected
