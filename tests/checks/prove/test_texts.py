"""Text in proofs: all text is one value, and what it is made of has to have a value."""

from __future__ import annotations

import textwrap

import pytest

from lawful.checks.prove.induction import Induction
from lawful.checks.verdict import Verdict
from lawful.spec import ops
from lawful.spec.lower import sized
from tests.spec import texts


def test_the_parts_of_a_text_need_a_value() -> None:
    """By induction alone: a search would find the key that is missing, too."""
    text = """
        class M(Machine):
            m: dict[Nat, Nat] = {0: 1}
            @transition()
            def told(self, k: Nat) -> str:
                return f"{self.m[k]} is here"
            @transition()
            def made(self, k: Nat) -> str:
                return f"{k} is here"
        """
    induction = Induction(sized(texts.resolved(textwrap.dedent(text)).machine, {}))
    answers = (induction.answer(*asked) for asked in induction.questions())
    found = {o.obligation: o.verdict for o in answers if o.property == "undefined"}
    assert found == {
        "the start": Verdict.PROVED,
        "told": Verdict.UNKNOWN,
        "made": Verdict.PROVED,
    }


@pytest.mark.parametrize("method", ["join", *sorted(ops.TEXTS)])
def test_a_method_of_text_asks_that_its_text_has_a_value(method: str) -> None:
    texted = f"str({{}}).{method}()" if method != "join" else "', '.join([str({})])"
    text = f"""
        class M(Machine):
            m: dict[Nat, Nat] = {{0: 1}}
            @transition()
            def told(self, k: Nat) -> str:
                return {texted.format("self.m[k]")}
            @transition()
            def made(self, k: Nat) -> str:
                return {texted.format("k")}
        """
    induction = Induction(sized(texts.resolved(textwrap.dedent(text)).machine, {}))
    answers = (induction.answer(*asked) for asked in induction.questions())
    found = {o.obligation: (o.verdict, o.note) for o in answers if o.property == "undefined"}
    assert found["made"][0] == Verdict.PROVED
    verdict, why = found["told"]
    assert (verdict, "not encodable" in why) == (Verdict.UNKNOWN, False)
