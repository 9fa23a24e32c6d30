"""`touchstone` as it is typed: what it prints, how it ends, and what an interruption leaves."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from cyclopts import App, Argument
from scipy.stats import binomtest

from tests.gateway.results import recorded
from tests.patience import SECONDS, busy, eventually
from tests.sdk.recorded_service import RecordedService, recorded_service
from tests.sdk.test_imports import closure, empty, link, run
from touchstone_client import Touchstone
from touchstone_client._lines import batch_file
from touchstone_client._wire import part_of
from touchstone_client.cli.app import app
from touchstone_client.cli.main import OF_THE_SERVICE, main
from touchstone_client.cli.objects import form_of
from touchstone_client.cli.output import WORSE, WRONG, Output, WrongUse, aligned, clean
from touchstone_client.cli.reports import sign_p
from touchstone_client.data import ColumnMapping
from touchstone_client.data.readers import table_of

__all__ = ["empty"]
MOST_MEMORY = 200_000_000
JOB, BATCH = f"job_{'0' * 32}", f"batch_{'0' * 32}"


@pytest.fixture
def service() -> Iterator[RecordedService]:
    with recorded_service() as made:
        yield made


@pytest.fixture
def typed(service: RecordedService, monkeypatch: pytest.MonkeyPatch) -> RecordedService:
    """At 80 columns, in UTC, of a service that answers as one did."""
    monkeypatch.setenv("TOUCHSTONE_URL", service.url)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    output = recorded("score_hatexscore")
    line = {"custom_id": "a", "error": None, "response": {"status_code": 200, "body": output}}
    service.changed["GET /v1/files/ID/content"] = json.dumps(line).encode() + b"\n"
    service.changed["GET /v1/batches/ID"] = recorded("get_batch") | {"output_file_id": "file_0"}
    return service


def commands(of: App = app) -> Iterator[tuple[list[str], App]]:
    """Yield the words and the application of every command and its actions."""
    for name in of:
        if not name.startswith("-"):
            yield [name], of[name]
            yield from (([name, *words], each) for words, each in commands(of[name]))


COMMANDS = [words for words, _ in commands() if words[0] not in OF_THE_SERVICE]


def arguments_of(command: App) -> list[Argument]:
    """Return the arguments and options that a command parses itself."""
    if command.default_command is None:
        return []
    arguments = command.assemble_argument_collection(parse_docstring=True)
    return [each for each in arguments if each.parse]


def options(command: App) -> set[str]:
    return {name for each in arguments_of(command) for name in each.names if name[0] == "-"}


def test_no_option_of_a_command_hides_an_option_of_all_commands() -> None:
    assert options(app.meta) >= {"--url", "--json", "--version"}
    for words, command in commands():
        assert not options(command) & options(app.meta), words


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_has_help_and_refuses_wrong_use(
    words: list[str], typed: RecordedService, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, "--help"]) == 0
    assert f"Usage: touchstone {' '.join(words)} " in capsys.readouterr().out
    needed = ["--output=x"] if words == ["judgements", "export"] else []
    assert main([*words, *needed, "--jsn"]) == WRONG
    said = capsys.readouterr()
    assert said.out == ""
    if words in (["webhooks"], ["judgements"]):
        assert 'Unknown command "--jsn"' in said.err
    else:
        assert "Unknown option: --jsn. Did you mean" in said.err
    assert f"`touchstone {' '.join(words)} --help`" in said.err
    assert len(said.err.splitlines()) == 1
    assert typed.asked == []


def test_an_endpoint_is_made_at_the_service(
    typed: RecordedService, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["webhooks", "create", "https://receiver.test/hook"]) == 0
    assert "whsec_" in capsys.readouterr().out
    assert typed.asked[-1] == "POST /v1/webhook-endpoints"


def test_a_key_that_is_none_is_not_repeated(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TOUCHSTONE_API_KEY", "tsk_very\nsecret")
    assert main(["list", "jobs"]) == WRONG
    said = capsys.readouterr()
    assert "the API key contains a character that is not allowed" in said.err
    assert "secret" not in said.err + said.out


def test_packages_that_are_missing_are_named(empty: Path) -> None:
    script = """
