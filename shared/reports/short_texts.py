"""The p-value of an explanation of a short text. A short text has too few other passages to compare
with, so passages of other texts calibrate the test."""

from __future__ import annotations

from typing import Any

import numpy as np

from shared.contracts.null_report import Calibration
from shared.models.catalogue.checkpoint import placement_standings
from shared.statistics.other_texts import OtherText, calibrated_p, removal_standings
from shared.statistics.ranks import Floats


def calibrated_fields(
    without: Floats, words: int, sha256: str | None, language: str
) -> dict[str, Any]:
    """Return `p_calibrated` and `calibration` of a `CalibratedNull`, or {} if they cannot be
    computed.

    `without` holds P(hateful) after deleting the explanation's words (first), and after
    deleting as many words at each other position. `words` is the length of the longest passage.
    `sha256` identifies the judge's weights. `language` is that of the text."""
    if sha256 is None:
        return {}
    measured = placement_standings(sha256, language)
    reference = [OtherText(post.words, np.array(post.standings)) for post in measured]
    standing = float(removal_standings(without)[0])
    p = calibrated_p(standing, without.size - 1, words, reference)
    if p is None:
        return {}
    calibration = Calibration(
        posts=p.texts,
        least_placements=p.least,
        most_placements=p.most,
        standing=standing,
        p_anti=p.p_anti,
    )
    return {"p_calibrated": p.p_value, "calibration": calibration}
