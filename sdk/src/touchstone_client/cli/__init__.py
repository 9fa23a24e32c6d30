"""The command line, `touchstone`. Modules are imported at their first use, so that help needs no
extra.
"""
