"""The binding `http`: a causal model behind an OpenAI-compatible server (vLLM and its like).

Such a server writes text with log-probabilities and gives those of a given text; it shows neither
attention nor gradients. Read in this order: `model` (the ports), `server` (what this one offers),
`labels` (a question about labels), `text` (generation, the server's tokenizer, pieces to
characters), `scoring` (log-probabilities of a given text, three ways), `protocol` (requests and
answers); the wire is `shared.models.server_connection`.
"""
