"""What the earliest patch of the oldest supported Python needs besides: `python earlier.py`.

A requirement may hold for 3.11.0 to 3.11.2 alone (redis asks for async-timeout there, and Debian 12
has 3.11.2): an environment of a later patch does not have it, and a lock made of that would fail
there. Printed are the requirements of what is installed that hold at 3.11.0 and not here, as they
are written.
"""

from __future__ import annotations

import sys
from importlib.metadata import distributions

from pip._vendor.packaging.requirements import Requirement

EARLIEST = {"python_full_version": "3.11.0", "python_version": "3.11"}


def main() -> None:
    """One a line."""
    found = {
        one
        for package in distributions()
        for one in package.requires or ()
        if is_needed_earlier(Requirement(one))
    }
    sys.stdout.write("".join(f"{one}\n" for one in sorted(found)))


def is_needed_earlier(one: Requirement) -> bool:
    """Whether it holds for the earliest patch, and not for the interpreter that runs this."""
    if one.marker is None or one.marker.evaluate({"extra": ""}):
        return False
    return one.marker.evaluate({"extra": "", **EARLIEST})


if __name__ == "__main__":
    main()
