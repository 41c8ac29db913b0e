"""What tests of every folder use: where the project is, and how long a test waits."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Seconds until a test that waits for what must happen gives up. Only a test that would wait for
# ever comes to that, however busy the machine is.
PATIENCE = 600.0
