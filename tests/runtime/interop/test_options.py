"""Every option of the installed transitions changes the declaration or is named in the report."""

from __future__ import annotations

import contextlib
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from transitions import Machine, State, Transition
from transitions.extensions import asyncio, diagrams, factory, locking, markup, nesting, states
from transitions.extensions.states import add_state_features

from lawful.runtime.interop import from_transitions

PAGE = Path(__file__).parents[3] / "docs" / "transitions.md"
BUILDERS = (
    *("__init__", "add_model", "add_transition", "add_transitions", "add_ordered_transitions"),
    *("add_state", "add_states", "_add_dict_state"),
)
ROWS: list[Any] = [["go", "a", "b"]]
VOLATILE: Any = (states.Volatile, states.Tags, states.Timeout, vars(states)["Retry"])


class Model:
    def log(self, *args: Any) -> None: ...


class Box(contextlib.nullcontext[None]): ...


def machine(
    *,
    of: Any = Machine,
    features: tuple[Any, ...] = (),
    b: Mapping[str, Any] | None = None,
    row: Mapping[str, Any] | None = None,
    then: Callable[[Any], None] | None = None,
    **options: Any,
) -> Any:
    """A machine of two states and a row; `b` and `row` are options of the second and the row."""
    kind: Any = type("Own", (of,), {})
    given: dict[str, Any] = {
        "model": None,
        "states": ["a", {"name": "b", **(b or {})}],
        "transitions": [{"trigger": "go", "source": "a", "dest": "b", **(row or {})}],
        "initial": "a",
        **options,
    }
    made = add_state_features(*features)(kind)(**given) if features else kind(**given)
    if then is not None:
        then(made)
    return made


def then(method: str, *args: Any, **options: Any) -> dict[str, Any]:
    """What else is called on the machine."""

    def call(made: Any) -> None:
        getattr(made, method)(*args, **options)

    return {"then": call}


LOCKED: dict[str, Any] = {"of": locking.LockedMachine}
GRAPH: dict[str, Any] = {"of": diagrams.GraphMachine, "graph_engine": "mermaid"}
ERROR: dict[str, Any] = {"features": (states.Error,), "auto_transitions": False}
# How an option is given, and how it is left out.
Sample = tuple[dict[str, Any], dict[str, Any]]
MACHINE: dict[str, Sample] = {
    "model": ({"model": Model(), "row": {"before": "lgo"}}, {"row": {"before": "lgo"}}),
    "states": ({"states": ["a", "b", "c"]}, {}),
    "initial": ({"initial": "b"}, {}),
    "transitions": ({"transitions": []}, {}),
    "send_event": ({"send_event": True}, {}),
    "auto_transitions": ({"auto_transitions": False}, {}),
    "ordered_transitions": ({"ordered_transitions": True}, {}),
    "ignore_invalid_triggers": ({"ignore_invalid_triggers": True}, {}),
    "name": ({"name": "boiler"}, {}),
    "queued": ({"queued": True}, {}),
    "model_attribute": ({"model_attribute": "status"}, {}),
    "model_override": ({"model_override": True}, {}),
    "machine_context": ({"machine_context": [Box()]}, {"of": locking.LockedMachine}),
    "model_context": (
        {**then("add_model", Model(), model_context=[Box()]), **LOCKED},
        {**then("add_model", Model()), **LOCKED},
    ),
    "markup": ({"markup": {"states": ["x"], "transitions": []}, "states": None}, {}),
    "auto_transitions_markup": ({"auto_transitions_markup": True}, {}),
    "title": ({"title": "Mine", **GRAPH}, GRAPH),
    "show_conditions": ({"show_conditions": True, **GRAPH}, GRAPH),
    "show_auto_transitions": ({"show_auto_transitions": True, **GRAPH}, GRAPH),
    "show_state_attributes": ({"show_state_attributes": True, **GRAPH}, GRAPH),
    "graph_engine": (GRAPH, {"of": markup.MarkupMachine}),
    "use_pygraphviz": ({**GRAPH, "use_pygraphviz": False}, {"of": markup.MarkupMachine}),
    **{
        option: ({option: "log"}, {})
        for option in (
            *("before_state_change", "after_state_change", "prepare_event", "finalize_event"),
            *("on_exception", "on_final"),
        )
    },
}
for needs in ("markup", "auto_transitions_markup"):
    MACHINE[needs] = (
        {**MACHINE[needs][0], "of": markup.MarkupMachine},
        {"of": markup.MarkupMachine},
    )
