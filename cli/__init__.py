"""Commands that work on the service's machine: `models.toml`, weights, API keys."""
