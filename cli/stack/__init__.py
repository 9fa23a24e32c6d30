"""The service on one machine: Redis and PostgreSQL from wheels, and our processes.

Start it with `python -m cli.stack serve` or `python -m cli.stack demo`. Suggested reading order:
`stack` (everything together), `servers` (Redis and PostgreSQL), `processes` and `liveness` (start
and restart of our processes), `startup` (the wait), `demo` (the examples).
"""
