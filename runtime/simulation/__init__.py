"""A world in which a service runs with simulated time, threads and network, from one seed."""
