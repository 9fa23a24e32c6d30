"""`touchstone` as people type it: it does what it says, and says why it does not."""

from __future__ import annotations

import csv
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from services.command.__main__ import main
from tests.batches import OWN, Scene, line, packed
from tests.gateway.test_batch_reports import REPORT, end_report, report_jobs
from tests.patience import eventually

PLAIN = [OWN | {"id": "first", "text": "a"}, OWN | {"text": "bad b"}, OWN | {"text": "c"}]


def end_comparison(scene: Scene, **end: Any) -> None:
    """What the worker does to a report job, once it is there."""
    eventually(lambda: report_jobs(scene) > 0)
    end_report(scene, **end)


def written(path: Path, *lines: object) -> str:
    path.write_bytes(packed(lines))  # type: ignore[arg-type]
    return str(path)


def test_submit_and_wait_brings_the_answers(
    busy: Scene, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path / "posts.jsonl", *PLAIN)
    errors = tmp_path / "errors.jsonl"
    code = main(
        ["submit", file, "--metric=hatexscore", "--wait", f"--errors={errors}", "--metadata=who=me"]
    )
    said = capsys.readouterr()
    answers = [json.loads(raw) for raw in said.out.splitlines()]
    assert code == 0, said.err
    assert [one["custom_id"] for one in answers] == ["first", "3"]
    assert json.loads(errors.read_text())["custom_id"] == "2"
    assert "2 of 3 scored, 1 failed" in said.err
    assert busy.client.get("/v1/batches").json()["data"][0]["metadata"] == {"who": "me"}


def test_submit_says_the_batch_and_get_shows_it(
    scene: Scene, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path / "in.jsonl", line("a", "a"))
    assert main(["submit", file]) == 0
    batch_id = capsys.readouterr().out.strip()
    assert main(["get", batch_id]) == 0
    batch = json.loads(capsys.readouterr().out)
    assert (batch["id"], batch["status"]) == (batch_id, "validating")
    assert main(["get", batch["input_file_id"]]) == 0
    assert capsys.readouterr().out.encode() == Path(file).read_bytes()


def test_an_invalid_file_is_told_line_by_line(
    busy: Scene, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path / "in.jsonl", line("a", "a"), line("b", "b", tau=7))
    assert main(["submit", file, "--wait"]) == 1
    said = capsys.readouterr().err
    assert "line 2" in said
    assert "#/body/tau" in said


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["get", "job_" + "0" * 32], "No such job"),
        (["get", "batch_x"], "No such batch"),
        (["get", "file_x"], "No such file"),
        (["get", "nothing"], "is no id"),
        (["report", "batch_" + "0" * 32], "No such batch"),
        (["submit", "/nowhere.jsonl"], "cannot be read"),
        (["submit", "{plain}"], "--metric"),
        (["submit", "{plain}", "--metric", "astrology"], "no such endpoint"),
        (["submit", "{broken}", "--metric", "hatexscore"], "broken.jsonl:2: not JSON"),
    ],
)
def test_a_refusal_is_one_clear_line(
    scene: Scene,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    reason: str,
) -> None:
    places = {
        "plain": written(tmp_path / "plain.jsonl", *PLAIN),
        "broken": written(tmp_path / "broken.jsonl", PLAIN[0], "{"),
    }
    assert main([argument.format(**places) for argument in arguments]) == 1
    said = capsys.readouterr().err
    assert reason in said
    assert "Traceback" not in said


def test_an_open_batch_has_no_report(scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    batch = scene.make([line("a", "a")])
    assert main(["report", batch["id"]]) == 1
    assert "the batch is validating" in capsys.readouterr().err


def test_a_report_as_a_file(
    scene: Scene, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    batch = scene.finish(scene.make([line("=a", "a"), line("b", "bad b")]))
    sheet, html = tmp_path / "items.csv", tmp_path / "report.html"
    capsys.readouterr()  # the scheduler's words
    assert main(["report", batch["id"], f"--csv={sheet}"]) == 0
    rows = list(csv.DictReader(sheet.read_text().splitlines()))
    assert [(row["custom_id"], row["status"]) for row in rows] == [
        ("'=a", "succeeded"),
        ("b", "failed"),
    ]
    scene.client.get(f"/v1/batches/{batch['id']}/report")
    end_report(scene, result=REPORT)
    assert main(["report", batch["id"], f"--html={html}"]) == 0
    assert html.read_text().startswith("<!doctype html>")
    assert "=a" in html.read_text()
    assert capsys.readouterr().out == ""


def test_two_batches_are_compared(
    scene: Scene, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ours, theirs = (scene.finish(scene.make([line("a", "a")])) for _ in range(2))
    answer = tmp_path / "comparison.json"
    capsys.readouterr()  # the scheduler's words
    command = ["report", ours["id"], f"--against={theirs['id']}", f"--output={answer}"]
    with ThreadPoolExecutor() as pool:
        asked = pool.submit(main, command)
        end_comparison(scene, result=REPORT)
        assert asked.result() == 0
    assert json.loads(answer.read_text()) == REPORT
    [job] = scene.client.get("/v1/jobs", params={"metric": "hatexscore-report"}).json()["data"]
    assert job["status"] == "succeeded"


def test_a_comparison_that_fails_says_why(scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    batch = scene.finish(scene.make([line("a", "a")]))
    capsys.readouterr()
    command = ["report", batch["id"], f"--against={batch['id']}"]
    error = {"type": "x/y", "title": "t", "status": 422, "detail": "other variants"}
    with ThreadPoolExecutor() as pool:
        asked = pool.submit(main, command)
        end_comparison(scene, error=error)
        assert asked.result() == 1
    assert "failed: other variants" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (["--against=batch_" + "0" * 32], "No such batch"),
        (["--against=batch_" + "0" * 32, "--plot=means"], "leave out --plot"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    scene: Scene, capsys: pytest.CaptureFixture[str], more: list[str], reason: str
) -> None:
    batch = scene.finish(scene.make([line("a", "a")]))
    capsys.readouterr()
    assert main(["report", batch["id"], *more]) == 1
    assert reason in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["--csv", "--html"])
def test_nothing_is_written_where_there_is_nothing(
    scene: Scene, tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    batch, target = scene.make([line("a", "a")]), tmp_path / "file"
    assert main(["report", batch["id"], kind, str(target)]) == 1
    assert "the batch is validating" in capsys.readouterr().err
    assert not target.exists()


def test_a_service_that_is_away_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TOUCHSTONE_URL", "http://127.0.0.1:9")
    assert main(["get", "job_1"]) == 1
    assert "http://127.0.0.1:9 cannot be reached" in capsys.readouterr().err


def test_what_is_no_address_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TOUCHSTONE_URL", "nowhere")
    assert main(["get", "job_1"]) == 1
    assert "nowhere" in capsys.readouterr().err


@pytest.mark.parametrize("command", [[], ["submit"], ["get"], ["report"]])
def test_help_is_there(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*command, "--help"])
    assert ended.value.code == 0
    assert "usage: touchstone" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["dance"],
        ["submit"],
        ["submit", "x", "--metadata", "y"],
        ["report", "x", "--csv", "y", "--html", "z"],
    ],
)
def test_a_wrong_command_line_is_refused(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
