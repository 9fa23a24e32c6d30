"""The API routes. Each module covers one kind of resource and has a `router`."""
