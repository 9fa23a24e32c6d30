"""The HTML pages for people.

Read in this order: `page_route` (errors, log-in and headers of every page), `home`, `try_it`,
`jobs`, `texts`, `batches`, `batch_split`, `new_batches`, `score_again`, `drift`, `batch_report`
(the pages), `result_tables` (any result), `templates` (the templates, forms and cookies). The page
of a metric is in its folder: `services/<m>/page.py`.
"""
