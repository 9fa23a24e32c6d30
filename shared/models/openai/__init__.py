"""The binding `http`: a causal model behind an OpenAI-compatible server (vLLM and its like).

Such a server writes text with log-probabilities and gives those of a given text; it shows neither
attention nor gradients. Read in this order: `model` (the ports), `text` (generation, the server's
tokenizer, pieces to characters), `scoring` (log-probabilities of a given text, three ways) and
`connection` (the wire: retries, errors, the key; what servers answer).
"""
