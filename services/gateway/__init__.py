"""The gateway. It receives HTTP requests and writes ledger rows and queue messages. It loads no
model code."""
