"""`touchstone`: the command line. It speaks to the public API over HTTP; `models` also looks after
this machine's `models.toml` and weights."""
