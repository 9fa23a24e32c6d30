"""The charts of pages and batch reports: Vega-Lite specifications that are drawn on the server."""
