"""The papers' tables of models side by side: `touchstone bench`.

A paper's file defines its requests and tables; read `command`, `run`, `protocol`, `tables`,
`columns`, then a paper.
"""
