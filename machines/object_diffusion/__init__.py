"""Object diffusion, inbound, after `object-diffusion.md` (ObjectDiffusion V2).

`declaration.py` declares one peer and its decision, `attribution.py` the choice of a peer for each
object, and `registry.py` all peers with the rounds of decisions; a service embeds the registry.
`connection.py` composes one inbound with one outbound peer, `system.py` a node with several peers.
`as_seed.py` and `conditions.py` contain the variants for which the document is silent or its
implementation erred. `demands.py` lists where each demand of the document, O1 to O43, is met.

O43 compares the design with another one, and is no demand. O9 is met as far as a machine can: to
wait is a refusal, and the service waits. Of O28, no other peer gets an ack for a rejected object;
that its peer is adversarial is the document's own conclusion. Peers are asked in a fixed order, not
in a random one; the objects of a round begin anywhere (O-B9). The service provides the thread's
period (O3) and the time limits (O-B7).
"""
