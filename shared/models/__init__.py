"""Models: the protocols (ports) that metrics use, their implementations, and the catalogue of
models."""
