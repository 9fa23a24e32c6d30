"""Where the three variants differ: which patterns extract, and which W is the score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from shared.contracts import Variant


@dataclass(frozen=True, slots=True, kw_only=True)
class FtcVariant:
    """One variant."""

    printed: bool  # the paper's patterns alone, as printed
    score: Literal["w", "w_normalized"]
    warnings: tuple[str, ...] = ()


VARIANTS: dict[Variant, FtcVariant] = {
    "robust": FtcVariant(printed=False, score="w_normalized"),
    "paper": FtcVariant(printed=True, score="w"),
    "reference": FtcVariant(
        printed=True,
        score="w",
        warnings=("no code was released: variant reference answers as variant paper",),
    ),
}
