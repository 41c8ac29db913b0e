"""Parallel read-only transactions: the windows of a node, after the design document of Leap.

`declaration.py` has the window of one node, `transaction.py` one read-only transaction, `timing.py`
how often that is put back, `as_seed.py` what the document says where that goes wrong; `requests.py`
the way of a request through the threads; `steps.py`, `system.py` and `system_as_seed.py` a whole
node, as it has to be and as written. `closing.py` is the end of the pool (L-B10), `executing.py`
the main thread with the task that it executes (L-B11). `demands.py` says where each demand of the
document, L1 to L24, is met.

L1 is background. L23 is met as far as a machine can: a transaction has nothing here that it could
write; that the interpreter of transactions writes nothing is not ours to show. The document does
not let a block end a window, so that a block waits for a whole one at most (L-B13).
That a `get_` request overtakes a write of its own client is part of the design (L-B9); it is shown
to happen, and nothing prevents it.
"""
