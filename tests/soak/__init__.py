"""Many batches of several tenants while workers are killed: `make soak`."""
