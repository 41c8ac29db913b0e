"""`AsyncLawfulMachine`, a replacement for `transitions.extensions.AsyncMachine`.

    machine = AsyncLawfulMachine(model, states=..., transitions=...)
    await model.go()

As in transitions, conditions and callbacks may be coroutines, those of one list run at once, and
a row that is taken cancels the model's other events that are waiting. A step of the declaration
waits for nothing: an event that is cancelled before its step changes nothing, one that is
cancelled after it has changed the state.
"""

from __future__ import annotations

from functools import partial
from typing import Any, cast

from . import upstream
from .decided import LOG, OVERTAKEN, DecidedRow, EventData, MachineError, ProposedStep
from .drop_in import DeclaredMachine, answers_of


class AsyncTransition(DecidedRow, upstream.AsyncTransition):
    """A row whose callbacks are awaited."""

    async def execute(  # type: ignore[override]  # As in the stubs of transitions.
        self, event_data: Any
    ) -> bool:
        """Take the row, if the declaration admits it now."""
        machine: AsyncLawfulMachine = event_data.machine
        await machine.callbacks(self.prepare, event_data)
        step = await machine.awaited(self, event_data)
        if step is None:
            return False
        if machine.state_of(step.entry) is not machine.states[self.source]:
            raise MachineError(OVERTAKEN.format(event_data.event.name, self.source))
        if not step.admitted():
            return False
        await machine.cancel_running_transitions(event_data.model, event_data.event.name)
        await machine.callbacks(machine.before_state_change, event_data)
        await machine.callbacks(self.before, event_data)
        await self._make(machine, event_data, step)
        await machine.callbacks(self.after, event_data)
        await machine.callbacks(machine.after_state_change, event_data)
        return True

    async def _make(self, machine: AsyncLawfulMachine, event_data: Any, step: ProposedStep) -> None:
        """Leave the state, make the step, enter the next state."""
        if self.dest is not None:
            await machine.get_state(self.source).exit(event_data)
        output = step.make_as_decided()
        if output is not None:
            event_data.output = output
        state: Any = machine.moved(event_data.model, step.entry)
        if self.dest is not None:
            event_data.state = state
            await state.enter(event_data)
            if machine.is_final(state, event_data.model):
                await machine.callbacks(machine.on_final, event_data)


class AsyncEvent(upstream.AsyncEvent):
    """A trigger that is awaited."""

    async def _trigger(  # type: ignore[override]  # As in the stubs of transitions.
        self, event_data: Any
    ) -> bool:
        machine: AsyncLawfulMachine = event_data.machine
        event_data.state = machine.get_model_state(event_data.model)
        try:
            event_data.result = await self._run(machine, event_data)
        except BaseException as error:
            LOG.error("%sthe trigger %s raised %r", machine.name, self.name, error)
            event_data.error = error
            if not machine.on_exception:
                raise
            await machine.callbacks(machine.on_exception, event_data)
        finally:
            try:
                await machine.callbacks(machine.finalize_event, event_data)
            except BaseException:
                LOG.exception("%sa finalize_event callback of %s", machine.name, self.name)
        return bool(event_data.result)

    async def _run(self, machine: AsyncLawfulMachine, event_data: Any) -> bool:
        state = event_data.state
        if state.name not in self.transitions:
            machine.unserved(event_data)
            return False
        await machine.callbacks(machine.prepare_event, event_data)
        for row in self.transitions[state.name]:
            event_data.transition = row
            if await row.execute(event_data):
                return True
        machine.refusal(event_data)
        return False


class AsyncLawfulMachine(DeclaredMachine, upstream.AsyncMachine):
    """Replaces `transitions.extensions.AsyncMachine`, as `LawfulMachine` replaces `Machine`.

    A condition is evaluated at most once for an event, as there; those of one row all at once.
    """

    transition_cls = AsyncTransition
    event_cls = AsyncEvent
    decided_by = (AsyncTransition, AsyncEvent)
    beside = frozenset({"AsyncMachine"})

    async def awaited(self, row: AsyncTransition, event_data: Any) -> ProposedStep | None:
        """The step of a row, when its conditions have been evaluated; None if the declaration has
        no such step."""
        made = self.declared(row, event_data)
        if made is None:
            return None
        answers = answers_of(event_data)
        asked = [(bool(c.target), n, c) for c, n in zip(row.conditions, row.asks, strict=True)]
        new = [each for each in asked if each[:2] not in answers]
        checks: list[Any] = [partial(c.check, event_data) for _, _, c in new]
        found = await self.await_all(checks)
        for (wanted, name, _), right in zip(new, found, strict=True):
            answers[wanted, name] = bool(right)
        for wanted, name, _ in asked:
            answers[name] = wanted is answers[wanted, name]
        return self.step(row, made, event_data)

    async def _can_trigger(self, model: Any, trigger: str, *args: Any, **named: Any) -> bool:
        """Whether a trigger would be taken: runs the `prepare` callbacks, and decides."""
        state, event = self.get_model_state(model), self.events.get(trigger)
        if event is None:
            return False
        event_data: Any = EventData(state, event, self, model, args, named)
        for row in event.transitions.get(state.name, ()):
            if row.dest is not None and not self.leads_somewhere(row):
                continue
            event_data.transition = row
            try:
                await self.callbacks(self.prepare_event, event_data)
                await self.callbacks(row.prepare, event_data)
                step = await self.awaited(cast("AsyncTransition", row), event_data)
                if step is not None and step.admitted():
                    return True
            except BaseException as error:
                event_data.error = error
                if not self.on_exception:
                    raise
                await self.callbacks(self.on_exception, event_data)
        return False
