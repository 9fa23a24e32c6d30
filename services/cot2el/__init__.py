"""CoT2EL: explanation–label pairs out of a chain of thought."""
