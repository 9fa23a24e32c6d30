"""Unseen explanations, whole: what is marked as read is read, and nothing is inverted."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hatexscore.whole_explanations import FILES, examples, misread


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_unseen_explanation_is_read_as_marked(path: Path) -> None:
    assert misread(examples([path])) == []
