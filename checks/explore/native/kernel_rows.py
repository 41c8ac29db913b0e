"""The arrays and numbers of a search, for the functions that machine code is made of.

The functions of `state_table`, `search_kernel` and `team_kernel` are text for `llvm_text`, and
never run as Python: numbers are 64 bits and wrap around. `WORDS`, `NOTES`, `NOTED`, `ROUNDS` and
`LABELLED` become the machine's: the words of a state, the cells of `info`, how many of them are
added up, the cell of `w` that has the rounds of long loops that are left, and whether rules come
with arguments, as labels. What `folding.shape` gives becomes a number, too. `Arrays` holds what
they work on, and `control` says how far they are.
"""

from __future__ import annotations

from collections.abc import MutableSequence

Cells = MutableSequence[int]

WORDS = NOTES = NOTED = ROUNDS = 1
LABELLED: int = 0
FOLDED = PIECE = PIECES = ROOT = 1
DONE, FULL, ROOM, ESCAPED, STOPPED, PAUSED, SPENT = range(7)  # Why a search came back.
BATCH = 512  # Successors gathered before they are looked up: enough to wait for memory once.
RECENT = 1 << 13  # Cells in which the states are that were met a moment ago.
LOW = (1 << 32) - 1
RULE = (1 << 16) - 1  # The bits of a label, and of an origin, that are the number of a rule.
# Where `control` says what.
NEXT, LAST, COUNT, MOST, FAILING, FAILED, MASK, STATES, PLACES, EDGES = range(10)
FIRST, ENOUGH, LEFT, BEGIN, TURN, CLAIMED, COMMITTING, STATUS = range(10, 18)
PIECED, PIECE_MASK, PIECE_ROOM, LOCK, NEW_ROOM, UNFOLDED, CONTROLS = range(18, 25)
GROUP = 16  # Places of a table that are looked at together: those of a line of the cache.
GROUPED = (1 << GROUP) - 1
WHOLE = ~(GROUP - 1)
CHUNK = 1 << 7  # States that one of several threads expands at a time.
SLOTS = 1 << 5  # Chunks that may be expanded before the first of them is kept.
# A slot tells of an expanded chunk: its number plus one, how many states it leads to that were not
# there, why its thread came back, and from which state on others are to be expanded; then notes.
READY, NEW, WHY, THEN, SLOT = range(5)


w: Cells = []  # The cells that the steps work on.
store: Cells = []
table: Cells = []
parents: Cells = []
rules: Cells = []
out: Cells = []
info: Cells = []
totals: Cells = []
firsts: Cells = []
control: Cells = []
batch: Cells = []  # Of states that are to be looked up the words,
origins: Cells = []  # the state that each comes from, and by which rule in the low 16 bits,
hashes: Cells = []  # the hash,
likely: Cells = []  # and which state may be the same; see `state_table.look_ahead`.
doubtful: Cells = []  # Places of those that may be new.
recent: Cells = []
opened: Cells = []  # The words of the state that is expanded.
pieces: Cells = []
piece_table: Cells = []
ends: Cells = []
edges: Cells = []
labels: Cells = []
marks: Cells = []
shared: Cells = []  # Of several threads: what `control`, `totals` and `firsts` are of the search.
sums: Cells = []
earliest: Cells = []
slots: Cells = []  # Of chunks that are not kept yet,
fresh: Cells = []  # and the states that they lead to: each its hash, its origin, and its words.
ARRAYS = tuple(name for name, kind in __annotations__.items() if kind == "Cells")


def expand(*given: Cells | int) -> int:
    """The step function of the machine; see `expansion.successors`."""
    raise NotImplementedError


def prefetch(row: Cells, at: int) -> None:
    """Tell the processor that this place is looked at soon."""
    raise NotImplementedError


def copied(row: Cells, to: int, other: Cells, of: int, count: int) -> None:
    """Put so many numbers of 64 bits from another row there, several at a time."""
    raise NotImplementedError


def scanned(row: Cells, at: int, tag: int, mask: int) -> int:
    """Look at the `GROUP` numbers of 32 bits from there. Return a bit for each that is not 0 and
    has this tag where the mask has no bits, and above those a bit for each that is 0."""
    raise NotImplementedError


def rest() -> None:
    """Let other threads go on."""
    raise NotImplementedError


def locked(row: Cells, at: int) -> int:
    """Whether the number there was 0: then it is 1 now."""
    raise NotImplementedError


def claimed(row: Cells, at: int) -> int:
    """The number there, which is one more now: no other thread gets the same."""
    raise NotImplementedError


def seen(row: Cells, at: int) -> int:
    """A number of 64 bits; what was written before another thread told it is seen."""
    raise NotImplementedError


def tell(row: Cells, at: int, number: int) -> None:
    """Put a number of 64 bits there, for other threads; they see what was written before."""
    raise NotImplementedError


def acquired(row: Cells, at: int) -> int:
    """A number of 32 bits; what was written before it was released is seen."""
    raise NotImplementedError


def placed(row: Cells, at: int, number: int) -> int:
    """Whether the number of 32 bits there was 0: then it is this one now."""
    raise NotImplementedError


def released(row: Cells, at: int, number: int) -> None:
    """Put a number of 32 bits there, for others who may look at it at any time."""
    raise NotImplementedError