import sys
sys.stderr = sys.stdout
try:
    from touchstone_client.cli.main import main
except SystemExit as ended:
    print(ended.code)
"""
    said, code = run(empty, script).splitlines()
    assert code == str(WRONG)
    assert "run pip install 'path/to/sdk[cli]'" in said
    for name in closure(("cyclopts",)):
        link(name, empty)
    script = """
import sys
from touchstone_client.cli.main import main
print(main(["--help"]))
sys.stderr = sys.stdout
open("a.jsonl", "w").write("{}")
for one in (["keys"], ["models", "add", "x"], ["mcp"],
            ["convert", "a.jsonl", "a.parquet"], ["convert", "s3://a/b.csv", "c.jsonl"]):
    print(main(one))
assert not {"mcp", "pyarrow", "fsspec", "services"} & set(sys.modules)
"""
    shown, _, lines = run(empty, script).partition("\n0\n")
    assert "Usage: touchstone COMMAND" in shown
    answers, codes = lines.splitlines()[::2], lines.splitlines()[1::2]
    assert codes == [str(WRONG)] * 5
    hints = ["pip install -e", "pip install -e", "[mcp]", "[data]", "[data]"]
    assert all(hint in one for hint, one in zip(hints, answers, strict=True)), answers


TABLES = {
    "jobs": ["list", "jobs"],
    "batches": ["list", "batches"],
    "files": ["list", "files"],
    "job": ["get", JOB],
    "batch": ["get", BATCH],
    "metrics": ["metrics"],
    "metric": ["metrics", "hatexscore"],
    "endpoints": ["webhooks", "list"],
    "deliveries": ["webhooks", "failed", f"we_{'0' * 32}"],
    "score": ["score", "hatexscore", "--text", "a", "--explanation", "b"],
    "report": ["report", BATCH, "--by", "metadata.model"],
    "cancelled": ["cancel", JOB, BATCH],
}


@pytest.mark.parametrize("name", TABLES)
def test_a_command_prints_plain_lines_or_one_json_document(
    typed: RecordedService, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert main(TABLES[name]) == 0
    shown = capsys.readouterr().out
    assert shown.strip()
    assert "\x1b" not in shown
    assert main([*TABLES[name], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)


def test_jobs_are_listed_with_their_verdicts(
    typed: RecordedService, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["list", "jobs", "--verdict", "holds_up", "--batch", BATCH, "--metadata", "a=b"]
    assert main(command) == 0
    assert "verdict" in capsys.readouterr().out.splitlines()[0]
    query = parse_qs(typed.queries["GET /v1/jobs"])
    filters = {"verdict": ["holds_up"], "batch": [BATCH], "metadata[a]": ["b"]}
    assert filters.items() <= query.items()
    assert main(["list", "jobs", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == recorded("list_jobs")["data"]
    assert main(["list", "jobs", "--json", "--full"]) == 0
    assert "expand=details" in typed.queries["GET /v1/jobs"]


def test_the_widest_column_is_cut_and_no_terminal_is_obeyed() -> None:
    rows = [("short", "x" * 90), ("日本語", "\x1b[31mred\x07\n")]
    lines = aligned(("name", "text"), rows, 40)
    assert lines[1][1][0] == "x" * 31 + "…"
    assert [one[0][1] for one in lines] == [2, 1, 0]
    assert aligned(("a", "b"), [("i" * 90, "x" * 90)], 80)[1][0][0] == "i" * 90
    assert lines[2][1][0] == "\ufffd[31mred\ufffd "
    assert clean("a\nb") == "a\nb"


def test_colours_are_of_a_terminal_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Output(False).coloured("failed") == "failed"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert Output(False).coloured("failed") == "\x1b[31mfailed\x1b[0m"
    monkeypatch.setenv("NO_COLOR", "1")
    assert Output(False).coloured("failed") == "failed"


def spawned(service: RecordedService, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "touchstone_client.cli", *arguments]
    environment = {**os.environ, "TOUCHSTONE_URL": service.url}
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    # as at a terminal: who starts the tests in a shell's background hands down that it is ignored
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, **pipes)
    finally:
        signal.signal(signal.SIGINT, before)


LINE = {"text": "a", "explanation": "b"}
GOES_ON = {"status": "queued", "result": None, "finished_at": None}


@pytest.mark.parametrize(
    ("command", "silent", "said"),
    [
        ("submit", "POST /v1/files", "interrupted while uploading: no batch was created"),
        (
            "submit",
            "GET /v1/batches/ID/events",
            "the batch continues on the service; follow it with `touchstone watch batch_",
        ),
        ("submit", "GET /v1/batches/ID/events", " --output FILE`"),
        (
            "score",
            "GET /v1/jobs/ID/events",
            "the job continues on the service; follow it with `touchstone watch job_",
        ),
    ],
)
def test_ctrl_c_says_what_goes_on(
    service: RecordedService, tmp_path: Path, command: str, silent: str, said: str
) -> None:
    (tmp_path / "in.jsonl").write_text(json.dumps(LINE))
    arguments = {
        "submit": ["submit", str(tmp_path / "in.jsonl"), "--metric=hatexscore", "--wait"],
        "score": ["score", "hatexscore", "--text", "a", "--explanation", "b"],
    }
    service.silent.add(silent)
    service.changed["POST /v1/scores/hatexscore"] = recorded("score_hatexscore") | GOES_ON
    with spawned(service, *arguments[command]) as process:
        eventually(lambda: silent in service.asked, "it has not come so far")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=SECONDS * busy())
    assert process.returncode == 130
    assert said in err
    assert "Traceback" not in err
    assert out == ""


def test_a_reader_that_has_seen_enough_is_no_fault(service: RecordedService) -> None:
    service.changed["GET /v1/files/ID/content"] = b"x" * 99 + b"\n" + b"y" * 20_000_000
    with spawned(service, "get", f"file_{'0' * 32}") as process:
        assert process.stdout is not None
        assert process.stdout.read(100).endswith("x\n")
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == ""
        assert process.wait(SECONDS * busy()) == 0


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
@pytest.mark.parametrize("count", [500, pytest.param(50_000, marks=pytest.mark.nightly)])
def test_a_large_batch_takes_little_memory(
    service: RecordedService, tmp_path: Path, form: str, count: int
) -> None:
    if form == "parquet":
        pytest.importorskip("pyarrow")
    answer = recorded("score_hatexscore")
    line = {"custom_id": "a", "error": None, "response": {"status_code": 200, "body": answer}}
    service.changed["GET /v1/files/ID/content"] = (json.dumps(line).encode() + b"\n") * count
    counts = {"total": count, "completed": count, "failed": 0}
    ended = {"status": "completed", "output_file_id": "file_0", "error_file_id": None}
    batch = recorded("create_batch") | ended | {"request_counts": counts}
    service.changed["GET /v1/batches/ID"] = service.changed["POST /v1/batches"] = batch
    service.changed["GET /v1/batches/ID/events"] = b"event: end\ndata: {}\n\n"
    source, target = tmp_path / f"in.{form}", tmp_path / f"out.{form}"
    lines = "".join(f"{json.dumps(LINE | {'text': f'{n} ' * 100})}\n" for n in range(count))
    (tmp_path / "in.jsonl").write_text(lines)
    script = f"""
