"""The ledger, a PostgreSQL database of all jobs, batches and deliveries. The message queue only
carries ids. Read in this order: `tables` (the schema), `jobs` (accept, look up, cancel), `leases`
(claim, renew, finish: the worker's side), `recovery` (the scheduler's side), `migrate`."""
