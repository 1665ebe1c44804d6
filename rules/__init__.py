"""The rules, one module each. They are installed as `doctor.rules` and found by `doctor.analysis.registry`; nothing imports them by name."""
