"""`touchstone bench`: what is wrong with the command line is said before anything is asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.papers.answers import PaperRequest
from bench.papers.command import main
from bench.papers.run import check_models
from touchstone_client.cli.main import main as touchstone
from touchstone_client.cli.output import WRONG

ROW = {"text": "The garden is open.", "gold": "non-hateful", "answers": {"m": "It is fine."}}
WORDS = 'verbalizers = { good = " good", bad = " bad" }'
TEMPLATES = {
    "plain.toml": f"[plain]\n{WORDS}\n",
    "bare.toml": '[plain]\nprefix = "Is it?"\n',
    "other.toml": f'[plain]\ndata = ["others"]\n{WORDS}\n',
    "broken.json": "{",
}
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
        ("ice", ("--prompt", "p"), "--prompt is for hatexscore, ftc"),
        ("haf", ("--shots", "2"), "--shots is for hatexscore"),
        ("hatexscore", ("--templates", "plain.toml"), "--templates is for ice"),
        ("ice", ("--templates", "nothing.toml"), "nothing.toml"),
        ("ice", ("--templates", "broken.json"), "broken.json: Expecting"),
        ("ice", ("--templates", "bare.toml"), "plain.verbalizers: Field required"),
        ("ice", ("--templates", "other.toml"), "is for others, which is no data set here"),
        ("ice", ("--templates", "plain.toml"), "the gold label 'non-hateful' of rows"),
    ],
)
def test_what_no_service_takes_is_refused_before_anything_is_asked(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    paper: str,
    more: tuple[str, ...],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in TEMPLATES.items():
        (tmp_path / name).write_text(text, "utf-8")
    assert bench(tmp_path, paper, *more) == WRONG
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("count", ["0", "-5", "99", "99999999999", "many"])
def test_resamples_are_as_many_as_a_report_may_ask_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], count: str
) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps(ROW), "utf-8")
    command = ["bench", "hatexscore", "--models", "m", "--data", str(file), "--resamples", count]
    assert touchstone(command) == WRONG
    assert "from 100 to 100000" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "unknown"),
    [
        (("--models", "embedded-hate", "nobody"), "nobody"),
        (("--models", "a", "--set", "hlv.model=b"), "a"),
    ],
)
def test_a_model_that_is_not_there_is_refused_before_anything_is_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: tuple[str, ...], unknown: str
) -> None:
    file, out = tmp_path / "rows.jsonl", tmp_path / "out"
    file.write_text(json.dumps(ROW), "utf-8")
    how = ("--data", str(file), "--output", str(out), "--local")
    assert main(["hatexscore", *more, *how]) == WRONG
    said = capsys.readouterr().err
    assert f"no model '{unknown}' is configured; choose one of: " in said
    assert "embedded-hate" in said
    assert list(out.iterdir()) == []


def test_a_model_whose_answers_are_there_need_not_be(tmp_path: Path) -> None:
    """`m` is no model of anybody's: all its answers came with the rows."""
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps(ROW), "utf-8")
    how = ("--models", "m", "--data", str(file), "--output", str(tmp_path / "out"), "--local")
    assert main(["hatexscore", *how]) != WRONG


def test_models_of_metrics_are_looked_up_too() -> None:
    class Known:
        def model_names(self) -> frozenset[str]:
            return frozenset({"a"})

    body = {"model": "a", "metadata": {"model": "x"}, "score": {"hatexscore": {"model": "b"}}}
    wanted = [PaperRequest("explanations", body)]
    with pytest.raises(ValueError, match="no model 'b' is configured; choose one of: a"):
        check_models(wanted, Known())  # type: ignore[arg-type]
    check_models([PaperRequest("explanations", body | {"score": ["sor"]})], Known())  # type: ignore[arg-type]
