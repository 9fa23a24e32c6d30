"""`python -m tests.tiny_models make FOLDER --like PRESET`: a random tiny model as this preset's."""

from __future__ import annotations

import argparse
from pathlib import Path

from tests.tiny_models.causal import CAUSAL, save_causal
from tests.tiny_models.encoders import ENCODERS, save_encoder


def main(arguments: list[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.tiny_models", description=__doc__)
    make = parser.add_subparsers(required=True).add_parser("make", help="write one into a folder")
    make.add_argument("folder", type=Path)
    make.add_argument("--like", required=True, choices=sorted([*ENCODERS, *CAUSAL]))
    make.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args(arguments)
    if asked.like in CAUSAL:
        save_causal(asked.folder, CAUSAL[asked.like], asked.seed)
    else:
        save_encoder(asked.folder, ENCODERS[asked.like], asked.seed)


if __name__ == "__main__":
    main()
