"""Model weights in memory, and the queue in front of their device. Used by every service that holds
models."""
