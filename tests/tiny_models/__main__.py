"""`python -m tests.tiny_models make FOLDER --like PRESET`: a random tiny model as this preset's."""

from __future__ import annotations

import argparse
from pathlib import Path

from tests.tiny_models.encoders import ENCODERS, save_encoder


def main(arguments: list[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.tiny_models", description=__doc__)
    make = parser.add_subparsers(required=True).add_parser("make", help="write one into a folder")
    make.add_argument("folder", type=Path)
    make.add_argument("--like", required=True, choices=sorted(ENCODERS))
    make.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args(arguments)
    save_encoder(asked.folder, ENCODERS[asked.like], asked.seed)


if __name__ == "__main__":
    main()
