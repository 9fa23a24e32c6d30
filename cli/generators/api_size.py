"""The command `python -m cli.generators.api_size`, which measures the size of the API's
description. It fails above a limit, so that the API does not grow unnoticed."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

from cli.generators.api_reference import DESCRIPTION, METHODS

FIELDS = {"HatexscoreRequest": 16, "IceRequest": 20}
LIMITS = {"operations": 45, "schemas": 200, "bytes": 400_000, **FIELDS}


def counts(description: Mapping[str, Any]) -> dict[str, int]:
    """Return the size of the API's description: the numbers of operations, schemas and bytes, and
    the number of fields of some requests."""
    methods = (name for path in description["paths"].values() for name in path)
    schemas = description["components"]["schemas"]
    compact = json.dumps(description, ensure_ascii=False, separators=(",", ":"))
    return {
        "operations": sum(method in METHODS for method in methods),
        "schemas": len(schemas),
        "bytes": len(compact.encode()),
        **{name: len(schemas[name]["properties"]) for name in FIELDS},
    }


def main() -> int:
    """Print the counts. Return 1 if a count is above its limit."""
    numbers = counts(json.loads(DESCRIPTION.read_text("utf-8")))
    for name, count in numbers.items():
        sys.stdout.write(f"{name}: {count:,} of {LIMITS[name]:,}\n")
    return int(any(count > LIMITS[name] for name, count in numbers.items()))


if __name__ == "__main__":
    sys.exit(main())
