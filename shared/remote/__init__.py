"""Models behind the queue: the ports as messages to `model.inference` and `model.similarity`.

Read in this order: `call` (one call and its reply list), `answering` (the model worker's side),
`proxies` (the ports on the caller's side).
"""
