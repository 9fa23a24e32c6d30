"""Reproduces the papers' tables for models of your choice: `touchstone bench`.

The module of a paper defines its requests and tables. Read in this order: `command`, `run`,
`protocol`, `tables`, `columns`, then a paper.
"""
