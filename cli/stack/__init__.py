"""One machine: a real Redis and a real PostgreSQL from wheels, and our processes beside them.

`python -m cli.stack serve` and `python -m cli.stack demo`. Read in this order:
`stack` (the whole), `servers` (Redis and PostgreSQL), `processes` and `liveness` (ours, started
again when they die or fall silent), `startup` (the wait), `demo` (the examples by the real API).
"""
