"""The HTML pages of the service. `page_route` has the errors, log-in and headers of every page.
`result_tables` shows any result as tables. `templates` renders the templates. The page of a single
metric is in `services/<metric>/page.py`."""
