"""The ledger: PostgreSQL holds the truth about every job; the broker only gives hints.

Read in this order: `tables` (what is kept), `jobs` (accept, look up, cancel), `idempotency`
(one key, one job), `leases` (claim, renew, finish: the worker's side), `recovery` (the
scheduler's side), `migrate` (the schema).
"""
