"""Discourse units of a chain of thought: sentences, clauses, and what a connective begins."""
