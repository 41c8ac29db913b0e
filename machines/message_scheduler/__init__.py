"""A scheduler of messages to peers, after the design document of rippled's MessageScheduler.

`declaration.py` has one request and one notification, `channel.py` one channel, `as_seed.py` what
the document says where that goes wrong. All name the demands that they meet: of R1 to R40, the
machines are for R3, R4, R9 to R16, R18 to R23, R26 to R30, R32 to R35 and R40. With the composed
system come the order of turns and the size of offers (R7, R8, R24, R25), how many channels a peer
has and who counts them (R5, R6), callbacks in the caller's thread, and the locks (R17, R37 to R39);
with the service, whose peers and lifetimes these are (R31, R36). R1 and R2 are background.
"""
