"""`transitions`: its machines as declarations, and its interface over our machines.

found = from_transitions(machine)       # of an existing transitions.Machine
found.problems                          # what is wrong in it already
Path("imported.py").write_text(found.text)
Imported = found.load()                 # the same as a class, at once

names     names that a declaration can have
reading   conditions whose source is within the language, over a model's attributes
rows      what a transitions.Machine knows, as rows
text      rows as the text of a declaration
flaws     what is wrong in the rows
features  what the machine does that a declaration of its rows does not
bound     transitions.Machine, decided by a declaration; the only one that imports transitions
"""

from .text import Imported, from_transitions

__all__ = ["Imported", "from_transitions"]
