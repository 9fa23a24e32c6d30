"""`touchstone bench`: what is wrong with the command line is said before anything is asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from services.papers.command import WRONG, main

ROW = {"text": "The garden is open.", "gold": "non-hateful", "answers": {"m": "It is fine."}}
AWAY = ("--url", "http://127.0.0.1:9")  # where nobody listens


def bench(folder: Path, paper: str, *more: str) -> int:
    file = folder / "rows.jsonl"
    file.write_text(json.dumps(ROW), "utf-8")
    output = ("--output", str(folder / "out"))
    return main([paper, "--models", "m", "--data", str(file), *output, *AWAY, *more])


@pytest.mark.parametrize(
    ("paper", "more", "said"),
    [
        ("hatexscore", ("--set", "hatexscore.tau=9"), "tau"),
        ("hatexscore", ("--set", "hatexscore.nope=1"), "nope"),
        ("hatexscore", ("--shots", "99"), "shots"),
        ("hatexscore", ("--seed", "-1"), "seed"),
        ("ice", ("--set", "ice.draws=-3"), "draws"),
        ("hatexscore", ("--set", "nobody.tau=1"), "SERVICE.FIELD=VALUE"),
    ],
)
def test_what_no_service_takes_is_refused_before_anything_is_asked(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    paper: str,
    more: tuple[str, ...],
    said: str,
) -> None:
    assert bench(tmp_path, paper, *more) == WRONG
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("count", ["0", "-5", "99", "99999999999", "many"])
def test_resamples_are_as_many_as_a_report_may_ask_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], count: str
) -> None:
    with pytest.raises(SystemExit) as caught:
        bench(tmp_path, "hatexscore", "--resamples", count)
    assert caught.value.code == WRONG
    assert "from 100 to 100000" in capsys.readouterr().err
