"""`python -m tests.fuzz`: all phases and all checks of Schemathesis; the last line is JSON."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from bench.environment import environment
from tests.fuzz.running import ALL_PHASES, fuzz, prepared


def main() -> int:
    """0 where no check failed and enough was tried."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--examples", type=int, default=50, help="most of an operation (50)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--phases", default=ALL_PHASES)
    parser.add_argument("--least", type=int, default=5_000, help="cases, or it counts as failed")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, prepared(Path(folder)) as client:
        found = fuzz(client, examples=asked.examples, seed=asked.seed, phases=asked.phases)
    sys.stderr.write(found.said)
    said = {"cases": found.cases, "failed": found.failed, "seconds": round(found.seconds, 1)}
    print(json.dumps({"fuzz": said, "environment": environment(seed=asked.seed)}))  # noqa: T201
    return int(found.failed or found.cases < asked.least)


if __name__ == "__main__":
    sys.exit(main())
