"""The commands of the command line: one module for each, with a function of the module's name.

A command takes its options (`options`) and where its answer goes (`output`), and returns an exit
code (`exit_codes`). `lawful.cli` imports a command's module when the command runs, because the
engine that it needs may not be installed.
"""
