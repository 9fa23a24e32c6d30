"""The ledger: PostgreSQL records every job, batch and delivery. The queue only carries ids.

Read in this order: `tables` (the schema), `jobs` (accept, look up, cancel), `leases` (claim, renew,
finish: the worker's side), `recovery` (the scheduler's side), `migrate`.
"""
