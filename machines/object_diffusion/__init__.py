"""Object diffusion, inbound, after `object-diffusion.md` (ObjectDiffusion V2).

`declaration.py` is one peer and its decision, `attribution.py` which object is downloaded from
whom, and `registry.py` all peers with the rounds of decisions: what a service embeds.
`connection.py` composes one inbound with one outbound peer, `system.py` a node with several.
`as_seed.py` and `conditions.py` are the same where the document is silent or its implementation
erred. `demands.py` says where each demand of the document, O1 to O43, is met.

O43 compares with another design, and is none. O9 is met as far as a machine can: waiting is a
refusal, and the service waits. Of O28, that a rejected object is acked by nobody else is met, that
its peer is adversarial is the document's own conclusion. Peers are asked in their order, and not in
a random one; the objects of a round begin anywhere (O-B9). The thread's period (O3) and the time
limits (O-B7) are the service's.
"""
