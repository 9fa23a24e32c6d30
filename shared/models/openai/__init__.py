"""The binding `http`: a causal model behind an OpenAI-compatible server (vLLM and its like).

Such a server writes text with log-probabilities and tells those of a given text; it shows neither
attention nor gradients. Read in this order: `model` (the ports), `writing` (generation), `scoring`
(log-probabilities of a given text, three ways), `tokenizing`, `offsets` (pieces to characters),
`answers` (what servers say) and `connection` (the wire: retries, errors, the key).
"""
