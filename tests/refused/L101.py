"""A class whose source nobody can read."""

from lawful import Machine

exec("class Lost(Machine):\n    sent: int = 0\n", {"Machine": Machine, "__name__": __name__})
