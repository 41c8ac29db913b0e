"""Explores a module with its configuration as TLC does, without any liveness."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.checks.tla.meaning import Env, Function, Model, Operator, State, follow, value
from tests.checks.tla.reading import Parser, Tree, tokens


@dataclass(frozen=True)
class Module:
    """A module that was read: its definitions, assumptions and variables."""

    top: dict[str, Any]
    assumptions: list[Tree]
    variables: list[str]


@dataclass(frozen=True)
class Config:
    """What a configuration names; `witnesses` are the invariants that are to be false."""

    constants: dict[str, str]
    invariants: list[str]
    properties: list[str]
    witnesses: list[str]


def read_module(text: str) -> Module:
    """The module; every word of it is read."""
    parser = Parser(tokens(text))
    while parser.taken("-"):
        pass
    parser.take("MODULE")
    parser.take()
    while parser.taken("-"):
        pass
    top: dict[str, Any] = {}
    module = Module(top, [], [])
    while parser.word != "==":
        _unit(parser, module)
    top["VARIABLES"] = module.variables
    return module


def _unit(parser: Parser, module: Module) -> None:
    word = parser.word
    if word in ("EXTENDS", "CONSTANTS", "VARIABLES"):
        parser.take()
        names = [parser.take()]
        while parser.taken(","):
            names.append(parser.take())
        assert word == "EXTENDS" or not set(names) & set(module.top), f"{names} are taken"
        if word == "VARIABLES":
            module.variables.extend(names)
    elif word == "ASSUME":
        parser.take()
        module.assumptions.append(parser.expr())
    else:
        for name, params, body in parser.definition():
            assert name not in module.top, f"{name} is defined twice"
            module.top[name] = Operator(params, body, None)


def read_config(text: str) -> Config:
    """The configuration."""
    found = Config({}, [], [], [])
    place: list[str] | None = None
    for line in text.splitlines():
        words = line.split()
        if line.startswith("\\*"):
            if words[1] == "INVARIANT":
                found.witnesses.append(words[2])
            elif words[1] == "PROPERTY":
                found.properties.append(words[2])
        elif words[0] in ("INVARIANTS", "PROPERTIES"):
            place = found.invariants if words[0] == "INVARIANTS" else found.properties
        elif line.startswith(" ") and place is not None:
            place.append(words[0])
        elif line.startswith(" "):
            assert words[1] == "="
            found.constants[words[0]] = words[2]
    return found


@dataclass(frozen=True)
class Checked:
    """What exploring it came to: states, what was false somewhere, and of which steps."""

    distinct: int
    asked: tuple[str, ...]
    false: frozenset[str]


def check(module_text: str, config_text: str) -> Checked:
    """Every reachable state, with every invariant and step property judged in each."""
    module, config = read_module(module_text), read_config(config_text)
    models = {name: Model(of) for name, of in config.constants.items()}
    top = {**module.top, **models}
    start = Env(top, {}, {})
    assert all(value(each, start) is True for each in module.assumptions)
    states = list(dict.fromkeys(_states(module, start, "Init", False)))
    seen = set(states)
    asked = [*config.invariants, *config.witnesses]
    false: set[str] = set()
    steps = {name: body for name in config.properties if (body := _step_of(module, name))}
    for state in states:
        env = Env(top, {}, dict(state.items()))
        false.update(n for n in asked if n not in false and not value(("name", n, []), env))
        for after in _states(module, env, "Next", True):
            if after not in seen:
                seen.add(after)
                states.append(after)
            both = Env(top, {}, env.state, after)
            moved = [name for name in steps if name not in false and state != after]
            false.update(name for name in moved if not value(steps[name], both))
    return Checked(len(seen), (*asked, *steps), frozenset(false))


FAULTS = {
    "bounds": "within_bounds",
    "asserts": "asserts_hold",
    "undefined": "all_defined",
    "ambiguous": "unambiguous",
}


class Exploring:
    """A module whose steps are asked for one state at a time."""

    def __init__(self, module_text: str, config_text: str) -> None:
        self.module, config = read_module(module_text), read_config(config_text)
        models = {name: Model(of) for name, of in config.constants.items()}
        self.top = {**self.module.top, **models}

    def steps(self, state: Function) -> tuple[set[Function], set[str]]:
        """The states that follow, and the faults of the steps that lead to none."""
        env = Env(self.top, {}, state)
        wrong = {f for f, name in FAULTS.items() if not value(("name", name, []), env)}
        return set(_states(self.module, env, "Next", True)), wrong


def _states(module: Module, env: Env, name: str, prime: bool) -> Iterator[Function]:
    for made in follow(module.top[name].body, env, {}, prime):
        assert set(made) == set(module.variables), f"{name} leaves variables open: {made}"
        yield Function(made)


def _step_of(module: Module, name: str) -> Tree | None:
    """The action of `[][A]_v`; None for what is about a whole behaviour."""
    match module.top[name].body:
        case ("prefix", "[]", ("square", action)):
            found: Tree = action
            return found
        case _:
            return None


__all__ = ["Checked", "State", "check"]