MACHINE["machine_context"][0]["of"] = locking.LockedMachine
STATE: dict[str, Sample] = {
    "name": ({"states": ["a", "c"]}, {}),
    "final": ({"b": {"final": True}}, {}),
    "ignore_invalid_triggers": (
        then("add_states", "c", ignore_invalid_triggers=True),
        then("add_states", "c"),
    ),
    "on_enter": (then("add_states", "c", on_enter="log"), then("add_states", "c")),
    "on_exit": (then("add_states", "c", on_exit="log"), then("add_states", "c")),
    "tags": ({"b": {"tags": ["hot"]}, "features": VOLATILE}, {"features": VOLATILE}),
    "timeout": (
        {"b": {"timeout": 2, "on_timeout": "log"}, "features": VOLATILE},
        {"b": {"timeout": 1, "on_timeout": "log"}, "features": VOLATILE},
    ),
    "on_timeout": (
        {"b": {"timeout": 1, "on_timeout": "go"}, "features": VOLATILE},
        {"b": {"timeout": 1, "on_timeout": "log"}, "features": VOLATILE},
    ),
    "volatile": ({"b": {"volatile": dict}, "features": VOLATILE}, {"features": VOLATILE}),
    "hook": ({"b": {"hook": "box"}, "features": VOLATILE}, {"features": VOLATILE}),
    "retries": (
        {"b": {"retries": 2, "on_failure": "log"}, "features": VOLATILE},
        {"b": {"on_failure": "log"}, "features": VOLATILE},
    ),
    "on_failure": ({"b": {"on_failure": "log"}, "features": VOLATILE}, {"features": VOLATILE}),
    "accepted": ({"b": {"accepted": True}, **ERROR}, ERROR),
    "on_final": (
        {"b": {"on_final": "log"}, "of": nesting.HierarchicalMachine},
        {"of": nesting.HierarchicalMachine},
    ),
}
ROW: dict[str, Sample] = {
    "trigger": ({"row": {"trigger": "run"}}, {}),
    "source": ({"row": {"source": "b"}}, {}),
    "dest": ({"row": {"dest": None}}, {}),
    "label": ({"row": {"label": "quickly"}, **GRAPH}, GRAPH),
    **{
        option: ({"row": {option: "log"}}, {})
        for option in ("conditions", "unless", "prepare", "before", "after")
    },
    "loop": (then("add_ordered_transitions", loop=False), then("add_ordered_transitions")),
    "loop_includes_initial": (
        then("add_ordered_transitions", loop_includes_initial=False),
        then("add_ordered_transitions"),
    ),
}


def options_of(function: Any) -> set[str]:
    """The parameters of a function, and what it takes out of its further keywords."""
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    found = {p.name for p in inspect.signature(function).parameters.values() if p.kind not in kinds}
    found |= set(re.findall(r"kwargs\.(?:pop|get)\([\"'](\w+)", inspect.getsource(function)))
    return found - {"self", "cls", "state"}


def upstream(kind: type[Any], modules: Sequence[Any], methods: tuple[str, ...]) -> set[str]:
    """The options of all classes of a kind in the installed transitions."""
    held: list[dict[str, Any]] = [module.__dict__ for module in modules]
    every = [each for names in held for each in names.values()]
    classes = {each for each in every if isinstance(each, type) and issubclass(each, kind)}
    found: set[str] = set()
    for cls in {base for each in classes for base in each.__mro__[:-1]}:
        for method in methods:
            if method in vars(cls):
                found |= options_of(vars(cls)[method])
    return found


MODULES = (asyncio, diagrams, factory, locking, markup, nesting, states)


def test_every_option_of_the_installed_version_has_a_sample() -> None:
    nested = {"remap"}  # The import of nested states reads what they have become.
    machines = upstream(Machine, MODULES, BUILDERS)
    assert machines - MACHINE.keys() - STATE.keys() - ROW.keys() == nested
    assert upstream(State, MODULES, ("__init__",)) - STATE.keys() == {"initial"}
    assert upstream(Transition, MODULES, ("__init__",)) - ROW.keys() == set()


@pytest.mark.filterwarnings("ignore:Please replace 'use_pygraphviz")
@pytest.mark.parametrize(
    ("option", "sample"), [*MACHINE.items(), *STATE.items(), *ROW.items()], ids=lambda each: each
)
def test_an_option_changes_the_declaration_or_is_named(option: str, sample: Sample) -> None:
    given, left_out = (from_transitions(machine(**options)) for options in sample)
    given.load()
    assert (given.text, given.problems) != (left_out.text, left_out.problems), option


def test_the_page_names_every_option() -> None:
    page = PAGE.read_text(encoding="utf-8")
    section = page.partition("| option |")[2].partition("\n\n")[0]
    named = set(re.findall(r"`(\w+)`", section))
    assert {*MACHINE, *STATE, *ROW, "remap"} - named == set()


def test_options_of_classes_of_ones_own_are_named() -> None:
    class Colored(State):
        def __init__(self, *args: Any, color: str = "", **options: Any) -> None:
            super().__init__(*args, **options)
            self.color = color

    class Weighted(Transition):
        def __init__(self, *args: Any, weight: int = 0, **options: Any) -> None:
            super().__init__(*args, **options)
            self.weight = weight

    class Own(Machine):
        state_cls, transition_cls = Colored, Weighted

        def __init__(self, *args: Any, speed: int = 1, **options: Any) -> None:
            self.speed = speed
            super().__init__(*args, **options)

    made: Any = Own(
        None,
        states=["a", {"name": "b", "color": "red"}],
        transitions=[
            {"trigger": "go", "source": "a", "dest": "b", "weight": 3},
            {"trigger": "go", "source": "b", "dest": "b", "weight": 4},
        ],
        initial="a",
        auto_transitions=False,
        speed=7,
    )
    found = from_transitions(made)
    doc = inspect.getdoc(found.load())  # Without indentation, as Python 3.13 keeps it.
    assert doc is not None
    assert doc.splitlines()[2:] == ["color of b: red", "speed: 7", "Its class is Own."]
    assert re.findall(r"weight: \d", found.text) == ["weight: 3", "weight: 4"]
