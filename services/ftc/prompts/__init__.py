"""Few-shot examples of the extractor `llm`, twenty a label: versioned data, written by us."""
