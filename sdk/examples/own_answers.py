"""Computes HAF for answers that come from your own language model. No model of the service writes
text."""

import json
from pathlib import Path

from touchstone_client import Touchstone

request = json.loads(Path("haf.json").read_text("utf-8"))  # its text, and each stage's response
result = Touchstone().haf(text=request["text"], responses=request["responses"])
print(result.score, result.components.rs, result.components.rn)
