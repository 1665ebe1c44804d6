"""From diagnostics to people and machines. Nothing here reads or writes files, the environment or the clock."""
