"""Parallel read-only transactions: the windows of a node, after the design document of Leap.

`declaration.py` declares the windows of one node, `transaction.py` one read-only transaction,
`requests.py` the path of a request through the threads. `as_seed.py` restores the document's text
where it goes wrong. `callers.py` judges what becomes of a transaction by what was done with it.
`steps.py`, `system.py` and `system_as_seed.py` declare a whole node, repaired and as the document
describes it; `in_time.py` declares the repaired one under a clock. `closing.py` declares how
threads share the window, and how they end (L-B10). `demands.py` lists where each demand of the
document, L1 to L24, is met.

L1 is background. L23 is met as far as a machine can: a transaction here has nothing that it could
write; whether the interpreter of transactions writes anything is out of scope. The document does
not let a block end a window, so that a block waits for at most one whole window (L-B13). A `get_`
request may overtake a write of its own client: that is part of the design (L-B9), and exploration
shows that it happens.
"""
