"""`python -m costkit` is the `costkit` command."""

import sys

from costkit.cli import main

sys.exit(main())
