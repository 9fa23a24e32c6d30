"""Laws of the similarities and of set matching."""

from __future__ import annotations

from difflib import SequenceMatcher
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from services.cot2el import kernel
from services.cot2el.kernel import Floats

sizes = st.tuples(st.integers(0, 4), st.integers(0, 4))
tables = sizes.flatmap(lambda size: arrays(np.float64, size, elements=st.floats(0, 1)))


def distance(a: str, b: str) -> int:
    """Wagner & Fischer (1974), as an oracle."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
    return row[-1]


@given(st.text(max_size=12), st.text(max_size=12))
def test_levenshtein(a: str, b: str) -> None:
    longer = max(len(a), len(b))
    expected = 1 - distance(a, b) / longer if longer else 1
    assert kernel.levenshtein(a, b) == pytest.approx(expected)
    assert kernel.levenshtein(a, b) == kernel.levenshtein(b, a)


@given(st.lists(st.sampled_from("ab"), max_size=6), st.lists(st.sampled_from("ab"), max_size=6))
def test_jaccard_is_symmetric_bounded_and_one_for_the_same(a: list[str], b: list[str]) -> None:
    for n in (1, 2, 3):
        found = kernel.jaccard(a, b, n)
        assert found == kernel.jaccard(b, a, n)
        assert found is None or 0 <= found <= 1
        assert kernel.jaccard(a, a, n) == (1 if len(a) >= n else None)


@given(tables)
def test_set_scores_are_bounded_and_empty_sets_count_as_printed(table: Floats) -> None:
    found = kernel.set_score(table)
    assert 0 <= found <= 1
    of_e, of_h = table.shape
    if not of_e or not of_h:
        assert found == (of_e == of_h)
    else:
        assert found >= table.mean() - 1e-12
        doubled = kernel.set_score(np.concatenate([table, table]))
        assert doubled == pytest.approx(found)


def test_more_of_what_humans_marked_can_only_help_precision() -> None:
    table = np.array([[0.2], [0.6]])
    assert kernel.set_score(np.concatenate([table, [[0.9], [0.1]]], axis=1)) > kernel.set_score(
        table
    )


def test_euclidean_similarity_follows_the_cosine() -> None:
    a, b = np.array([0.6, 0.8]), np.array([1.0, 0.0])
    expected = 1 / (1 + np.linalg.norm(a - b))
    assert kernel.euclidean(float(a @ b)) == pytest.approx(expected)
    assert kernel.euclidean(1.0) == 1


@given(st.floats(0, 1), st.floats(0, 1))
def test_f1_lies_between_its_parts(precision: float, recall: float) -> None:
    low, high = sorted((precision, recall))
    assert low - 1e-12 <= kernel.harmonic(precision, recall) <= high + 1e-12


few_letters = st.text("ab -", max_size=60)


@settings(max_examples=150)
@given(few_letters, few_letters, st.booleans(), st.data())
def test_matches_row_by_row_are_difflibs(
    a: str, b: str, autojunk: bool, data: st.DataObject
) -> None:
    b *= data.draw(st.integers(1, 5))  # 200 letters and more are where autojunk begins
    theirs = SequenceMatcher(None, a, b, autojunk=autojunk)
    ours = kernel._Counting(10**9, autojunk=autojunk)
    ours.set_seqs(a, b)
    alo, ahi = sorted(data.draw(st.tuples(*[st.integers(0, len(a))] * 2)))
    blo, bhi = sorted(data.draw(st.tuples(*[st.integers(0, len(b))] * 2)))
    assert ours._by_rows(alo, ahi, blo, bhi) == theirs.find_longest_match(alo, ahi, blo, bhi)
    with patch.object(kernel, "FEW_STEPS", 0):
        assert ours.ratio() == theirs.ratio()


def test_a_long_alignment_asks_whether_to_go_on() -> None:
    """Of two texts of one letter, which is one long match, rows are looked at one by one."""
    asked: list[int] = []
    kernel.align(["-" * 2_000], ["x" + "-" * 4_000], check=lambda: asked.append(1))
    assert len(asked) >= 2_000 / kernel.ROWS_A_CHECK
