"""The command line, `touchstone`. Its modules are imported when first used, so that the help works
without optional packages."""
