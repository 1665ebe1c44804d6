"""One command a file: `register` declares its options, `run_…` does it and returns the exit code."""
