"""The three variants of FTC: the patterns that extract, and the W that is the score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from shared.contracts import Variant


@dataclass(frozen=True, slots=True, kw_only=True)
class FtcVariant:
    printed_patterns: bool  # the paper's patterns alone, as printed
    score: Literal["w", "w_normalized"]
    warnings: tuple[str, ...] = ()


VARIANTS: dict[Variant, FtcVariant] = {
    "robust": FtcVariant(printed_patterns=False, score="w_normalized"),
    "paper": FtcVariant(printed_patterns=True, score="w"),
    "reference": FtcVariant(
        printed_patterns=True,
        score="w",
        warnings=("no code was released: variant reference answers as variant paper",),
    ),
}
