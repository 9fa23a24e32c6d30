"""The scheduler keeps the promises: what was lost is sent again, what is old is purged."""
