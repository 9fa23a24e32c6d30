"""Webhooks in the ledger: what is owed to whom, and what became of it.

Read in this order: `tables` (what is kept), `endpoints` (the tenant's side), `events` (an event
makes its deliveries), `deliveries` (the scheduler's side), `failures` (list and replay).
Source: Standard Webhooks 1.0.0.
"""
