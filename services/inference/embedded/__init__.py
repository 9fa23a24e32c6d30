"""The small models that ship with Touchstone: adapters on base models from PyPI packages. The bases
are all-MiniLM-L6-v2 and multilingual-e5-small. `adapter` loads an adapter, `e5` reads the
multilingual base, and `training` trains the models. `hate/README.md` is a model card."""
