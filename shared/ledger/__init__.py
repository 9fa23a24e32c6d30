"""The ledger: PostgreSQL says what has happened to every job, batch and delivery.

The queue only carries ids. Read in this order: `tables` (what is kept), `jobs` (accept, look up,
cancel), `leases` (claim, renew, finish: the worker's side), `recovery` (the scheduler's side),
`migrate` (the schema).
"""
