"""Commands that work on the service's own machine: `models.toml`, weights, API keys."""
