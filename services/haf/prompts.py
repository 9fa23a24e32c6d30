"""The conversations of the three stages: each asks anew, none remembers another.

Source: Mothilal et al., arXiv:2506.19113, Table 6; the layout of the user's turn follows the
released code. The texts are data, in `prompts.json`, with a version of their own.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from services.haf.report import Stage, Stance
from shared.models.calls import Prompt, Turn

INDIVIDUAL: tuple[Stage, Stage] = ("sufficiency", "necessity")


@lru_cache(maxsize=1)
def written() -> dict[str, Any]:
    """The prompts as data."""
    found: dict[str, Any] = json.loads(Path(__file__).with_name("prompts.json").read_text("utf-8"))
    return found


def version() -> str:
    """Of the prompts: it stands in every report's parameters."""
    return str(written()["version"])


def justify(text: str, draw: int) -> Prompt:
    """Is the text toxic, and why?"""
    return _prompt(written()["justify"], _text(text), draw)


def uphold(stage: Stage, stance: Stance, text: str, reasons: Sequence[str], draw: int) -> Prompt:
    """Is any additional reason required? `maybe` is asked as toxic (section 3.1: "likely")."""
    side = written()["non-toxic" if stance == "non-toxic" else "toxic"]
    kind = "individual" if stage in INDIVIDUAL else stage
    head = "REASON" if stage == "sufficiency" else "REASON(S)"
    listed = "".join(f"{place}. {reason}\n" for place, reason in enumerate(reasons, 1))
    return _prompt(side[kind], f"{_text(text)}\n\n{head}: \n{listed}", draw)


def _text(text: str) -> str:
    return f"\nTEXT: \n{text.lstrip()}"


def _prompt(instruction: str, content: str, draw: int) -> Prompt:
    turns = (Turn(role="system", content=instruction), Turn(role="user", content=content))
    return Prompt(turns=turns, draw=draw)
