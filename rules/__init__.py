"""The rules, one module each. They are installed as `doctor.rules`, found by `doctor.analysis.registry`; nothing imports one by name."""
