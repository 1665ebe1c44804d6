"""From disk to model. Only this room reads users' files, and it never writes."""
