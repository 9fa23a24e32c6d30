"""The lock of one target: what its extras need, out of pins with hashes on the input.

`python requirements/closure.py gateway < all.lock`. What needs what is asked of the packages that
are installed beside the interpreter that runs this. torch and what only its builds for GPUs need
have locks of their own.
"""

from __future__ import annotations

import re
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

from earlier import is_needed_earlier
from pip._vendor.packaging.requirements import Requirement
from pip._vendor.packaging.utils import canonicalize_name

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
ALONE = {"guide", "object-storage", "openvino"}  # beside the project, or on top of another target
OF_TORCH = re.compile(r"torch|nvidia-.*|triton|cuda-.*")


def main() -> None:
    """Read all pins, write the target's, in the same order."""
    project = tomllib.loads(PROJECT.read_text("utf-8"))["project"]
    extras = sys.argv[1].split(",")
    asked = [] if ALONE.issuperset(extras) else list(project["dependencies"])
    for extra in extras:
        asked += project["optional-dependencies"][extra]
    wanted = closure(asked)
    for entry in re.split(r"\n(?=\S)", sys.stdin.read().strip()):
        if canonicalize_name(entry.partition("==")[0].strip()) in wanted:
            sys.stdout.write(entry + "\n")


def closure(asked: list[str]) -> set[str]:
    """Names of these requirements and of all that they need here, without torch's own files."""
    seen: set[tuple[str, frozenset[str]]] = set()
    waiting = [(one, frozenset({""})) for one in map(Requirement, asked)]
    while waiting:
        one, extras = waiting.pop()
        is_here = not one.marker or any(one.marker.evaluate({"extra": each}) for each in extras)
        if not (is_here or is_needed_earlier(one)):
            continue
        name, chosen = canonicalize_name(one.name), frozenset({"", *one.extras})
        if (name, chosen) in seen or (name != "torch" and OF_TORCH.fullmatch(name)):
            continue
        seen.add((name, chosen))
        waiting += [(need, chosen) for need in map(Requirement, needs(name))]
    return {name for name, _ in seen} - {"torch"}


def needs(name: str) -> list[str]:
    """Of a package that only an earlier Python has, nothing: it is pinned alone."""
    try:
        return requires(name) or []
    except PackageNotFoundError:
        return []


if __name__ == "__main__":
    main()
