"""`transitions`: imports its machines as declarations, and gives its interface to our machines.

found = from_transitions(machine)       # an existing transitions.Machine
found.problems                          # what is wrong in it
Path("imported.py").write_text(found.text)
Imported = found.load()                 # the same declaration as a class, at once

names            names that a declaration can have
reading          conditions whose source is in the language, over a model's attributes
transition_rows  the rows of a transitions.Machine
text             rows as the text of a declaration
flaws            problems in the rows
timeouts         Timeout states
nested           nested states as flat ones
options          options that a declaration does not have
features         behaviour of the machine that a declaration of its rows does not contain
decided          a transitions.Machine in which a declaration decides; imports transitions
drop_in, bound   its two forms: with the imported declaration, and with one of your own
upstream         what the next two are derived from
locked           the first form with the contexts of a LockedMachine
async_drop_in    the first form for asynchronous machines
unsupported      what these machines refuse
"""

from .text import Imported, from_transitions

__all__ = ["Imported", "from_transitions"]