import re, sys
from touchstone_client._wire import part_of
from touchstone_client.cli.main import main
if {form!r} != "jsonl":
    main(["convert", {str(tmp_path / "in.jsonl")!r}, {str(source)!r}])
code = main(["submit", {str(source)!r}, "--metric=hatexscore", "--wait",
             "--output", {str(target)!r}])
used = re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())
print(code, int(used[1]) * 1024)  # ru_maxrss is of whoever started this process, too
"""
    environment = {**os.environ, "TOUCHSTONE_URL": service.url}
    ran = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    code, used = ran.stdout.splitlines()[-1].split()
    assert (code, ran.stdout.splitlines()[0]) == ("0", batch["id"])
    assert int(used) < MOST_MEMORY
    if form != "parquet":
        assert len(target.read_bytes().splitlines()) >= count


def test_a_rule_decides_how_a_comparison_ends(
    typed: RecordedService, capsys: pytest.CaptureFixture[str]
) -> None:
    report = recorded("report_hatexscore")
    ends = {"value": -0.1, "low": -0.2, "high": -0.05, "of": 3, "clusters": 2}
    one = {"component": "score", "pairs": 3, "difference": ends, "p_value": 1e-4}
    for name in ("p_t", "p_randomization", "p_wilcoxon", "effect"):
        one[name] = None
    one |= {"higher": 0, "equal": 1, "lower": 2, "p_adjusted": 4e-4}
    comparison = {
        "decision": "Do not switch to the new side: its score is clearly worse.",
        "pairs": 3,
        "unpaired_new": 0,
        "unpaired_baseline": 1,
        "left_out": {},
        "warnings": [],
    }
    report["result"]["comparison"] = comparison | {"differences": [one]}
    typed.changed["POST /v1/reports"] = report
    typed.asked.clear()
    assert main(["compare", BATCH, BATCH]) == 0
    assert typed.asked.count("GET /v1/batches/ID") == 1  # of each batch once
    assert "\nDo not switch to the new side" in capsys.readouterr().out
    assert main(["compare", BATCH, BATCH, "--fail-if", "low < -0.02"]) == WORSE
    assert main(["compare", BATCH, BATCH, "--fail-if", "high > 0"]) == 0
    assert main(["compare", BATCH, BATCH, "--fail-if", "nonsense"]) == WRONG
    ends["high"] = 0.05
    wanted = {"effect": 0.02, "beat_rate": None, "power": 0.8, "alpha": 0.05}
    report["result"]["plan"] = {"wanted": wanted, "compared_texts": 212, "warnings": []}
    capsys.readouterr()
    assert main(["compare", BATCH, BATCH, "--fail-if", "low < -0.02"]) == WORSE
    said = "2 texts cannot rule out a loss of 0.02; 212 texts can"
    assert said in capsys.readouterr().err
    assert json.loads(typed.sent["POST /v1/reports"])["plan"] == {"effect": 0.02}
    capsys.readouterr()
    complete = recorded("get_batch")
    typed.changed["GET /v1/batches/ID"] = complete | {"status": "cancelled"}
    assert main(["compare", BATCH, BATCH, "--fail-if", "high > 0"]) == 1
    assert "is cancelled, so lines may be missing" in capsys.readouterr().err
    typed.changed["GET /v1/batches/ID"] = complete
    one |= {"higher": 0, "equal": 3, "lower": 0}
    one["difference"] = ends | {"value": 0.0, "low": -0.9, "high": 0.9}
    assert main(["compare", BATCH, BATCH, "--fail-if", "low < -0.02"]) == 0
    assert "no change: all 3 scores are identical" in capsys.readouterr().err
    comparison |= {"pairs": 0, "unpaired_new": 0, "unpaired_baseline": 4}
    report["result"]["comparison"] = comparison | {"differences": [one]}
    capsys.readouterr()
    assert main(["compare", f"{BATCH}:metadata.writer=z", BATCH]) == 1
    assert not capsys.readouterr().out


@pytest.mark.parametrize("target", ["nowhere/job.json", ""])
def test_a_file_that_cannot_be_written_has_its_own_name(
    typed: RecordedService, tmp_path: Path, capsys: pytest.CaptureFixture[str], target: str
) -> None:
    assert main(["get", JOB, "--output", str(tmp_path / target)]) == WRONG
    assert capsys.readouterr().err.startswith(f"touchstone: {tmp_path / target}: ")


@pytest.mark.parametrize(
    ("lost", "gained", "verdicts", "code"),
    [
        (6, 0, [], WORSE),
        (4, 0, [], 0),
        (6, 6, [], 0),
        (0, 6, [], 0),
        (0, 0, [{"new": "not_tested", "baseline": "holds_up", "pairs": 5}], WORSE),
        (0, 0, [{"new": "not_tested", "baseline": "not_tested", "pairs": 5}], 0),
    ],
)
def test_a_batch_that_loses_its_scores_is_worse(
    lost: int,
    gained: int,
    verdicts: list[Any],
    code: int,
    typed: RecordedService,
    capsys: pytest.CaptureFixture[str],
) -> None:
    report = recorded("report_hatexscore")
    ends = {"value": 0.0, "low": -0.9, "high": 0.9, "of": 1, "clusters": 1}
    score = {"component": "score", "pairs": 1, "difference": ends, "higher": 0, "equal": 1}
    names = ("p_value", "p_t", "p_randomization", "p_wilcoxon", "effect", "p_adjusted")
    score |= dict.fromkeys(names) | {"lower": 0}
    counts = {
        "pairs": 12,
        "unpaired_new": 0,
        "unpaired_baseline": 0,
        "left_out": {},
        "warnings": [],
    }
    counts |= {"undefined_new": lost, "undefined_baseline": gained, "verdicts": verdicts}
    report["result"]["comparison"] = counts | {"differences": [score]}
    typed.changed["POST /v1/reports"] = report
    assert main(["compare", BATCH, BATCH, "--fail-if", "high < 0"]) == code
    said = capsys.readouterr()
    assert f"lines with a score: {lost} lost, {gained} gained" in said.out
    assert ("more than chance explains" in said.err) is (code == WORSE)


def test_a_wrong_use_of_a_command_of_the_service_is_one_of_ours() -> None:
    assert main(["keys", "unknown"]) == WRONG


@pytest.mark.parametrize(("lost", "gained"), [(0, 0), (5, 0), (9, 4), (400, 380)])
def test_the_sign_test_is_exact(lost: int, gained: int) -> None:
    expected = binomtest(lost, lost + gained, alternative="greater").pvalue if lost else 1.0
    assert sign_p(lost, gained) == pytest.approx(expected)


def test_a_plan_is_asked_for_as_typed(
    typed: RecordedService, capsys: pytest.CaptureFixture[str]
) -> None:
    report = recorded("report_hatexscore")
    wanted = {"effect": 0.05, "beat_rate": None, "power": 0.9, "alpha": 0.05}
    report["result"]["plan"] = {"wanted": wanted, "texts": 212, "texts_upper": 290, "warnings": []}
    typed.changed["POST /v1/reports"] = report
    command = ["plan", BATCH, "--effect", "0.05", "--power", "0.9"]
    assert main([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["texts"] == 212
    asked = json.loads(typed.sent["POST /v1/reports"])
    assert asked["plan"] == {"effect": 0.05, "power": 0.9}
    assert "against" not in asked
    assert main([*command, "--against", BATCH]) == 0
    assert json.loads(typed.sent["POST /v1/reports"])["against"] == {"batch": BATCH}
    assert main(["plan", BATCH, "--power", "0.9"]) == WRONG


def test_a_part_of_a_batch_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert part_of("batch_1") == {"batch": "batch_1"}
    assert part_of("batch_1:model=a:b=c") == {"batch": "batch_1", "of_model": "a:b=c"}
    assert part_of("batch_1:metadata.k=v=w") == {"batch": "batch_1", "of_metadata": {"k": "v=w"}}
    for odd in ("batch_1:writer=a", "batch_1:metadata.=a", "batch_1:model"):
        with pytest.raises(ValueError, match="does not select a part"):
            part_of(odd)
    assert main(["compare", "batch_1:writer=a", "batch_1"]) == WRONG
    assert "metadata.KEY=VALUE" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["get", "nothing"], WRONG, "is not an id"),
        (["list", "files", "--metric", "hatexscore"], WRONG, "files have no metric"),
        (["list", "batches", "--verdict", "holds_up"], WRONG, "`touchstone list jobs`"),
        (["list", "jobs", "--since", "soon"], WRONG, "30m, 1h30m, 2d"),
        (["submit", "/nowhere.jsonl"], WRONG, "/nowhere.jsonl: No such file"),
        (["score", "hatexscore"], WRONG, "no request"),
        (["submit", "in.jsonl", "--metric=hatexscore", "--output=a.csv"], WRONG, "add --wait"),
        (["submit", "in.jsonl", "--metric=hatexscore", "--errors=a.csv"], WRONG, "add --wait"),
        (["metrics", "astrology"], WRONG, "choose one of: consistency, cot2el, "),
        (["score", "astrology", "--text", "a"], WRONG, "choose one of: consistency, cot2el, "),
        (["submit", "in.jsonl", "--metric", "nope"], WRONG, "choose one of: consistency, cot2el, "),
        (["delete"], WRONG, "say which jobs"),
        (["delete", JOB, "--metadata", "a=b"], WRONG, "say which jobs"),
        (["delete", BATCH, "--yes"], WRONG, "is not the id of a job"),
        (["get", "job_x/y"], WRONG, "Not found"),
        (["list", "batches", "--metric", "foo"], WRONG, "choose one of: consistency, cot2el, "),
        (["list", "batches", "--status", "foo"], WRONG, "choose one of validating, "),
        (["cancel", "job_x/y"], WRONG, "Not found"),
    ],
)
def test_a_refusal_is_one_line(
    typed: RecordedService,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    code: int,
    said: str,
) -> None:
    assert main(arguments) == code
    err = capsys.readouterr().err
    assert said in err
    assert len(err.splitlines()) == 1


def test_columns_that_are_guessed_are_said(
    typed: RecordedService, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "posts.csv"
    file.write_text("post,why\na,b\n")
    command = ["submit", str(file), "--metric", "hatexscore"]
    assert main([*command, "--yes"]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("batch_")
    assert "text is read from the column post, explanation is read from the column why" in said.err
    assert main([*command, "--map", "text=post", "--map", "explanation=why"]) == 0
    assert main([*command, "--map", "text=nowhere"]) == WRONG


def test_fields_that_are_swapped_with_columns_are_recognised(
    typed: RecordedService, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "posts.csv"
    file.write_text("Body,why\na,b\n")
    assert main(["submit", str(file), "--metric", "hatexscore", "--map", "Body=text"]) == WRONG
    assert "or --map text=Body" in capsys.readouterr().err
    assert main(["submit", str(file), "--metric", "hatexscore", "--map", "Body=why"]) == WRONG
    assert "comes first" not in capsys.readouterr().err


def test_a_table_that_convert_wrote_is_sent_whole(
    typed: RecordedService, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    posts, table = tmp_path / "posts.jsonl", tmp_path / "posts.csv"
    request = {"id": "1", "text": "=a", "explanation": "b", "decision": None, "options": {"k": 0.5}}
    posts.write_text(json.dumps(request), "utf-8")
    assert main(["convert", str(posts), str(table)]) == 0
    assert main(["submit", str(table), "--metric", "hatexscore"]) == 0
    assert "touchstone.fields" not in capsys.readouterr().err
    with batch_file(str(table), "/v1/scores/hatexscore") as (_, content):
        line = json.loads(content.read())
    assert {"id": line["custom_id"], **line["body"]} == request
    keep = ColumnMapping({"metadata": ["decision", "text"]})
    with table_of(table) as rows:
        assert keep.request(next(rows.rows)[1]) == {"metadata": {"text": "=a"}}


def test_jobs_are_deleted_after_a_question(
    typed: RecordedService, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    typed.changed["DELETE /v1/jobs/ID"] = {"id": JOB, "object": "job", "deleted": True}
    answer = {"object": "job_deletion", "jobs": 2, "lines": 3, "open": 0}
    typed.changed["DELETE /v1/jobs"] = answer
    assert main(["delete", JOB]) == WRONG
    assert not [one for one in typed.asked if one.startswith("DELETE")]
    assert "the request, the result and the lines in batch files" in capsys.readouterr().err
    assert main(["delete", JOB, JOB, "--yes"]) == 0
    assert typed.asked.count("DELETE /v1/jobs/ID") == 2
    capsys.readouterr()
    assert main(["delete", "--metadata", "user=u17", "--yes"]) == 0
    assert capsys.readouterr().out == "2 jobs and 3 lines of batches deleted\n"
    assert parse_qs(typed.queries["DELETE /v1/jobs"]) == {"metadata[user]": ["u17"]}
    typed.changed["DELETE /v1/jobs"] = answer | {"open": 1}
    assert main(["delete", "--metadata", "user=u17", "--yes"]) == 1
    assert "1 jobs have not ended" in capsys.readouterr().err
    assert main(["delete", "job_x/y", "--yes"]) == WRONG
    typed.asked.clear()
    for typed_answer, code in (("n\n", WRONG), ("y\n", 0)):
        monkeypatch.setattr(sys, "stdin", StringIO(typed_answer))
        monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
        assert main(["delete", JOB]) == code
    assert typed.asked == ["DELETE /v1/jobs/ID"]


@pytest.mark.parametrize("since", ["2026-11-26", "2026-11-26T08:00:00Z", "1h30m", "2d"])
def test_a_moment_is_a_date_or_a_time_ago(typed: RecordedService, since: str) -> None:
    for kind in ("jobs", "batches", "files"):
        assert main(["list", kind, "--since", since]) == 0
        assert re.search(r"created_after=\d{10}\b", typed.queries[f"GET /v1/{kind}"])


@pytest.mark.parametrize(
    ("content", "label"),
    [
        ("Text,Explanation,Language,Predicted_label\na,b,en,non-hateful\n", "non-hateful"),
        ("Text,Explanation,Predicted Label\na,b,hateful\n", "hateful"),
        ("sep=;\ntext;explanation;decision\na;b;hateful\n", "hateful"),
        ("text,explanation,decision,,\na,b,hateful,,\n", "hateful"),
        ("post,rationale,decision\na,b,hateful\n", "hateful"),
    ],
)
def test_no_decision_of_a_table_is_lost(
    typed: RecordedService, tmp_path: Path, content: str, label: str
) -> None:
    (tmp_path / "posts.csv").write_text(content)
    command = ["submit", str(tmp_path / "posts.csv"), "--metric", "hatexscore", "--yes"]
    assert main(command) == 0
    [line] = [one for one in typed.sent["POST /v1/files"].splitlines() if b'"custom_id"' in one]
    assert json.loads(line)["body"]["decision"] == label


def test_a_class_label_is_refused_with_its_cure(
    typed: RecordedService, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    row = {"text": "a", "explanation": "b", "decision": 1}
    table = pytest.importorskip("pyarrow").Table.from_pylist([row])
    parquet.write_table(table, tmp_path / "int_label.parquet")
    command = ["submit", str(tmp_path / "int_label.parquet"), "--metric", "hatexscore"]
    assert main(command) == WRONG
    cure = "--value decision:hateful=1"
    assert cure in capsys.readouterr().err
    assert main([*command, *cure.split(" ")]) == 0


def test_every_help_is_a_sentence() -> None:
    """As a new user reads it: what a command or an option does, with its capital and full stop."""
    for words, command in [([], app), *commands()]:
        assert command.help.partition("\n\n")[0].endswith("."), words
        for each in (*arguments_of(command), *arguments_of(app.meta)):
            if each.show:
                said = each.parameter.help or ""
                assert said[:1].isupper(), (words, each.names, said)
                assert said.endswith("."), (words, each.names, said)


def test_the_decision_is_an_option(typed: RecordedService) -> None:
    score = ["score", "hatexscore", "--text", "a", "--explanation", "b", "--decision", "hateful"]
    assert main(score) == 0
    sent = json.loads(typed.sent["POST /v1/scores/hatexscore"])
    assert sent["decision"] == "hateful"


def test_completion_knows_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    for shell in ("bash", "zsh", "fish"):
        assert main(["completion", shell]) == 0
        script = capsys.readouterr().out
        assert all(words[-1] in script for words, _ in commands())


def test_the_services_own_commands_are_found(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "list"]) == 0
    assert "embedded-hate" in capsys.readouterr().out
    assert main(["models", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["name"] == "embedded-hate"


def test_tools_of_a_model_score_and_read(typed: RecordedService) -> None:
    pytest.importorskip("mcp")
    from touchstone_client.cli.mcp_server import server

    with Touchstone(typed.url) as ts:
        made = server(ts)
        tools = {one.name for one in asyncio.run(made.list_tools())}
        assert tools == {"list_metrics", "score_explanation", "get_result", "batch_report"}
        asked = {"metric": "hatexscore", "fields": LINE}
        answer = asyncio.run(made.call_tool("score_explanation", asked))
        typed.changed["GET /v1/jobs/ID"] = recorded("ask_explanations")
        elicited = asyncio.run(made.call_tool("get_result", {"job_id": JOB}))
    assert "answered: hateful; hatexscore" in str(elicited)
    assert recorded("score_hatexscore")["result"]["verdict"] in str(answer)
    assert len(str(answer)) < 6_000


def test_the_version_is_of_both(typed: RecordedService, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.splitlines() == ["client 0.1.0", "service 0.1.0"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "no command is given; `touchstone --help`"),
        (["webhooks"], "no command is given; `touchstone webhooks --help`"),
        (["dance"], 'Unknown command "dance"'),
        (["submti", "x"], 'Did you mean "submit"?'),
        (["submit"], "FILE requires an argument"),
        (["watch"], "requires an argument"),
        (["submit", "x", "--metrc", "ice"], "Did you mean --metric?"),
        (["submit", "x", "--wait=perhaps"], 'unable to convert "perhaps" into bool'),
        (["submit", "x", "--metadata", "a"], "'a' does not have the form NAME=VALUE"),
        (["list", "job"], 'Did you mean "jobs"?'),
        (["list", "jobs", "--limit=0"], 'Invalid value "0" for --limit'),
        (["report", BATCH, "--csv=a", "--html=b"], "Mutually exclusive arguments: {--html, --csv}"),
        (["judgements", "export"], "--output requires an argument"),
    ],
)
def test_a_wrong_command_line_is_refused(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == WRONG
    assert said in capsys.readouterr().err


def test_a_request_comes_from_stdin_and_may_begin_with_a_hyphen(
    typed: RecordedService, monkeypatch: pytest.MonkeyPatch
) -> None:
    stdin = TextIOWrapper(BytesIO(json.dumps(LINE).encode()))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert main(["score", "hatexscore", "-", "--text", "- a list"]) == 0
    sent = json.loads(typed.sent["POST /v1/scores/hatexscore"])
    assert sent == LINE | {"text": "- a list"}


def test_the_address_is_an_option_of_every_command(
    typed: RecordedService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOUCHSTONE_URL", "http://127.0.0.1:9")
    assert main(["--url", typed.url, "list", "jobs"]) == 0
    assert main(["list", "jobs", "--url", typed.url]) == 0


@pytest.mark.parametrize(
    ("target", "form"),
    [("j.csv", "csv"), ("a.b/j.jsonl", "jsonl"), ("j.csv.gz", "csv"), ("/dev/fd/3", "jsonl")],
)
def test_judgements_are_written_as_the_file_is_called(target: str, form: str) -> None:
    assert form_of(target) == form
    with pytest.raises(WrongUse, match="add --format"):
        form_of("judged.xlsx")
