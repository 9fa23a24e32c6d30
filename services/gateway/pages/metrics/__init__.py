"""One view a metric: from the request and the report to what its template shows."""
