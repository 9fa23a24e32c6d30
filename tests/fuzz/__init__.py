"""Schemathesis on the running service: `make fuzz`."""
