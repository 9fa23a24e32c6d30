"""The three variants of FTC. They differ in the patterns that extract phrases, in the score, and in
the comparison with chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from services.ftc.contract import DRAWS
from services.ftc.report import PhraseNull
from shared.contracts.messages import Variant


@dataclass(frozen=True, slots=True, kw_only=True)
class FtcVariant:
    printed_patterns: bool  # the paper's patterns alone, as printed
    score: Literal["w", "w_normalized"]
    null: PhraseNull = "any"  # what random phrases share with the explanation's
    draws: int = DRAWS["paper"]  # at most; results name it where the request does not
    sequential: bool = False  # whether draws stop where they decide; else all are made
    warnings: tuple[str, ...] = ()


VARIANTS: dict[Variant, FtcVariant] = {
    "robust": FtcVariant(
        printed_patterns=False,
        score="w_normalized",
        null="phrases",
        draws=DRAWS["robust"],
        sequential=True,
    ),
    "paper": FtcVariant(printed_patterns=True, score="w"),
    "reference": FtcVariant(
        printed_patterns=True,
        score="w",
        warnings=(
            "the paper's authors released no code, so variant reference is the same as variant "
            "paper",
        ),
    ),
}
