"""Parallel read-only transactions: the windows of a node, after the design document of Leap.

`declaration.py` has the window of one node and one read-only transaction, `timing.py` how often
that is put back, `as_seed.py` what the document says where that goes wrong. All name the demands
that they meet. Of L1 to L24, the machines are for L7 to L10, L12 to L14, L16 to L21, and of L11 and
L15 what a window decides: that a write is held, and that a transaction which the window's end stops
is put back. With the composed system come the order of writes and of the queue (L11, L14, L15), who
posts to whom (L2 to L6), and that no other thread writes in a read-only window (L22, L23). L1 is
background, L24 a list of tests.
"""
