"""The scheduler sends again what was lost, carries batches on, and purges what is old."""
