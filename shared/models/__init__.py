"""Models: the interfaces that metrics use, their implementations, and the catalogue of models."""
