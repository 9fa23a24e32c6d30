"""Discourse units: laws for any text, and 40 sentences whose boundaries we marked by hand.

`annotated.txt`: sentences of our own in the manner of a chain of thought, " | " before each
elementary discourse unit as Rhetorical Structure Theory has them (clauses; complements of saying
and thinking; relative, participial and purpose clauses). They were marked before the rules were run
on them; the least length of a unit was then set on them.
"""

from __future__ import annotations

import itertools
import json
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from services.cot2el.segmentation import (
    LIST,
    Granularity,
    Unit,
    clauses,
    connective_units,
    detect_language,
    segment,
    sentences,
)
from tests.wording import Row, check, load

ANNOTATED = [
    line.split(" | ")
    for line in Path(__file__).with_name("annotated.txt").read_text("utf-8").splitlines()
]
WORDS = [
    "because",
    "although",
    "so,",
    "but",
    "and",
    "if",
    "the",
    "man",
    "is",
    "sleeping",
    "it",
    "who",
    "which",
    "that",
    "says",
    "1.",
    "-",
    "**",
    "(maybe)",
    "A.",
    "e.g.",
    "Mr.",
    "Why?",
    "No!",
    "。",
    "그래서",
    "因为",
    "，",
    "—",
    ";",
    ":",
    "\n",
    "\t",
    "\u2028",
    "etc.",
]
texts = st.text() | st.lists(st.sampled_from([*WORDS, "", "\n"])).map(" ".join)
GRANULARITIES: tuple[Granularity, ...] = ("edu", "sentence", "both")


def covered(text: str, units: list[Unit]) -> bool:
    held = {place for unit in units for place in range(unit.start, unit.end)}
    return all(place in held for place, letter in enumerate(text) if not letter.isspace())


@given(texts, st.sampled_from(GRANULARITIES), st.sampled_from(["en", "zh"]))
@example("", "both", "en")
@example("word", "edu", "en")
@example("1. ", "both", "en")
def test_units_are_verbatim_cover_the_text_and_come_in_order(
    text: str, granularity: Granularity, language: str
) -> None:
    units = segment(text, "en" if language == "en" else "zh", granularity)
    assert covered(text, units)
    assert units == sorted(units)
    assert len({(unit.start, unit.end) for unit in units}) == len(units)
    for unit in units:
        piece = text[unit.start : unit.end]
        assert piece
        assert piece == piece.strip()


@given(texts)
def test_a_sentence_read_by_itself_is_one_sentence(text: str) -> None:
    for start, end in sentences(text):
        assert sentences(text[start:end]) == [(0, end - start)]


@given(texts)
def test_a_clause_read_by_itself_is_one_clause(text: str) -> None:
    for sentence in sentences(text):
        for start, end in clauses(text, sentence):
            assert clauses(text[start:end], (0, end - start)) == [(0, end - start)]


@given(texts)
def test_clauses_hold_their_sentence_whole_without_overlap(text: str) -> None:
    for sentence in sentences(text):
        found = clauses(text, sentence)
        assert (found[0][0], found[-1][1]) == sentence
        for (_, end), (start, _) in itertools.pairwise(found):
            assert end <= start
            assert not text[end:start].strip()


def boundaries(spans: list[tuple[int, int]]) -> set[int]:
    return {start for start, _ in spans}


def test_boundaries_are_found() -> None:
    """Boundary F1 over all units, and over those inside sentences; the first is never counted."""
    hits = missed = wrong = inner_hits = inner_missed = inner_wrong = count = 0
    for pieces in ANNOTATED:
        text, gold, place = " ".join(pieces), set(), 0
        for piece in pieces:
            gold.add(place)
            place += len(piece) + 1
        of_sentences = sentences(text)
        count += len(of_sentences)
        ours = {start for one in of_sentences for start in boundaries(clauses(text, one))}
        gold, ours = gold - {0}, ours - {0}
        hits, missed, wrong = (
            hits + len(gold & ours),
            missed + len(gold - ours),
            wrong + len(ours - gold),
        )
        starts = boundaries(of_sentences)
        gold, ours = gold - starts, ours - starts
        inner_hits, inner_missed = inner_hits + len(gold & ours), inner_missed + len(gold - ours)
        inner_wrong += len(ours - gold)
    assert count == 40
    assert 2 * hits / (2 * hits + missed + wrong) >= 0.60
    assert 2 * inner_hits / (2 * inner_hits + inner_missed + inner_wrong) >= 0.60


def test_a_connective_begins_a_unit() -> None:
    text = "It is open, however, because the text is short, nothing follows."
    found = connective_units(text, (0, len(text)), "en")
    assert [text[start:end] for start, end in found] == [
        "however,",
        "because the text is short, nothing follows.",
    ]
    assert connective_units("因为下雨。", (0, 5), "zh") == []


def test_the_connectives_are_a_sorted_list() -> None:
    known = json.loads(LIST.read_text("utf-8"))
    assert len(known) >= 100
    assert known == sorted(set(known))


def test_list_markers_are_no_part_of_what_is_said() -> None:
    text = "1. **It rains today**\n- He waits outside"
    said = {text[unit.start : unit.end] for unit in segment(text, "en", "both")}
    assert {"It rains today", "He waits outside"} <= said


def read(row: Row) -> str | list[str]:
    text = row["text"]
    if row["reader"] == "language":
        return detect_language(text)
    return [text[start:end] for start, end in sentences(text)]


def test_sentences_and_languages_are_found() -> None:
    check(load(Path(__file__).parent / "data" / "sentences.jsonl"), read, floor=0.94)
