"""Ask a model of your own: one that the service's models.toml names."""

import os

from touchstone_client import Touchstone

ts = Touchstone()
name = os.environ.get("MODEL", "embedded-sentiment")
print(ts.models.get(name).labels)
print(ts.ice(model=name, text="A warm and funny film.", rationale=["warm", "funny"]))
