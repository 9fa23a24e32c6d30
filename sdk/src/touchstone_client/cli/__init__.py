"""The command line, `touchstone`. Modules are imported when they are first used, so that the help
works without extras."""
