"""Commands that run on the service's machine. They manage the configured models (`models.toml`),
their weights, and API keys."""
