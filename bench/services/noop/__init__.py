"""A service that does nothing, so that what is measured is the way to it and back."""
