"""`python -m lawful`."""

import sys

from lawful.cli import main

sys.exit(main())
