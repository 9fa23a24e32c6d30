"""What somebody types who has not read the manual: it is taken as meant, or refused by name."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.results import recorded
from tests.sdk.recorded_service import RecordedService
from tests.sdk.test_cli import BATCH, LINE, service, typed
from touchstone_client import Touchstone
from touchstone_client._lines import batch_file
from touchstone_client.cli.main import main
from touchstone_client.cli.output import WRONG
from touchstone_client.cli.scoring import request_of
from touchstone_client.data.readers import Reading
from touchstone_client.errors import NotFound

__all__ = ["service", "typed"]
ENDPOINT = "/v1/scores/hatexscore"
BODY = {"text": "a", "explanation": "b"}


@pytest.mark.parametrize("columns", [None, {"text": "text", "explanation": "explanation"}])
def test_a_plain_line_keeps_its_custom_id(tmp_path: Path, columns: dict[str, str] | None) -> None:
    lines = [LINE | {"custom_id": "p1"}, LINE | {"id": "p2"}, LINE | {"custom_id": None}]
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, lines)))
    with batch_file(tmp_path / "in.jsonl", "/v1/scores/hatexscore", columns) as (_, content):
        found = list(map(json.loads, content))
    assert [one["custom_id"] for one in found] == ["p1", "p2", "3"]
    assert [one["body"] for one in found] == [BODY] * 3


@pytest.mark.parametrize(
    ("name", "content"),
    [("in.jsonl", '{"text": "a"}\n{"text": "b"}\n'), ("in.csv", "text,explanation\na,b\n")],
)
def test_many_lines_go_by_submit(
    typed: RecordedService,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    content: str,
) -> None:
    (tmp_path / name).write_text(content)
    assert main(["score", "hatexscore", str(tmp_path / name)]) == WRONG
    assert f"`touchstone submit {tmp_path / name} --metric hatexscore`" in capsys.readouterr().err


def test_one_scored_line_leaves_its_id_out(tmp_path: Path) -> None:
    (tmp_path / "in.json").write_text(json.dumps(LINE | {"custom_id": "p1", "id": 7}))
    assert request_of("hatexscore", str(tmp_path / "in.json"), {}, ()) == BODY


@pytest.mark.parametrize(
    "arguments",
    [
        ["convert", "in.jsonl", "out.xlsx"],
        ["submit", "in.jsonl", "--metric=hatexscore", "--wait", "--output=out.xlsx"],
        ["get", BATCH, "--output=out.xlsx"],
    ],
)
def test_a_form_that_is_not_written_is_refused_before_any_work(
    typed: RecordedService,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.jsonl").write_text(json.dumps(LINE))
    assert main(arguments) == WRONG
    assert (
        "out.xlsx cannot be written; its name must end with one of .jsonl"
    ) in capsys.readouterr().err
    assert typed.asked == []
    assert not (tmp_path / "out.xlsx").exists()


def test_what_parquet_names_is_parquet(typed: RecordedService, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    assert main(["report", BATCH, "--parquet", str(tmp_path / "r.txt")]) == 0
    assert parquet.read_table(tmp_path / "r.txt").num_rows > 0
    with Touchstone(typed.url) as ts, pytest.raises(ValueError, match=r"\.parquet"):
        ts.batches.get(BATCH).save(tmp_path / "r.txt")


def test_a_reports_score_in_a_list_is_its_estimate(
    typed: RecordedService, capsys: pytest.CaptureFixture[str]
) -> None:
    report = recorded("report_hatexscore")
    typed.changed["GET /v1/jobs"] = recorded("list_jobs") | {
        "data": [report], "has_more": False
    }  # fmt: skip
    assert main(["list", "jobs", "--limit", "1"]) == 0
    shown = capsys.readouterr().out.splitlines()[1]
    value = report["result"]["score"]["value"]
    assert f" {value:.3f} " in shown
    assert "=" not in shown


@pytest.mark.parametrize("command", [["get", BATCH, "--output"], ["report", BATCH, "--parquet"]])
def test_a_batch_that_has_not_ended_gives_no_file(
    typed: RecordedService,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    command: list[str],
) -> None:
    typed.changed["GET /v1/batches/ID"] = recorded("get_batch") | {
        "status": "in_progress", "output_file_id": None, "error_file_id": None
    }  # fmt: skip
    assert main([*command, str(tmp_path / "out.jsonl")]) == 1
    assert "has not ended" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "content"),
    [("in.jsonl", ""), ("in.jsonl", " \n\n"), ("in.csv", "text,explanation\n")],
)
def test_a_file_without_a_request_is_not_sent(
    typed: RecordedService,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    content: str,
) -> None:
    (tmp_path / name).write_text(content)
    assert main(["submit", str(tmp_path / name), "--metric", "hatexscore"]) == WRONG
    assert f"{name} contains no request" in capsys.readouterr().err
    assert typed.asked == []


@pytest.mark.parametrize("command", ["watch", "submit"])
def test_why_a_batch_failed_is_said(
    typed: RecordedService, tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    (tmp_path / "in.jsonl").write_text(json.dumps(LINE))
    faults = [
        {"code": "x", "message": "it is bent", "line": line, "param": None} for line in (3, None)
    ]
    failed = recorded("get_batch") | {
        "status": "failed", "errors": {"object": "list", "data": faults}
    }  # fmt: skip
    typed.changed["GET /v1/batches/ID"] = typed.changed["POST /v1/batches"] = failed
    typed.changed["GET /v1/batches/ID/events"] = b"event: end\ndata: {}\n\n"
    file = str(tmp_path / "in.jsonl")
    arguments = {"watch": [BATCH], "submit": [file, "--metric=hatexscore", "--wait"]}
    assert main([command, *arguments[command]]) == WRONG
    assert "\n  line 3: it is bent\n  it is bent\n" in capsys.readouterr().err


def test_a_table_without_a_metric_asks_for_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in.csv").write_text("text,explanation\na,b\n")
    files = [str(tmp_path / "in.csv"), str(tmp_path / "out.jsonl")]
    assert main(["convert", *files]) == WRONG
    said = capsys.readouterr().err
    assert "no metric is given; set it with --metric" in said
    assert "--map FIELD=COLUMN" in said
    assert main(["convert", *files, "--map", "text=text"]) == 0


class Series(list[str]):
    """As pandas and polars call a column."""


@pytest.mark.parametrize("data", ["posts.csv", Path("posts.csv"), Series(), LINE, 7, ["a"]])
def test_what_is_no_requests_is_not_scored(typed: RecordedService, data: Any) -> None:
    with Touchstone(typed.url) as ts, pytest.raises(TypeError, match=r"iterable of|row 0 is no"):
        ts.score_many(data, "hatexscore", progress=False)
    assert typed.asked == []


def test_a_metric_that_is_not_there_is_named(
    typed: RecordedService, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault = {"detail": "name the metric", "pointer": "#/metric"}
    problem = {"title": "Bad", "status": 422, "detail": "name the metric", "errors": [fault]}
    monkeypatch.setattr(typed, "answer", lambda _: (422, json.dumps(problem).encode()))
    with Touchstone(typed.url) as ts, pytest.raises(NotFound, match="there is no metric 'nope'"):
        ts.score_many([LINE], "nope", progress=False)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"text": math.nan}, "text is nan"),
        ({"metadata": {"a": [1, math.inf]}}, r"metadata\.a\[1\] is inf"),
    ],
)
def test_a_number_that_json_has_not_is_named(
    typed: RecordedService, fields: dict[str, Any], said: str
) -> None:
    with Touchstone(typed.url) as ts, pytest.raises(ValueError, match=said):
        ts.hatexscore(LINE, **fields)
    assert typed.asked == []


@pytest.mark.parametrize("name", ["in.csv", "in.jsonl"])
def test_a_field_that_a_metric_has_not_is_named(
    typed: RecordedService, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    (tmp_path / "in.jsonl").write_text(json.dumps({"body": "a", "explanation": "b"}))
    (tmp_path / "in.csv").write_text("body,text,explanation\na,c,b\n")
    command = ["submit", str(tmp_path / name), "--metric", "hatexscore", "--map"]
    assert main([*command, "txt=body"]) == WRONG
    assert "hatexscore has no field txt" in capsys.readouterr().err
    assert typed.asked == []


WRONG_LINES = [
    ("[]", "not a JSON object"),
    ("null", "not a JSON object"),
    ('{"text": NaN}', "NaN is not a JSON number"),
    ('{"text": 1e999}', "body.text is inf, which JSON cannot represent"),
    ('{"text": ' + "[" * 100_000 + "]" * 100_000 + "}", "not JSON: "),
    ("{", "not JSON: "),
]


@pytest.mark.parametrize("columns", [None, {"text": "text", "explanation": "explanation"}])
@pytest.mark.parametrize("wrong", WRONG_LINES, ids=lambda one: one[0][:12])
def test_a_line_that_cannot_be_read_is_left_out_by_its_number(
    tmp_path: Path, columns: dict[str, str] | None, wrong: tuple[str, str]
) -> None:
    """The others keep theirs, blank lines before them or not."""
    line, why = wrong
    good = json.dumps(BODY)
    (tmp_path / "in.jsonl").write_text(f"{line}\n\n{good}\n{line}\n{good}\n")
    reading = Reading(refused={})
    with batch_file(tmp_path / "in.jsonl", ENDPOINT, columns, reading) as (_, content):
        kept = {number: raw for number, raw in enumerate(content, 1) if raw.strip()}
    assert {number: json.loads(raw)["body"] for number, raw in kept.items()} == {3: BODY, 5: BODY}
    assert reading.refused is not None
    assert sorted(reading.refused) == [1, 4]
    assert all(why in said for said in reading.refused.values())
    with (
        pytest.raises(ValueError, match=r"^line 1") as raised,
        batch_file(tmp_path / "in.jsonl", ENDPOINT, columns),
    ):
        pass
    assert why in str(raised.value)


def test_submit_names_what_it_left_out_and_sends_the_rest(
    typed: RecordedService,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("touchstone_client.cli.scoring.faults_when_read", lambda _: [])
    file = tmp_path / "in.jsonl"
    file.write_text("\n".join([json.dumps(BODY), *(line for line, _ in WRONG_LINES)]))
    command = ["submit", str(file), "--metric=hatexscore"]
    assert main(command) == WRONG
    assert "line 2 is not a JSON object" in capsys.readouterr().err
    assert main([*command, "--skip-invalid"]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("batch_")
    assert "left out (6 in all):" in said.err
    for number, (_, why) in enumerate(WRONG_LINES, 2):
        assert re.search(f"line {number}: .*{why}", said.err)
    file.write_text("null\n[]\n")
    assert main([*command, "--skip-invalid"]) == WRONG
    assert "contains no request: line 1: not a JSON object, and 1 more" in capsys.readouterr().err
