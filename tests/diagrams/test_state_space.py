"""The graph of reachable states as DOT text."""

from __future__ import annotations

from lawful.diagrams.state_space import Arrow, Node, text


def test_states_events_and_what_is_violated() -> None:
    states = [Node(["n = 0"], True), Node(['s = "a\\b"'], False, ["small"])]
    steps = [Arrow(0, 1, ["up(1)", "up(2)"]), Arrow(1, 1, ["look()"])]
    lines = [line.strip() for line in text("M", states, steps, None).splitlines()]
    assert lines[0] == 'digraph "M" {'
    assert lines[4:] == [
        'label="M"',
        r'0 [label="n = 0\l" color="#33475b" penwidth=2.5]',
        r'1 [label="s = \"a\\b\"\lviolates small\lwithout change: look()\l" color="#b3261e"'
        ' fontcolor="#b3261e" penwidth=2.5]',
        r'0 -> 1 [label="up(1)\lup(2)\l"]',
        "}",
    ]
