"""From model to diagnostics: finds the rules, runs them, and says what the whole of their findings means."""
