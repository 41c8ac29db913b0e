"""Object diffusion, inbound, after `object-diffusion.md` (ObjectDiffusion V2).

`declaration.py` is one peer and its decision: O2, O4-O27, O29, O30, O32, O37, O39; `as_seed.py` the
same where the document is silent and its implementation erred (O-B1, O-B2). `attribution.py` is one
round among all peers: O33-O36, O38. With the composed system come the map of all peers and the
thread that decides (O1, O3, O31), the pool and its lock (O28), disconnection (O40, O41, O42), and
the outbound side. O43 compares with another design.
"""
