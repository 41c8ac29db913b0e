"""The process of a command: `lawful`, and `python -m lawful`."""

import gc
import sys

# New objects after which Python looks for garbage in cycles. Its own 700 suit a process that lives
# for long, as a service does. A command makes few cycles, and what it makes lives until its end.
YOUNG = 100_000


def command() -> int:
    """Run the command of this process; the return value is the exit code."""
    if sys.argv[1:2] != ["run"]:
        gc.set_threshold(YOUNG)
    try:
        from .cli import main  # Imports make many objects, too.

        return main()
    finally:
        # The process ends: Python would look at every object again, and then once more.
        gc.freeze()


if __name__ == "__main__":
    sys.exit(command())
