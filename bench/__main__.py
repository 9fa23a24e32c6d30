"""`python -m bench`: runs every bench and writes its results into `bench/RESULTS.md`."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

BENCHES = ("hatexscore", "inference", "ice", "haf", "ftc_hlv", "gateway")
RESULTS = Path(__file__).with_name("RESULTS.md")
MARK = "<!-- measured: rewritten by `make bench` -->"


def main() -> int:
    """Run each bench in a separate process. The last line of its output is its result as JSON."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    known = ", ".join(BENCHES)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {known}; default: all")
    chosen = parser.parse_args().names or BENCHES
    if unknown := set(chosen) - set(BENCHES):
        parser.error(f"no such bench: {', '.join(unknown)}; there are: {known}")
    for name in chosen:
        section = measured(name)  # written at once: a bench that fails costs no other's figures
        RESULTS.write_text(with_section(RESULTS.read_text("utf-8"), name, section), "utf-8")
        print(f"{name}: written to {RESULTS}")
    return 0


def with_section(page: str, name: str, section: str) -> str:
    """Return the page with this bench's section replaced. Sections are in the order of BENCHES."""
    kept, _, rest = page.partition(MARK)
    old = {part.split("\n", 1)[0]: f"## {part}" for part in rest.split("## ")[1:]}
    sections = old | {name: section}
    order = [each for each in BENCHES if each in sections]
    return f"{kept}{MARK}\n\n" + "\n".join(sections[each].rstrip() + "\n" for each in order)


def measured(name: str) -> str:
    """Run one bench and return its section of the results."""
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
