"""The scheduler: the process that sends lost messages again, moves batches forward, and deletes old
data."""
