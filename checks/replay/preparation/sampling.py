"""Signs that spans were sampled: that others, and with them events, are missing from the file.

- `traceState` has `ot=th:...`, the rejection threshold of OpenTelemetry, above 0, or the older
  `ot=p:...` (https://opentelemetry.io/docs/specs/otel/trace/tracestate-probability-sampling/)
- the attribute `sampling.threshold`, with which the OpenTelemetry Collector marks log records
- the attribute `SampleRate` of Honeycomb, above 1
- the attributes `sampler.type` and `sampler.param` of Jaeger, on the first span of a trace
- `droppedEventsCount`: the SDK dropped events of the span

Head sampling without such a sign leaves nothing by which it could be recognised.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

THRESHOLD = 16**14  # A threshold has 56 bits; zeros at its end may be left out.
KEEP_ALL = ("const", "")


def sampled(owner: Mapping[str, Any], attributes: Mapping[str, Any]) -> str:
    """What says that a span, or a log record, is of a sample; empty where nothing does.

    `attributes` has the values by their names as in the file, with dots.
    """
    dropped = _number(owner.get("droppedEventsCount"))
    if dropped:
        return f"{dropped:.0f} events of a span were dropped"
    share = _share(str(owner.get("traceState", "")))
    if share is None and attributes.get("sampling.threshold"):
        share = _share(f"ot=th:{attributes['sampling.threshold']}")
    rate = _number(attributes.get("SampleRate"))
    if share is None and rate > 1:
        share = 1 / rate
    if share is not None and share < 1:
        return f"spans are a sample of {share:.3%}"
    kind = str(attributes.get("sampler.type", ""))
    whole = kind == "probabilistic" and _number(attributes.get("sampler.param")) == 1
    return "" if kind in KEEP_ALL or whole else f"spans are a sample ({kind})"


def _share(state: str) -> float | None:
    """The share of spans that are kept, by the entry `ot` of a trace state; None where it says
    nothing."""
    entries = dict(_pair(each, "=") for each in state.split(","))
    fields = dict(_pair(each, ":") for each in entries.get("ot", "").split(";"))
    try:
        if "th" in fields and len(fields["th"]) <= 14:
            return 1 - int(fields["th"].ljust(14, "0"), 16) / THRESHOLD
        return 2.0 ** -int(fields["p"]) if "p" in fields else None
    except ValueError:
        return None


def _pair(text: str, sign: str) -> tuple[str, str]:
    name, _, value = text.strip().partition(sign)
    return name, value


def _number(value: Any) -> float:
    """A number that may be a text; 0 where it is none."""
    try:
        return 0 if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        return 0
