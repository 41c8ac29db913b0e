"""Programs that run a class of transitions' own tests: `FILE CLASS` are their arguments."""

from __future__ import annotations

# Some of their tests measure whether a thread waits for a second; on a loaded machine it is longer.
PATIENT = """
import unittest

def waited(case, first, second, *rest, delta=None, close=unittest.TestCase.assertAlmostEqual):
    if delta is None:
        close(case, first, second, *rest)
    else:
        case.assertTrue(second - delta <= first <= second + 0.9, first)

unittest.TestCase.assertAlmostEqual = waited
"""
# Nothing may be decided by transitions itself.
RUN = (
    PATIENT
    + """
import importlib, json, logging, sys, unittest
import transitions.extensions.factory
from transitions.extensions import asyncio
from lawful.runtime.interop import async_drop_in, decided, drop_in, locked

def asked(*args):
    raise AssertionError("transitions was asked")

def counted(step, make=decided.ProposedStep.make):
    steps.append(step)
    return make(step)

logging.disable(logging.CRITICAL)
steps = []
decided.ProposedStep.make = counted
for cls in transitions.Transition, asyncio.AsyncTransition:
    cls._eval_conditions = cls._change_state = asked
transitions.Event._process = asyncio.AsyncEvent._process = asyncio.AsyncTransition.execute = asked
ours = {
    "Machine": drop_in.LawfulMachine,
    "LockedMachine": locked.LockedLawfulMachine,
    "AsyncMachine": async_drop_in.AsyncLawfulMachine,
    # A test of asynchronous machines that takes this one has no nested states.
    "HierarchicalAsyncMachine": async_drop_in.AsyncLawfulMachine,
}
transitions.Machine = ours["Machine"]
made = transitions.extensions.factory._CLASS_MAP
made[False, False, False, False] = ours["Machine"]
made[False, False, True, False] = ours["LockedMachine"]
made[False, False, False, True] = ours["AsyncMachine"]
module = importlib.import_module(f"tests.{sys.argv[1]}")
for name in ours:
    setattr(module, name, ours[name])
suite = unittest.defaultTestLoader.loadTestsFromTestCase(getattr(module, sys.argv[2]))
result = unittest.TextTestRunner(stream=sys.stderr).run(suite)
wrong = [str(test) for test, _ in (*result.failures, *result.errors, *result.skipped)]
print(json.dumps([result.testsRun, len(steps), wrong]))
"""
)
# Nested machines stay theirs. What their events do is compared with the imported declaration.
NESTED = (
    PATIENT
    + """
import importlib, json, logging, sys, unittest
from transitions.extensions import nesting
from lawful import Refused
from lawful.runtime.interop import nested, text

logging.disable(logging.CRITICAL)
counts = {"steps": 0, "refusals": 0, "ignored": 0, "parallel": 0, "stopped": 0, "unknown": 0}
wrong, running, declared = [], [], {}

def declaration(machine):
    rows = [
        (trigger, source, [(row, row.dest, len(row.conditions)) for row in several])
        for trigger, event in machine.events.items()
        for source, several in event.transitions.items()
    ]
    quiet = [text.ignores(machine, state) for state in machine.states]
    known = declared.get(id(machine.models))
    if known is None or known[:3] != (rows, list(machine.states), quiet):
        writer = text.DeclarationWriter(machine, automatic=True, whole=False)
        found = writer.imported(())
        known = rows, list(machine.states), quiet, writer, found, found.load(), machine
        declared[id(machine.models)] = known
    return known[3:6]

def compared(record, machine):
    if isinstance(record["before"], list):
        counts["parallel"] += 1
        return
    try:
        flat = nested.flattened(machine)
    except ValueError:
        counts["parallel"] += 1
        return
    if record["failed"] and record["after"] is None:
        counts["stopped"] += 1
        return
    writer, found, cls = declaration(flat)
    event = found.events.get(record["trigger"])
    where = record["trigger"], record["before"]
    rows = [row for row in writer.rows if (row.trigger, row.source) == where]
    answers = {
        clause.inputs[0].name: record["answers"][condition]
        for row in rows
        for clause, condition in zip(row.clauses, row.of.conditions)
        if condition in record["answers"]
    }
    place = cls.lawful.resolved.world.enums["Place"]
    entry = cls.lawful.state(state=place(record["before"]))
    if event is None:
        counts["unknown"] += 1
        return
    args = [answers.get(each.name, False) for each in found.inputs[event]]
    try:
        entry.lawful.take(event, *args)
        outcome = "steps" if rows else "ignored"
    except Refused:
        outcome = "refusals"
    wanted = "steps" if record["taken"] else "refusals"
    if record["served"] is None and not record["failed"]:
        wanted = "ignored"
    after = record["after"] or record["before"]
    if (outcome, entry.state.value) == (wanted, after):
        counts[wanted] += 1
    else:
        wrong.append([*where, outcome, entry.state.value, wanted, after])

def event(machine, event_data, trigger, run=nesting.HierarchicalMachine._trigger_event):
    before = place_of(machine, event_data.model)
    record = {"trigger": trigger, "before": before, "taken": False, "after": None, "answers": {},
              "failed": True, "served": True}
    running.append(record)
    try:
        result = run(machine, event_data, trigger)
        record["failed"] = event_data.error is not None
        return result
    finally:
        running.pop()
        compared(record, machine)

def place_of(machine, model):
    tree = machine.build_state_tree(getattr(model, machine.model_attribute),
                                    machine.state_cls.separator)
    return nesting._build_state_list(tree, machine.state_cls.separator)

def execute(row, event_data, run=nesting.NestedTransition.execute):
    result = run(row, event_data)
    if running and result:
        running[-1]["taken"] = True
    return result

def updated(event_data, tree, run=nesting.NestedTransition._update_model):
    run(event_data, tree)
    if running:
        running[-1].update(after=place_of(event_data.machine, event_data.model), taken=True)

def checked(condition, event_data, run=nesting.Transition.condition_cls.check):
    result = run(condition, event_data)
    if running:
        running[-1]["answers"][condition] = condition.target if result else not condition.target
    return result

def result_of(machine, res, model, trigger, run=nesting.HierarchicalMachine._check_event_result):
    running[-1]["served"] = res
    return run(machine, res, model, trigger)

nesting.HierarchicalMachine._trigger_event = event
nesting.HierarchicalMachine._check_event_result = result_of
nesting.NestedTransition.execute = execute
nesting.NestedTransition._update_model = staticmethod(updated)
nesting.Transition.condition_cls.check = checked
module = importlib.import_module(f"tests.{sys.argv[1]}")
suite = unittest.defaultTestLoader.loadTestsFromTestCase(getattr(module, sys.argv[2]))
result = unittest.TextTestRunner(stream=sys.stderr).run(suite)
wrong += [str(test) for test, _ in (*result.failures, *result.errors, *result.skipped)]
same = counts["steps"] + counts["refusals"] + counts["ignored"]
print(json.dumps([result.testsRun, same, counts["parallel"], wrong]))
"""
)
