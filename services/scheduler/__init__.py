"""The scheduler: sends lost messages again, advances batches, and deletes old data."""
