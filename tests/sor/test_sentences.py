"""Single sentences by authors who knew no rule: floors on precision and recall.

The trained reader, which was tested on the same sentences, does not reach the rules: the card has
both figures.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from services.sor.contract import SorRequest
from services.sor.parsing import parse_statement
from services.sor.post_facts import PostWords

FOLDER = Path(__file__).parents[2] / "training" / "reader" / "test"
POST = "Zebra."


def disclosed(sentence: str, language: str) -> set[str]:
    """What a statement of one sentence discloses, `facts` apart, each way of redress by itself."""
    request = SorRequest(text=POST, statement=sentence, language=language)
    read = parse_statement(request, PostWords.of(POST))
    return {name for name, value in read.items.items() if value} - {"redress"} | read.routes


@pytest.mark.parametrize(
    ("file", "rows", "precision", "recall"),
    [("en_readings", 150, 0.86, 0.92), ("de", 70, 0.87, 0.82)],
)
def test_sentences_of_other_authors(file: str, rows: int, precision: float, recall: float) -> None:
    lines = (FOLDER / f"{file}.jsonl").read_text("utf-8").splitlines()
    sentences = [row for row in map(json.loads, lines) if row.get("kind") == "sor"]
    assert len(sentences) == rows
    right = found = expected = 0
    for row in sentences:
        labels, own = set(row["labels"]) - {"facts"}, disclosed(row["text"], row["language"])
        right, found, expected = right + len(labels & own), found + len(own), expected + len(labels)
    assert right / found >= precision
    assert right / expected >= recall
