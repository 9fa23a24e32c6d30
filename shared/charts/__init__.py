"""Pictures for the pages: Vega-Lite specifications, drawn to SVG on the server."""
