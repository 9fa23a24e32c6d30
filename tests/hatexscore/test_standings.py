"""The standings of other posts: how they are measured, and that the shipped ones fit the judge."""

from __future__ import annotations

from typing import cast

import numpy as np
import pytest

from shared.models.catalogue.checkpoint import (
    EMBEDDED,
    NOTE,
    STANDINGS,
    EmbeddedMetadata,
    PlacementStandings,
    placement_standings,
)
from shared.models.ports import Judge
from shared.statistics.other_texts import FEWEST_OTHERS, MOST_OTHERS, STRATA
from tests.hatexscore.fake import FakeClassifier, surely
from training.standings import measure, passages_of

TEXT = "nobody here wants those people in our town again"


def test_every_place_of_a_passage_of_each_length_is_masked_once() -> None:
    passages = list(passages_of(TEXT))
    assert [(words, len(masked)) for words, masked in passages] == [(1, 9), (2, 8), (3, 7)]
    for _, masked in passages:
        assert len(set(masked)) == len(masked)
        assert all(text.count("[MASK]") == 1 for text in masked)
    assert list(passages_of("four words are few")) == []
    assert list(passages_of("word " * 30)) == []


def test_only_hateful_posts_are_measured_and_no_text_is_kept() -> None:
    judge = FakeClassifier(lambda text: 0.1 if "dogs" in text else surely(text))
    found = measure(cast(Judge, judge), [TEXT, TEXT.replace("people", "dogs")])
    assert [len(one.standings) for one in found] == [9, 8, 7]
    for one in found:
        assert list(one.standings) == sorted(one.standings)
        assert sum(one.standings) == pytest.approx(0, abs=0.01)


def test_the_shipped_standings_are_of_the_shipped_judge_and_fill_every_stratum() -> None:
    note = EmbeddedMetadata.model_validate_json((EMBEDDED / "hate" / NOTE).read_bytes())
    path = EMBEDDED / "hate" / STANDINGS
    measured = PlacementStandings.model_validate_json(path.read_bytes())
    assert measured.adapter_sha256 == note.adapter_sha256
    rows = placement_standings(note.adapter_sha256, "en")
    assert rows == measured.passages
    others = np.array([len(row.standings) - 1 for row in rows])
    single = np.array([row.words == 1 for row in rows])
    assert (others.min(), others.max()) == (FEWEST_OTHERS, MOST_OTHERS)
    for low, high in STRATA:
        among = (others >= low) & (others <= high)
        assert min(np.sum(among & single), np.sum(among & ~single)) >= 20
    assert set(measured.languages) == set(note.languages)
    assert placement_standings(note.adapter_sha256, "fi") == ()
    assert placement_standings("0" * 64, "en") == ()
