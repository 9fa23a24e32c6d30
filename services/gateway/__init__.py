"""The gateway: HTTP in, ledger rows and queue messages out. It loads no model code."""
