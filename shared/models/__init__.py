"""Models behind ports: what a metric asks, who answers, and what is known of each model."""
