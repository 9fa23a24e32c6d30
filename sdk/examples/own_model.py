"""Score explanations of your own model, which is listed in the service's `models.toml`."""

import os

from touchstone_client import Touchstone

ts = Touchstone()
name = os.environ.get("MODEL", "embedded-sentiment")
print(ts.models.get(name).labels)
print(ts.ice(model=name, text="A warm and funny film.", rationale=["warm", "funny"]))
