"""Rules on how a store links its records. They report what a format noted (`StoreProblem`), and are loaded only for formats that do."""
