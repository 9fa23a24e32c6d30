"""A service that does nothing, for measurements of the way to it and back."""
