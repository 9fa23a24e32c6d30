"""The routes, one noun a module; each has a `router`."""
