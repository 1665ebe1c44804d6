"""Error texts of providers, and what they mean for a stored session: `explain_error(text)` finds one inside a pasted log too.

The entries are data: one module a provider, one entry a rule of that provider's contract.
"""

from __future__ import annotations

from doctor.analysis.errors_catalogue.search import ErrorMatch, explain_error, find_errors, load_entries

__all__ = ["ErrorMatch", "explain_error", "find_errors", "load_entries"]
