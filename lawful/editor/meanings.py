"""What the parts of a declaration mean, in a sentence that an editor shows beside them."""

from __future__ import annotations

from collections.abc import Mapping

MEANINGS: Mapping[str, str] = {
    "transition": "One way in which the state changes. A false guard refuses it.",
    "event": "A call that the machine accepts or refuses; transitions serve it.",
    "initial": "A start: one of these is called first.",
    "invariant": "It has to be true in every reachable state.",
    "step_property": "It has to be true of every step: `self` is the state before.",
    "reachable": "It has to be true in some reachable state.",
    "recoverable": "From every reachable state a state in which it is true can be reached.",
    "terminal": "The machine may stop where it is true: such a state is no deadlock.",
    "assume": "An assumption about parameters; exploration leaves out others, proofs assume it.",
    "constraint": "A bound: exploration does not enter a state in which it is false.",
    "eventually": "Every behaviour reaches a state in which it is true.",
    "eventually_always": "From some point on it is true in every state of every behaviour.",
    "infinitely_often": "It is true again and again in every behaviour.",
    "leads_to": "Whenever the first is true, the second is true then or later.",
    "refines": "Every step is a step of the abstract machine, or changes nothing of it.",
}
