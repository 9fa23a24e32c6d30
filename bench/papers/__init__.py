"""The papers' tables of models side by side: `touchstone bench`.

A paper's file says what is asked of whom and which tables there are; read `command`, `run`,
`protocol`, `tables`, `columns`, then a paper.
"""
