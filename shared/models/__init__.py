"""Models behind ports: protocols, bindings, and the catalogue of models."""
