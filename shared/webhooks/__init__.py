"""Webhooks, as gateway and scheduler agree on them: which addresses, which URLs, the secret."""
