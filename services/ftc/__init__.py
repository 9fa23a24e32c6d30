"""FTC: faithfulness of an explanation of natural language inference, through counterfactuals.

Read in this order: `contract`, `score`, `logic`, `extraction`, `transformation`, `gather`,
`kernel`.
"""
