"""Tests on real reasoning whether CoT2EL drops negated copies of sentences and keeps unchanged
ones.

`python -m bench.cot2el_polarity DATA`: DATA is a folder with `haf_explanations.jsonl`, outputs of
language models. Every sentence with an auxiliary verb and no negation makes two pairs: unchanged,
and with "not" after the verb. Explanations of other items are added. Prints the shares for `nli`,
`cues` and similarity alone as JSON, with Wilson intervals. No text is printed.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bench.environment import environment
from services.cot2el.contract import Cot2elRequest
from services.cot2el.metric import SERVICE
from services.cot2el.segmentation import sentences
from services.worker import local
from shared.models import ports
from shared.models.catalogue.catalogue import load_catalogue
from shared.statistics import intervals
from shared.text.changed_meaning import negations

ROOT = Path(__file__).parents[1]
STATEMENTS = 490
AUXILIARY = re.compile(
    r"\b(?:is|are|was|were|can|could|may|might|does|do|did|has|have|will|would|should|must)\b"
)
SHORTEST, LONGEST = 20, 300  # characters of a sentence
DRAWS = 1  # of other items' explanations for each sentence

Json = dict[str, Any]


def negated(sentence: str) -> str | None:
    """Insert "not" after the first auxiliary verb. Return None if there is none, or if it is
    negated already."""
    found = AUXILIARY.search(sentence)
    if found is None or negations(sentence, "en"):
        return None
    return f"{sentence[: found.end()]} not{sentence[found.end() :]}"


def items(data: Path) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield each reasoning with its sentences and their negations, 490 sentences in all."""
    left = STATEMENTS
    for line in (data / "haf_explanations.jsonl").read_text("utf-8").splitlines():
        text = json.loads(line)["raw_output"]
        said = dict.fromkeys(text[start:end] for start, end in sentences(text))
        pairs = [
            (one, other)
            for one in said
            if SHORTEST <= len(one) <= LONGEST and (other := negated(one)) is not None
        ][:left]
        left -= len(pairs)
        if pairs:
            yield text, pairs


def request(text: str, said: Sequence[str], **more: Any) -> Cot2elRequest:
    return Cot2elRequest.model_validate(
        {
            "question": "Is the text toxic?",
            "options": [{"key": "A", "text": "toxic"}, {"key": "B", "text": "not toxic"}],
            "reasoning": text,
            "pairs": [{"explanation": one, "label": "A"} for one in said],
            "language": "en",
            **more,
        }
    )


def measured(data: Path, polarity: str) -> Json:
    """Return shares of kept sentences: unchanged, negated, of other items."""
    kept: dict[str, list[float]] = {"originals": [], "negated": []}
    others = 0.0
    for text, pairs in items(data):
        for name, said in zip(kept, zip(*pairs, strict=True), strict=True):
            draws = DRAWS if name == "originals" else 0
            report = SERVICE.score(request(text, said, polarity=polarity, control_draws=draws))
            kept[name] += [1.0] * report.components.kept
            kept[name] += [0.0] * (report.components.parsed - report.components.kept)
            control = report.control.other_items if report.control else None
            if name == "originals" and control is not None:
                others += control.faithfulness * DRAWS * report.components.parsed
    drawn = DRAWS * len(kept["originals"])
    kept["other_items"] = [1.0] * round(others) + [0.0] * (drawn - round(others))
    return {name: _share(values) for name, values in kept.items()}


def _share(values: Sequence[float]) -> Json:
    found = intervals.share(list(values))
    return {"share": found.value, "low": found.low, "high": found.high, "n": found.rows}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.cot2el_polarity", description=__doc__)
    parser.add_argument("data", type=Path)
    asked = parser.parse_args()
    ports.bind(local(load_catalogue(ROOT / "models.toml")))
    figures = {how: measured(asked.data, how) for how in ("nli", "cues", "none")}
    print(json.dumps({"study": "cot2el_polarity", "figures": figures,
                      "environment": environment()}))  # fmt: skip


if __name__ == "__main__":
    main()
