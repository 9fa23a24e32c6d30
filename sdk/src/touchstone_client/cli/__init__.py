"""The command line, `touchstone`. Nothing is imported before it is used: help needs no extra."""
