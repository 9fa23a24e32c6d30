"""`touchstone`: the command line. It speaks to the public API over HTTP and knows nothing else."""
