"""What tests of every folder use: where the project is, how long a test waits, browsers."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Seconds until a test that waits for what must happen gives up. Only a test that would wait for
# ever comes to that, however busy the machine is.
PATIENCE = 600.0


def unconfined(command: list[str]) -> list[str]:
    """The command without the limit of address space that the nightly run gives its processes: a
    browser reserves more."""
    return ["bash", "-c", 'ulimit -S -v "$(ulimit -H -v)"; exec "$0" "$@"', *command]
