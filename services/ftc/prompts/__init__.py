"""The few-shot examples of the extractor `llm`, twenty a label: versioned data of our own writing."""
