"""Verdicts, groups and quotations in mild sentences of our own: floors of accuracy by file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from services.hatexscore.conclusion import ConclusionStatement, VerdictsRead, read_conclusion
from services.hatexscore.contract import HatexscoreProbabilities, HatexscoreRequest
from services.hatexscore.explanation import detect_languages
from services.hatexscore.group_terms import read_passage
from services.hatexscore.groups import find_mentions
from services.hatexscore.lexicon import load_lexicon
from services.hatexscore.metric import SERVICE
from services.hatexscore.quote_kinds import attributed
from services.hatexscore.quote_search import locate
from services.hatexscore.quote_spelling import Spellings
from services.hatexscore.quotes import plain_format, quotations, quoted_spans
from services.hatexscore.report import HatexscoreResult
from services.hatexscore.variants import read_quotations
from services.hatexscore.vocabulary import Vocabulary, built_in, custom_vocabulary
from tests.hatexscore.fake import FakeClassifier, bound
from tests.hatexscore.naming import identified
from tests.wording import Row, check, check_pairs, load

DATA = Path(__file__).parent / "data"
GOLDEN = Path(__file__).parents[3] / "shared" / "golden"
needs_golden = pytest.mark.skipif(
    not GOLDEN.exists(), reason="the golden files are on development machines"
)


def vocabulary_of(sent: Any) -> Vocabulary:
    return custom_vocabulary(sent) if isinstance(sent, dict) else built_in(sent)


def verdicts(row: Row, language: Any) -> VerdictsRead:
    return read_conclusion(
        plain_format(row["text"]).text, vocabulary_of(row.get("vocabulary", "default")), language
    )


def label(row: Row, language: Any) -> str | None:
    found = verdicts(row, language).conclusion
    return found.label if found else None


@pytest.mark.parametrize(("language", "floor"), [("en", 0.9367), ("ko", 0.9566), ("zh", 0.9412)])
def test_conclusions_are_read(language: str, floor: float) -> None:
    rows = load(DATA / f"conclusions.{language}.jsonl")
    check(rows, lambda row: label(row, language), floor=floor)


def test_a_verdict_that_no_rule_reads_is_not_taken_for_no_decision() -> None:
    found = [
        (row["expected"], verdicts(row, language))
        for language in ("en", "ko", "zh")
        for row in load(DATA / f"conclusions.{language}.jsonl")
    ]
    stated = [read for expected, read in found if expected and read.conclusion is None]
    without = [read for expected, read in found if expected is None]
    assert sum(bool(read.unread) for read in stated) >= 0.98 * len(stated)
    assert sum(bool(read.unread) for read in without) <= 0.1397 * len(without)


def doubt(row: Row) -> str:
    found = verdicts(row, row["language"])
    if found.conclusion:
        return found.conclusion.label
    return "unread" if found.unread else "none"


def test_doubts_are_told_from_texts_without_a_decision() -> None:
    check(load(DATA / "unread.jsonl"), doubt, floor=0.9861)


# P of a model that made the decision: it rests on the quotes, or on nothing.
JUDGED = {
    "hateful": HatexscoreProbabilities(original=0.95, masked=0.1),
    "non-hateful": HatexscoreProbabilities(original=0.05, masked=0.05),
}


def score(row: Row) -> HatexscoreResult:
    decision = row.get("decision", "hateful")
    request = HatexscoreRequest(
        text=row["text"],
        explanation=row["explanation"],
        predicted_label=decision,
        labels=row.get("labels"),
        probabilities=JUDGED[decision],
    )
    with bound(FakeClassifier()):
        return SERVICE.score(request)


def parts_of(rows: list[Row]) -> Iterator[tuple[Row, Any, Any]]:
    """Five parts of each explanation: stated label, TGI, CC, quotes, and invented quotes."""
    for row in rows:
        found, expected = score(row), row["expected"]
        quotes = {one.text for one in found.evidence if one.kind == "quote"}
        accused = {one.text for one in found.hallucinated_quotes}
        yield row, expected["htc"], found.stated_label
        yield row, expected["tgi"], found.components.tgi
        yield row, expected["cc"], found.components.cc
        yield row, sorted(expected["quotes"]), sorted(quotes)
        yield row, sorted(expected["accused"]), sorted(accused)


@pytest.mark.parametrize(
    ("language", "floor", "inverted"),
    [("en", 0.9907, 0.0009), ("ko", 0.9904, 0), ("zh", 0.9938, 0), ("xx", 0.9939, 0)],
)
def test_whole_explanations_are_read(language: str, floor: float, inverted: float) -> None:
    """`xx`: languages without rules."""
    readings = list(parts_of(load(DATA / f"explanations.{language}.jsonl")))
    check_pairs(readings, floor, inverted)
    check_pairs(readings[::5], floor=0)  # no stated label is inverted


def quoted_and_invented(row: Row) -> tuple[Any, ...]:
    request = HatexscoreRequest(
        text=row["text"], explanation=row["explanation"], language=row["language"]
    )
    read = read_quotations(request, detect_languages(request))
    other = {one.text for one, _ in read.other}
    return (
        sorted({row["text"][one.start : one.end] for one in read.evidence}),
        sorted({one.text.strip(" .,…!") for one, _ in read.hallucinated}),
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
        floor=0.965,
        inverted=0.035,
    )


def attribution(row: Row) -> bool:
    return bool(attributed(row["explanation"], quotations(row["explanation"])))


def lines(row: Row) -> list[str]:
    """Quotations of a field or a block, which must stand where they say."""
    plain = plain_format(row["explanation"], row["text"])
    spans = [plain.original(one.start, one.end) for one in quotations(plain.text)]
    return [row["explanation"][start:end] for start, end in spans]


def spellings(row: Row) -> list[str]:
    return [row["text"][a:b] for a, b in Spellings(row["text"]).find(row["explanation"])]


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


def marked(row: Row) -> Row:
    """`{+Muslims}` is a mention that counts, `{-Muslims}` one that does not or is missing.

    A family with `_harmless` at its end explains a non-hateful decision.
    """
    marks = enumerate(re.finditer(r"\{([+-])([^}]*)\}", row["text"]))
    spans = [(mark.start() - 3 * number, len(mark[2]), mark[1] == "+") for number, mark in marks]
    return {
        "family": row["family"],
        "explanation": re.sub(r"\{[+-]([^}]*)\}", r"\1", row["text"]),
        "language": row["language"],
        "policy": "un",
        "hateful": not row["family"].endswith("_harmless"),
        "expected": [{"start": a, "end": a + n, "counts": counts} for a, n, counts in spans],
    }


def mentions(rows: Iterable[Row]) -> Iterator[tuple[Row, bool, bool]]:
    """Expected mentions and whether they were found to count, then found ones not expected."""
    for row in rows:
        text, language = row["explanation"], row["language"]
        passage = read_passage(text, language, quoted_spans(text))
        lexicon = load_lexicon(row["policy"], language)
        counting = [
            (one.start, one.end)
            for one in find_mentions(passage, lexicon, hateful=row["hateful"])
            if one.counts
        ]
        for wanted in row["expected"]:
            near = {span for span in counting if overlap(span, wanted)}
            yield row, wanted["counts"], bool(near)
        for span in counting:
            if not any(overlap(span, wanted) for wanted in row["expected"]):
                yield row, False, True


def overlap(span: tuple[int, int], wanted: Row) -> bool:
    return bool(span[0] < wanted["end"] and wanted["start"] < span[1])


def test_groups_are_found_where_they_are_attacked() -> None:
    rows = map(marked, load(DATA / "groups.jsonl"))
    check_pairs(mentions(rows), floor=0.9963, inverted=0.0013)


def test_a_target_is_identified() -> None:
    check(load(DATA / "targets.jsonl"), lambda row: identified(row["text"]), floor=0.989)


def attacks(row: Row) -> bool:
    found = score({**row, "decision": "non-hateful"})
    groups = [bool(one.attacked) for one in found.evidence if one.kind == "group"]
    assert groups
    return any(groups)


def test_an_attack_is_told_from_counter_speech() -> None:
    check(load(DATA / "attacks.jsonl"), attacks, floor=0.9743)


@needs_golden
def test_golden_conclusions_are_read() -> None:
    rows = load(GOLDEN / "conclusions.jsonl")
    readings = [
        (row, verdicts(row | {"text": row["explanation"]}, row["language"])) for row in rows
    ]
    stated = [(row, read.conclusion) for row, read in readings if row["expected"]]
    without = [read for row, read in readings if row["expected"] is None]
    for by in ("vocabulary", "language"):
        for value in {str(row[by]) for row, _ in stated if isinstance(row[by], str)}:
            group = [(row, one) for row, one in stated if row[by] == value]
            triples = ((row, row["expected"], one.label if one else None) for row, one in group)
            check_pairs(triples, floor=0.97, inverted=1)
    triples = ((row, row["expected"], one.label if one else None) for row, one in stated)
    check_pairs(triples, floor=0.97, inverted=0.005)
    assert sum(read.conclusion is not None for read in without) <= 0.05 * len(without)
    assert sum(bool(read.unread) for read in without) <= 5  # of 53
    right = [(row, one) for row, one in stated if one and one.label == row["expected"]]
    assert sum(map(placed, *zip(*right, strict=True))) >= 0.97 * len(right)


def placed(row: Row, found: ConclusionStatement) -> bool:
    """True if the reported sentence covers half of the expected one."""
    span = row["conclusion_span"]
    start, end = (span["start"], span["end"]) if isinstance(span, dict) else span
    return bool(2 * (min(end, found.end) - max(start, found.start)) >= end - start)


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


@needs_golden
def test_golden_group_mentions_are_found() -> None:
    readings = list(mentions(load(GOLDEN / "group_mentions.jsonl")))
    check_pairs(readings, floor=0.95, inverted=1)
    negated = [reading for reading in readings if reading[0]["family"] == "negation_scope"]
    check_pairs(negated, floor=0.95, inverted=1)
