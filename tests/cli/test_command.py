"""`touchstone` as people type it, on a real gateway: it does what it says, and says why it does
not. What is printed is tested in tests/sdk/test_cli.py."""

from __future__ import annotations

import csv
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from cli.__main__ import main as on_this_machine
from tests.batches import OWN, Scene, line, packed
from tests.gateway.test_batch_reports import REPORT, end_report, report_jobs
from tests.patience import eventually
from touchstone_client.cli.main import main
from touchstone_client.cli.output import WRONG

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
    assert code == 3, said.err
    assert [one["custom_id"] for one in answers] == ["first", "3"]
    assert json.loads(errors.read_text())["custom_id"] == "2"
    assert "2 of 3 answered, 1 failed" in said.err
    assert said.err.startswith("batch_")
    assert busy.client.get("/v1/batches").json()["data"][0]["metadata"] == {"who": "me"}


def test_submit_says_the_batch_and_get_shows_it(
    scene: Scene, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path / "in.jsonl", line("a", "a"))
    assert main(["submit", file]) == 0
    batch_id = capsys.readouterr().out.strip()
    assert main(["get", batch_id, "--json"]) == 0
    batch = json.loads(capsys.readouterr().out)
    assert (batch["id"], batch["status"]) == (batch_id, "validating")
    assert main(["list", "batches", "--status", "validating"]) == 0
    assert batch_id in capsys.readouterr().out
    assert main(["get", batch["input_file_id"]]) == 0
    assert capsys.readouterr().out.encode() == Path(file).read_bytes()
    assert main(["cancel", batch_id]) == 0
    assert main(["cancel", "batch_" + "0" * 32]) == WRONG
    assert "No such batch" in capsys.readouterr().err


def test_watch_stays_until_the_end(
    busy: Scene, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["submit", written(tmp_path / "in.jsonl", line("a", "a"), line("b", "bad"))]) == 0
    batch_id = capsys.readouterr().out.strip()
    assert main(["watch", batch_id]) == 3
    assert f"{batch_id} completed: 1 of 2 answered, 1 failed" in capsys.readouterr().out


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
    scene.client.post(f"/v1/batches/{batch['id']}/report")
    end_report(scene, result=REPORT)
    assert main(["report", batch["id"], f"--html={html}"]) == 0
    assert html.read_text().startswith("<!doctype html>")
    assert "=a" in html.read_text()
    assert main(["report", batch["id"], "--plot", "means"]) == 0
    assert capsys.readouterr().out == "<svg/>"


def test_a_comparison_that_fails_says_why(scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    batch = scene.finish(scene.make([line("a", "a")]))
    capsys.readouterr()
    command = ["report", batch["id"], f"--against={batch['id']}"]
    error = {"type": "x/y", "title": "t", "status": 422, "detail": "other variants"}
    with ThreadPoolExecutor() as pool:
        asked = pool.submit(main, command)
        end_comparison(scene, error=error)
        assert asked.result() == WRONG
    assert "other variants" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "code", "reason"),
    [
        (["--against=batch_" + "0" * 32], WRONG, "No such batch"),
        (["--against=batch_" + "0" * 32, "--plot=means"], WRONG, "leave out --plot"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    scene: Scene, capsys: pytest.CaptureFixture[str], more: list[str], code: int, reason: str
) -> None:
    batch = scene.finish(scene.make([line("a", "a")]))
    capsys.readouterr()
    assert main(["report", batch["id"], *more]) == code
    assert reason in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["--csv", "--html"])
def test_nothing_is_written_where_there_is_nothing(
    scene: Scene, tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    batch, target = scene.make([line("a", "a")]), tmp_path / "file"
    assert main(["report", batch["id"], kind, str(target)]) == 1
    assert "the batch is validating" in capsys.readouterr().err
    assert not target.exists()


def test_a_doctor_looks_at_everything(scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    main(["doctor", "--json"])
    found = {one["name"]: one["state"] for one in json.loads(capsys.readouterr().out)}
    for name in ("service", "TLS", "clock", "database", "Redis", "version", "key", "file store"):
        assert found[name] == "ok", name
    assert {"queues", "model embedded-hate"} <= set(found)
    assert {"webhook key"} <= set(found)
    scene.client.post("/v1/scores/hatexscore", json=OWN | {"text": "a"})
    main(["doctor"])
    assert "queue hatexscore: 1 wait" in capsys.readouterr().out


def test_a_service_that_is_away_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TOUCHSTONE_URL", "http://127.0.0.1:9")
    assert main(["doctor"]) == 1
    said = capsys.readouterr().out
    assert main(["list", "jobs"]) == 1
    for words in (said, capsys.readouterr().err):
        assert "http://127.0.0.1:9 cannot be reached" in words
        assert "TOUCHSTONE_URL" in words


def test_what_works_on_this_machine_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert on_this_machine(["submit"]) == 2
    assert "usage: python -m cli {models,keys" in capsys.readouterr().err
