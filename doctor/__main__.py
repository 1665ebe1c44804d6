"""`python -m doctor` is the command `amplifier-doctor`."""

from __future__ import annotations

from doctor.cli import run

if __name__ == "__main__":
    run()
