"""The service on one machine: Redis and PostgreSQL from wheels, and our processes.

`python -m cli.stack serve` and `python -m cli.stack demo`. Read in this order: `stack` (everything
together), `servers` (Redis and PostgreSQL), `processes` and `liveness` (our processes, restarted
when they exit or stop responding), `startup` (the wait), `demo` (the examples over the API).
"""
