"""`python -m doctor` is the command `amplifier-doctor`."""

from __future__ import annotations

import sys

from doctor.cli import main

if __name__ == "__main__":
    sys.exit(main())
