"""The commands `touchstone reader train` and `touchstone reader gate`, which train and test the
reader (a small text classifier)."""

from __future__ import annotations

import sys
from collections.abc import Sequence

USAGE = "usage: touchstone reader {train,gate} [--help]"


def main(arguments: Sequence[str]) -> int:
    """Run `train` or `gate`; return 2 for another command. Imports Torch only when needed."""
    command = arguments[0] if arguments else ""
    if command == "train":
        from training.reader import train

        train.main(arguments[1:])
    elif command == "gate":
        from training.reader import gate

        gate.main(arguments[1:])
    else:
        sys.stderr.write(f"{USAGE}\n")
        return 2
    return 0
