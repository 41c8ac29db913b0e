"""Many questions as one job of Spark: each is a row, and a worker answers it without the others.

Of a session it needs data frames alone, so any session will do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from lawful.spec.quick_dataclass import dataclass

from .arrow_rows import Row, batch_of, rows_of
from .level_jobs import PARTITIONS

TASKS_EACH = 4  # Tasks for each partition of the session: questions take unequal time.
Answer = Callable[[Row], Row]  # It can be pickled, and gives the same row wherever it runs.


def answered(
    session: Any, questions: Sequence[Row], schema: str, answer: Answer, columns: str
) -> Any:
    """A data frame with the row that `answer` gives for each question, in no order.

    `schema` is of the questions, `columns` of the answers; see `arrow_rows`. Spark works them out
    when the frame is used, and again for each use unless it is persisted. Raises `ValueError`
    where there is no question: an empty answer would look like a good one.
    """
    if not questions:
        raise ValueError("there is nothing to ask")
    tasks = min(len(questions), TASKS_EACH * int(session.conf.get(PARTITIONS)))
    rows = [(i % tasks, *question) for i, question in enumerate(questions)]
    frame = session.createDataFrame(rows, f"task int, {schema}").repartitionById(tasks, "task")
    return frame.drop("task").mapInArrow(Answers(answer, columns), columns)


@dataclass(frozen=True, slots=True)
class Answers:
    """The task: batches of questions in, a batch for each answer out."""

    answer: Answer
    columns: str

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Batches of `columns`."""
        for question in rows_of(batches):
            yield batch_of([self.answer(question)], self.columns)
