"""Faults done to a running service, and what must hold afterwards: `make chaos`."""
