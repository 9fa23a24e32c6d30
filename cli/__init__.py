"""Commands that run on the service's machine. They manage `models.toml`, weights and API keys."""
