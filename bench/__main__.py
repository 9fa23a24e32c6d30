"""`python -m bench`: run every bench and write what it measured into `bench/RESULTS.md`."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

BENCHES = ("hatexscore", "ftc_hlv", "inference")
RESULTS = Path(__file__).with_name("RESULTS.md")
MARK = "<!-- measured: rewritten by `make bench` -->"


def main() -> int:
    """Each bench in a process of its own; the last line that it prints is its JSON."""
    argparse.ArgumentParser(prog="python -m bench", description=__doc__).parse_args()
    sections = [measured(name) for name in BENCHES]
    kept = RESULTS.read_text("utf-8").partition(MARK)[0]
    RESULTS.write_text(f"{kept}{MARK}\n\n" + "\n".join(sections), "utf-8")
    print(f"written to {RESULTS}")
    return 0


def measured(name: str) -> str:
    """Run one bench; its section of the results."""
    command = [sys.executable, "-m", f"bench.{name}"]
    ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)  # noqa: S603
    found: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    day = datetime.now(UTC).date().isoformat()
    about = ", ".join(f"{key} {value}" for key, value in found["environment"].items())
    lines = [f"## {name}", "", f"{day}, `python -m bench.{name}`, {about}", ""]
    lines += ["| ratio | |", "|---|---|"]
    lines += [f"| `{key}` | {value} |" for key, value in found["ratios"].items()]
    lines += ["", "```json", json.dumps(found["figures"], indent=1), "```", ""]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
