"""A service that does nothing, to measure the cost of everything around a service."""
