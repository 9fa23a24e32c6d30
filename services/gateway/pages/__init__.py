"""The pages: what the service says, for people who would rather look than read.

Read in this order: `routing` (every page's way in and out: log-in, errors, headers), `home`,
`trying`, `joblist`, `jobpage`, `batchlist`, `batchpage`, `batchfiles` (the pages), `metrics/` (one
view a metric), `marks` and `charts/` (marked text and pictures), `sessions` and `forgery` (who
looks).
"""
