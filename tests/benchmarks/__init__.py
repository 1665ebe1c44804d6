"""Ratios against public yardsticks: `python -m tests.benchmarks`. Nothing here runs under pytest's clock."""
