"""Runs the service on one machine, including Redis and PostgreSQL. Start it with `python -m
cli.stack serve` or `python -m cli.stack demo`. The module `stack` starts everything, `servers`
Redis and PostgreSQL, and `processes` the service's processes."""
