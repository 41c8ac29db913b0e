"""Mappings of several machines in one file.

skip = ["HEARTBEAT"]       # what stands here is for all machines

[preparation]              # so is this, key by key
format = "csv"

[machines.Order]           # the mapping of a machine; what it says itself decides
instance = "$.order"

[machines.Payment]
instance = "$.payment"
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lawful.spec.codec.as_json import is_object
from lawful.spec.ir import Json

from ..mapping import TraceMapping, mapping_data, mapping_of
from ..sources import ReplayError

MACHINES = "machines"


def read_mappings(path: str | Path) -> tuple[TraceMapping, ...]:
    """The mappings in a file, JSON or TOML by its ending: one, or one for each machine. Raises
    ReplayError."""
    try:
        data = mapping_data(path)
        if not is_object(data) or MACHINES not in data:
            return (mapping_of(data),)
        return tuple(_named(name, told) for name, told in mappings_in(data).items())
    except (OSError, ValueError) as error:
        raise ReplayError(f"{path}: {error}") from error


def _named(name: str, told: Mapping[str, Json]) -> TraceMapping:
    try:
        return mapping_of(told)
    except ValueError as error:
        raise ValueError(f"{MACHINES}.{name}: {error}") from error


def mappings_in(data: Mapping[str, Json]) -> dict[str, dict[str, Json]]:
    """The mappings in a table with `machines`, by machine. Raises ValueError."""
    shared = {name: value for name, value in data.items() if name != MACHINES}
    tables = data[MACHINES]
    if not is_object(tables) or not tables:
        raise ValueError(f"{MACHINES} has to have a table for each machine")
    if "machine" in shared:
        raise ValueError(f"machine and {MACHINES} both name machines; give one")
    out: dict[str, dict[str, Json]] = {}
    for name, own in tables.items():
        if not is_object(own):
            raise ValueError(f"{MACHINES}.{name} has to be a table")
        if "machine" in own:
            raise ValueError(f"{MACHINES}.{name} names the machine already; leave machine out")
        out[name] = {**shared, **own, "machine": name}
        of_all, of_one = shared.get("preparation"), own.get("preparation")
        if is_object(of_all) and is_object(of_one):
            out[name]["preparation"] = {**of_all, **of_one}
    return out
