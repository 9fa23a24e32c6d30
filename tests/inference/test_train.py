"""Training is a function of its recipe, its examples and the machine: same in, same bits out."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from rich.console import Console

from services.inference.embedded.adapter import CONFIG, WEIGHTS
from shared.models.catalogue.checkpoint import EMBEDDED, NOTE, EmbeddedMetadata
from training.hate import FILES, HATE, HateMetrics, read, split
from training.train import METRICS, main, make

DATA = Path(__file__).parents[3] / "shared" / "data"
VOTES = (["hatespeech"] * 3, ["normal"] * 3, ["offensive", "offensive", "hatespeech"])


@pytest.fixture(autouse=True)
def _own_settings() -> Iterator[None]:
    """Training pins torch's settings for its process; other tests keep theirs."""
    threads, deterministic = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    yield
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(deterministic)


@pytest.fixture(params=[2, pytest.param(5, marks=pytest.mark.nightly)])
def mild(tmp_path: Path, request: pytest.FixtureRequest) -> list[Path]:
    """Made-up data of both shapes, without a rude word: so many dozens of posts."""
    dozens = request.param
    posts: list[dict[str, Any]] = [
        {
            "id": f"post-{n}",
            "text": f"{('stormy', 'sunny', 'cloudy')[n % 3]} day number {n}",
            "label": VOTES[n % 3][0],
            "annotator_labels": VOTES[n % 3],
        }
        for n in range(12 * dozens)
    ]
    cases: list[dict[str, Any]] = [
        {
            "id": f"hatecheck-{n}",
            "functionality": "weather",
            "text": f"it is {'stormy' if n % 2 else 'sunny'} in town {n // 4}",
            "label": "hateful" if n % 2 else "non-hateful",
            "target_group": "sailors" if n % 4 else None,
            "templ_id": str(n // 2),
            "ref_case_id": str(n - 2) if n % 4 > 1 else None,
        }
        for n in range(16 * dozens)
    ]
    translations: list[dict[str, Any]] = [
        {
            "id": f"german-{n}",
            "functionality": "weather",
            "text": f"in der Stadt {n // 4} ist es {'stürmisch' if n % 2 else 'sonnig'}",
            "label": "hateful" if n % 2 else "non-hateful",
            "target_group": "sailors",
            "lang": "german",
        }
        for n in range(4 * dozens)
    ]
    comments: list[dict[str, Any]] = [
        {
            "id": f"comment-{n}",
            "text": f"{n}번째 {('폭풍', '맑은', '흐린')[n % 3]} 날",
            "label": ("hate", "none", "offensive")[n % 3],
            "contain_gender_bias": False,
        }
        for n in range(12 * dozens)
    ]
    paths = [tmp_path / name for name in FILES]
    for path, rows in zip(paths, (posts, cases, translations, comments), strict=True):
        path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return paths


@pytest.mark.nightly  # by day one of the other tasks does the same: `test_tasks.py`
def test_two_runs_write_the_same_bytes_and_a_third_seed_does_not(
    mild: list[Path], tmp_path: Path
) -> None:
    parts = split(read(mild))
    console = Console(file=io.StringIO())
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        recipe = replace(HATE.recipe, epochs=1, rank=2, layers=1, seed=seed)
        make(HATE, parts, tmp_path / name, recipe, console)
    for file in (WEIGHTS, CONFIG, NOTE, METRICS, "README.md"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()
    assert (tmp_path / "a" / WEIGHTS).read_bytes() != (tmp_path / "c" / WEIGHTS).read_bytes()
    note = EmbeddedMetadata.model_validate_json((tmp_path / "a" / NOTE).read_bytes())
    assert note.temperature > 0


def test_offensive_is_not_hateful_and_the_target_is_the_share_of_votes(mild: list[Path]) -> None:
    hate, normal, offensive = read(mild[:1])[:3]
    assert [post.label for post in (hate, normal, offensive)] == [1, 0, 0]
    assert [post.target[1] for post in (hate, normal, offensive)] == [1, 0, 1 / 3]


def test_a_family_holds_a_template_and_what_was_derived_from_it(mild: list[Path]) -> None:
    families = [case.family for case in read(mild[1:2])]
    assert families[:8] == ["0", "0", "0", "0", "2", "2", "2", "2"]


def test_only_hate_is_hateful_in_korean_comments(mild: list[Path]) -> None:
    comments = read(mild[3:])[:3]
    assert [comment.label for comment in comments] == [1, 0, 0]
    assert {comment.language for comment in comments} == {"ko"}


def test_a_file_of_another_shape_is_named(tmp_path: Path) -> None:
    path = tmp_path / "other.jsonl"
    path.write_text('{"text": "a"}\n', encoding="utf-8")
    with pytest.raises(
        ValueError, match=r"other\.jsonl: neither HateXplain, HateCheck, Multilingual"
    ):
        read([path])


def test_help_says_what_is_needed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "--data-folder" in capsys.readouterr().out


@pytest.mark.training
@pytest.mark.timeout(3_600)
@pytest.mark.skipif("TOUCHSTONE_TRAINING" not in os.environ, reason="set TOUCHSTONE_TRAINING=1")
@pytest.mark.skipif(not (DATA / FILES[0]).exists(), reason="../shared/data is absent")
def test_training_anew_reproduces_the_shipped_numbers(tmp_path: Path) -> None:
    main(["hate", "--data-folder", str(DATA), "--out", str(tmp_path)])
    shipped = HateMetrics.model_validate_json((EMBEDDED / "hate" / METRICS).read_bytes())
    anew = HateMetrics.model_validate_json((tmp_path / "hate" / METRICS).read_bytes())
    # Identical on the machine that trained the shipped one; elsewhere rounding takes another path
    assert anew.held_back.accuracy.share == pytest.approx(
        shipped.held_back.accuracy.share, abs=0.02
    )
    assert anew.held_back.accuracy.share >= 0.80
    assert (anew.held_back.calibration.ece.value or 0) <= 0.06
