"""CoT2EL: derives explanation–label pairs from a chain of thought."""
