"""The HTML pages for people.

Suggested reading order: `page_route` (errors, log-in and headers of every page), then the pages
`home`, `try_it`, `jobs`, `texts`, `batches`, `batch_split`, `new_batches`, `score_again`, `drift`
and `batch_report`. Last come `result_tables` (any result) and `templates` (the templates, forms and
cookies). The page of a metric is in the metric's folder: `services/<m>/page.py`.
"""
