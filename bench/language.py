"""Accuracy of `shared.text.language`, and its effect on HateXScore. Prints figures, never a text.

    python -m bench.language [FOLDER]     with multilingual_hatecheck.jsonl and korean_beep.jsonl

Correct is the language of the data set; `called en` counts texts that are not English. Of posts in
languages that the embedded judge did not learn, `with_a_number` counts those to which HateXScore
gives a QF, a CC or a score, since their language was not recognised. `without_a_reason` counts
nulls without a reason, and must be 0. Romanised Hindi (a language in an unusual script, which no
library knows) is counted separately.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.metric import SERVICE
from services.hatexscore.report import HatexscoreResult
from services.worker import local
from shared.models.catalogue.catalogue import load_catalogue
from shared.models.ports import bind, models
from shared.text.language import UNDECIDED, find_language

DATA = Path("../shared/data")
FILES = ("multilingual_hatecheck.jsonl", "korean_beep.jsonl")
CODES = {
    "arabic": "ar",
    "dutch": "nl",
    "french": "fr",
    "german": "de",
    "hindi": "hi",
    "italian": "it",
    "korean": "ko",
    "mandarin": "zh",
    "polish": "pl",
    "portuguese": "pt",
    "spanish": "es",
}
ROMANISED = "hi-Latn"
LATIN_SHARE = 0.6


def labelled(folder: Path = DATA) -> Iterator[tuple[str, str]]:
    for file in FILES:
        for line in (folder / file).read_text("utf-8").splitlines():
            row = json.loads(line)
            code, text = CODES.get(row["lang"], row["lang"]), row["text"]
            letters = [character for character in text if character.isalpha()]
            latin = sum(character < "\u0250" for character in letters)
            romanised = code == "hi" and latin > LATIN_SHARE * len(letters)
            yield (ROMANISED if romanised else code), text


def measure(folder: Path = DATA) -> dict[str, Any]:
    found = [(code, find_language(text).code) for code, text in labelled(folder)]
    usual = [(code, answer) for code, answer in found if code != ROMANISED]
    decided = [(code, answer) for code, answer in usual if answer != UNDECIDED]
    confusions = Counter(pair for pair in decided if pair[0] != pair[1])
    return {
        "texts": len(found),
        "called_en": sum(answer == "en" for _, answer in found),
        "identified": sum(code == answer for code, answer in found) / len(found),
        "wrong": sum(answer not in (code, UNDECIDED) for code, answer in found),
        "usual_script": len(usual),
        "decided": len(decided) / len(usual),
        "right_of_decided": sum(code == answer for code, answer in decided) / len(decided),
        "romanised_identified": sum(c == a == ROMANISED for c, a in found),
        "romanised_undecided": sum(c == ROMANISED and a == UNDECIDED for c, a in found),
        "romanised": len(found) - len(usual),
        "decided_by_language": {
            code: round(
                sum(c == code for c, _ in decided) / sum(c == code for c, _ in usual),
                3,
            )
            for code in sorted({code for code, _ in usual})
        },
        "confusions": {f"{a}->{b}": count for (a, b), count in confusions.most_common()},
    }


def foreign(texts: Sequence[str]) -> list[HatexscoreResult]:
    """Return HateXScore's results with an English explanation that quotes each text."""
    return SERVICE.score_batch(
        [
            HatexscoreRequest(
                text=text,
                explanation=f'It says "{text[:20]}". The text is hateful.',
                decision="hateful",
            )
            for text in texts
        ]
    )


def scored(folder: Path = DATA) -> dict[str, int]:
    learned = models().judge("embedded-hate").languages
    reports = foreign([text for code, text in labelled(folder) if code not in learned])
    numbers = [(one.components.qf, one.components.cc, one.score) for one in reports]
    said = [{reason.component for reason in one.reasons} for one in reports]
    return {
        "reports": len(reports),
        "with_a_number": sum(values != (None, None, None) for values in numbers),
        "without_a_reason": sum(not {"qf", "cc", "score"} <= parts for parts in said),
    }


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DATA
    find_language("the first one loads the model")
    started = time.perf_counter()
    figures = measure(folder)
    figures["ms_a_text"] = round(1e3 * (time.perf_counter() - started) / figures["texts"], 3)
    bind(local(load_catalogue(Path("models.toml"))))
    print(json.dumps(figures | scored(folder), indent=1))


if __name__ == "__main__":
    main()
