"""Object diffusion, inbound, after `object-diffusion.md` (ObjectDiffusion V2).

`callbacks.py` declares the steps of one peer and its decision, `declaration.py` what holds of them,
`attribution.py` the choice of a peer for each object, and `registry.py` all peers with the rounds
of decisions, the pool's lock and the time limits; a service embeds the registry. `connection.py`
composes one inbound with one outbound peer, `callers.py` has an outbound peer that is asked for
anything, `system.py` a node with several peers, and `in_time.py` has that node under a clock.
`as_seed.py`, `connection_as_seed.py` and `conditions.py` contain the variants for which the
document is silent or its implementation erred. `demands.py` lists where each demand of the
document, O1 to O43, is met.

O43 compares the design with another one, and is no demand. O9 is met as far as a machine can: to
wait is a refusal, and the service waits. No other peer gets an ack for a rejected object (O28);
that its peer is adversarial is the document's own conclusion. Peers are asked in a fixed order, not
in a random one; each round begins with another object (O-B9). The service calls rounds again and
again (O3), and lets due timers fire, which ends connections whose peers do not answer (O-B7).
"""
