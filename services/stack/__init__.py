"""One machine: a real Redis and a real PostgreSQL from wheels, and our processes beside them.

`python -m services.stack serve` and `python -m services.stack demo`. Read in this order:
`stack` (the whole), `redis_server` and `postgres_server` (the engines), `child` and `supervisor`
(our processes, started again when they die), `demo` (the examples through the real API).
"""
