"""Growth of parsers with their text: adversarial families, patterns, and what measures them."""
