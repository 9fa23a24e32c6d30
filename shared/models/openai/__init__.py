"""A causal model behind an OpenAI-compatible server, such as vLLM.

Such a server writes text with log-probabilities and scores given text. It shows neither attention
nor gradients. Read in this order: `model` (the model's methods), `server` (its abilities), `labels`
(a question about labels), `text` (generation, the server's tokenizer, tokens to characters),
`scoring` (log-probabilities of given text, three ways), `protocol` (requests and answers). The
transport is `shared.models.server_connection`.
"""
