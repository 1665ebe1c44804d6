"""From diagnostics to a better file: edits are planned here without writing anything; only `storage` writes."""
