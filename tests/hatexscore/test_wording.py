"""Quotations in mild sentences of our own: floors of accuracy by file."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from services.hatexscore.contract import HatexscoreProbabilities, HatexscoreRequest
from services.hatexscore.explanation import detect_languages
from services.hatexscore.metric import SERVICE
from services.hatexscore.quote_search import Haystack, QuoteSearch, locate, searchable
from services.hatexscore.quotes import Quotation, plain_format, quotations
from services.hatexscore.quoting import clauses_of, is_attributed, read_quotations
from services.hatexscore.report import HatexscoreResult
from tests.hatexscore.fake import FakeClassifier, bound
from tests.wording import Row, check, check_pairs, load

DATA = Path(__file__).parent / "data"
GOLDEN = Path(__file__).parents[3] / "shared" / "golden"
needs_golden = pytest.mark.skipif(
    not GOLDEN.exists(), reason="the golden files are on development machines"
)


# P of a model that made the decision: it rests on the quotes, or on nothing.
JUDGED = {
    "hateful": HatexscoreProbabilities(original=0.95, masked=0.1),
    "offensive": HatexscoreProbabilities(original=0.95, masked=0.1),
    "non-hateful": HatexscoreProbabilities(original=0.05, masked=0.05),
}


def score(row: Row) -> HatexscoreResult:
    decision = row.get("decision", "hateful")
    request = HatexscoreRequest(
        text=row["text"],
        explanation=row["explanation"],
        decision=decision,
        probabilities=JUDGED[decision],
        options={"labels": row.get("labels")},
    )
    with bound(FakeClassifier()):
        return SERVICE.score(request)


def quoted_and_invented(row: Row) -> tuple[Any, ...]:
    request = HatexscoreRequest(
        text=row["text"], explanation=row["explanation"], language=row["language"]
    )
    read = read_quotations(request, detect_languages(request))
    other = {one.text for one in read.other}
    return (
        sorted({row["text"][one.start : one.end] for one in read.evidence}),
        sorted({one.text.strip(" .,…!") for one in read.hallucinated}),
        sorted(other & set(row["other"])),
    )


def test_quotations_are_found_in_the_text_or_called_invented() -> None:
    rows = load(DATA / "quotations.jsonl")
    check_pairs(
        (
            (
                row,
                (sorted(row["located"]), sorted(row["hallucinated"]), sorted(row["other"])),
                quoted_and_invented(row),
            )
            for row in rows
        ),
        floor=0.97,
        inverted=0.03,
    )


@pytest.mark.parametrize(
    ("text", "quotation", "passage"),
    [
        ("Cyclists are noisy and loud", "Cyclists are not noisy", "Cyclists are noisy"),
        ("Cyclists are noisy and loud", "Cars are noisy", "Cyclists are noisy"),
        ("I don't hate cyclists", "I hate cyclists", "I don't hate cyclists"),
    ],
)
def test_a_changed_word_is_shown_with_its_passage(text: str, quotation: str, passage: str) -> None:
    explanation = f'This is hateful as it says "{quotation}" and nothing else.'
    request = HatexscoreRequest(text=text, explanation=explanation, language="en")
    [quote] = read_quotations(request, detect_languages(request)).hallucinated
    assert quote.misquotes == passage


def attribution(row: Row) -> bool:
    clauses = clauses_of(row["explanation"], quotations(row["explanation"]))
    return any(map(is_attributed, clauses.values()))


def lines(row: Row) -> list[str]:
    """Quotations of a field or a block, which must stand where they say."""
    plain = plain_format(row["explanation"], row["text"])
    spans = [plain.original(one.start, one.end) for one in quotations(plain.text)]
    return [row["explanation"][start:end] for start, end in spans]


def spellings(row: Row) -> list[str]:
    search = QuoteSearch(Haystack(row["text"], searchable(row["text"])))
    quoted = Quotation(0, len(row["explanation"]), row["explanation"])
    return [quote.text for quote in search.respelled(quoted)]


def other_sources(row: Row) -> list[str]:
    found = score(row)
    others = [one for one in found.other_quotations if one.reason == "other_source"]
    assert len(others) + len(found.hallucinated_quotes) == 1
    return [row["explanation"][one.start : one.end] for one in others]


READERS = {
    "quotations": lambda row: [one.text for one in quotations(row["explanation"])],
    "located": lambda row: [
        one.text for one in locate(row["text"], quotations(row["explanation"])).quotes
    ],
    "lines": lines,
    "attributed": attribution,
    "spellings": spellings,
    "other_sources": other_sources,
}


def test_what_is_quoted_and_by_whom() -> None:
    rows = load(DATA / "quoting.jsonl")
    check(rows, lambda row: READERS[row["reader"]](row), floor=0.954, inverted=0.0115)


@needs_golden
def test_golden_quotations_are_found() -> None:
    counts: Counter[str] = Counter()
    for row in load(GOLDEN / "quotes_real.jsonl"):
        located, invented, _ = quoted_and_invented(row | {"other": {}})
        for kind, found, expected in (
            ("located", located, {row["text"][a:b] for a, b in row["expected_quotes"]}),
            ("invented", invented, {one.strip(" .,…!") for one in row["hallucinated"]}),
        ):
            counts[f"{kind} found"] += len(found)
            counts[f"{kind} expected"] += len(expected)
            counts[f"{kind} both"] += len(expected.intersection(found))
    for kind, precision, recall in (("located", 0.97, 0.95), ("invented", 0.95, 0.90)):
        assert counts[f"{kind} both"] >= precision * counts[f"{kind} found"], counts
        assert counts[f"{kind} both"] >= recall * counts[f"{kind} expected"], counts
