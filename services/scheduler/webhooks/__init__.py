"""The delivery of webhooks. Read: `delivering` (the loop), `sending` (one attempt), `connecting`
(no request ever reaches an internal address)."""
