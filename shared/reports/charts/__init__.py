"""Pictures of pages and batch reports: Vega-Lite specifications, drawn on the server."""
