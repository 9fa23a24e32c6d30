"""Two tiny models over two data sets by one command: with a service, without one, twice."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.answers import CheckedClient
from tests.end_to_end.load import finished
from tests.end_to_end.service import ROOT, Service, environment, serving
from tests.papers.tiny_writers import ANSWERS, MODELS, save_models, served_model
from tests.patience import SECONDS

HATECHECK = ROOT.parent / "shared" / "data" / "hatecheck.jsonl"
FEW = 600  # every so many rows of it
OURS: list[dict[str, Any]] = [
    {"text": "Those immigrants are ruining our town.", "gold": "hateful",
     "annotators": ["hateful", "hateful", "non-hateful"]},
    {"text": "We say that immigrants are ruining our town, too.", "gold": "hateful"},
    {"text": "Nobody likes these immigrants, send them home.", "gold": "hateful",
     "annotators": ["hateful", "non-hateful", "non-hateful"]},
    {"text": "Our neighbours brought soup when we were ill.", "gold": "non-hateful"},
    {"text": "The road works are ruining our town.", "gold": "non-hateful"},
    {"text": "The bakery at the corner has a new oven.", "gold": "non-hateful"},
]  # fmt: skip
OTHERS: list[dict[str, Any]] = [
    {"text": "The Dutch are ruining our town.", "gold": "hateful"},
    {"text": "The rain is ruining our town.", "gold": "non-hateful"},
    {"text": "What a friendly little harbour.", "gold": "non-hateful"},
]
ASKED: dict[str, Any] = {
    "text": "Those immigrants are ruining our town",
    "language": "en",
    "prompt": {"user": "{text}"},
}
TABLES = ("tables.md", "tables.json", "tables.csv")

pytestmark = pytest.mark.end_to_end


def write(file: Path, rows: list[dict[str, Any]]) -> Path:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return file


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Models and data."""
    folder = tmp_path_factory.mktemp("papers")
    save_models(folder)
    write(folder / "ours.jsonl", OURS)
    others = OTHERS
    if HATECHECK.exists():
        lines = HATECHECK.read_text("utf-8").splitlines()[::FEW]
        others = [json.loads(line) for line in lines]
    write(folder / "others.jsonl", others)
    return folder


@pytest.fixture(scope="module")
def running(place: Path) -> Iterator[Service]:
    """With a third model: the weights of the first, behind llama.cpp's server."""
    with served_model(place) as entry:
        models_file = place / "with-served.toml"
        models_file.write_text((place / "models.toml").read_text("utf-8") + entry, "utf-8")
        with serving(place / "var", TOUCHSTONE_MODELS_FILE=str(models_file)) as service:
            yield service


def bench(place: Path, paper: str, output: str, *more: str) -> tuple[int, str, str]:
    """Exit code, what is on stdout, on stderr."""
    command = [sys.executable, "-m", "cli", "bench", paper, "--output", output]
    data = ["--models", *MODELS, "--data", "ours.jsonl", "others.jsonl", "--resamples", "199"]
    ran = subprocess.run(
        [*command, *data, *more],
        cwd=place,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    return ran.returncode, ran.stdout, ran.stderr


def files(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


def test_the_papers_tables_twice_and_without_a_service(place: Path, running: Service) -> None:
    code, printed, said = bench(place, "hatexscore", "a", "--url", running.url, "--shots", "0", "2")
    assert code == 0, said
    first = files(place / "a")
    assert sorted(first) == ["answers.jsonl", "jobs.json", *sorted(TABLES)]
    assert printed == first["tables.md"].decode()
    asked = len(first["answers.jsonl"].splitlines())
    assert f"{asked} of {asked} answered" in said

    away = ("--url", "http://127.0.0.1:9")  # where nobody listens: nothing is asked again
    code, again, said = bench(place, "hatexscore", "a", *away, "--shots", "0", "2")
    assert (code, again, said) == (0, printed, "")
    assert files(place / "a") == first

    local = ("--local", "models.toml")
    code, elsewhere, said = bench(place, "hatexscore", "b", *local, "--shots", "0", "2")
    assert (code, elsewhere) == (0, printed), said
    second = files(place / "b")
    assert [second[name] for name in TABLES] == [first[name] for name in TABLES]
    assert second["jobs.json"] != first["jobs.json"]
    read_cells(place / "a", running)


def read_cells(folder: Path, running: Service) -> None:
    """The numbers are those of the answers, and the service has the jobs that they rest on."""
    told = json.loads((folder / "tables.json").read_text("utf-8"))
    names = [table["name"] for table in told["tables"]]
    assert names[:3] == ["Table 1 (0-shot)", "Table 2 (0-shot)", "Figure 2 (0-shot)"]
    assert names[3] == "Table 9 (2-shot)"
    lines = {(one["data set"], one["model"]): one for one in told["tables"][0]["lines"]}
    assert set(lines) == {(data, model) for data in ("ours", "others") for model in MODELS}
    thorough, shy = (lines["ours", model] for model in MODELS)
    assert thorough["rows"] == {"answered": 6, "refused": 0, "unparsable": 0, "failed": 0}
    assert shy["rows"] == {"answered": 3, "refused": 3, "unparsable": 0, "failed": 0}
    assert thorough["cells"]["accuracy"]["value"] == pytest.approx(4 / 6)
    assert shy["cells"]["accuracy"]["n"] == 3
    sides = [one for one in told["tables"][1]["lines"] if one["model"] == "all"]
    assert sum(one["cells"]["prefer_decision"]["n"] for one in sides) == 2
    jobs = json.loads((folder / "jobs.json").read_text("utf-8"))["cells"]
    [own] = [one["jobs"] for one in jobs if (one["table"], one["column"], one["data set"],
             one["model"]) == ("Table 1 (0-shot)", "accuracy", "ours", "shy")]  # fmt: skip
    assert len(own) == 3
    for job in own:
        found = running_job(running, job)
        assert found["result"]["elicitation"]["decision"] == "non-hateful"
        assert found["metadata"]["model"] == "shy"


def running_job(running: Service, job: str) -> dict[str, Any]:
    import httpx

    answer = httpx.get(f"{running.url}/v1/jobs/{job}").raise_for_status()
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.parametrize("model", [MODELS[0], "served"])
def test_a_model_decides_explains_and_is_scored_in_one_job(running: Service, model: str) -> None:
    """By this service and by the metric's own: here, and behind a real server."""
    score = {"hatexscore": {"options": {"control_draws": 19}}}
    found = elicit(running, "explanations", {**ASKED, "model": model, "score": score})
    told = found["elicitation"]
    assert (told["outcome"], told["decision"]) == ("answered", "hateful")
    assert told["answer"].strip() == ANSWERS[MODELS[0]]["<attack>"][0]
    assert (
        "".join(told["answer"][one["start"] : one["end"]] for one in told["tokens"])
        == (told["answer"])
    )
    [scored] = found["scores"]
    assert scored["score"] is not None
    body = {"text": ASKED["text"], "model": model, "explain": {"prompt": ASKED["prompt"]}}
    own = elicit(running, "scores/hatexscore", {**body, "options": {"control_draws": 19}})
    assert own["elicitation"]["answer"] == told["answer"]
    assert {name: own[name] for name in ("score", "components", "evidence")} == {
        name: scored[name] for name in ("score", "components", "evidence")
    }


@pytest.mark.parametrize(
    ("model", "more", "outcome"),
    [
        (MODELS[1], {}, "refused"),
        (MODELS[0], {"reader": "labels", "labels": ["spam", "fair"]}, "unparsable"),
        ("served", {"reader": "labels", "labels": ["spam", "fair"]}, "unparsable"),
    ],
)
def test_what_is_no_answer_of_a_model_is_never_scored(
    running: Service, model: str, more: dict[str, Any], outcome: str
) -> None:
    asked = {**ASKED, "model": model, "prompt": ASKED["prompt"] | more}
    found = elicit(running, "explanations", {**asked, "score": ["hatexscore", "sor"]})
    assert (found["elicitation"]["outcome"], found["scores"]) == (outcome, [])
    assert [one["code"] for one in found["unscored"]] == [outcome] * 2


def elicit(running: Service, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """The result of the job, once it has succeeded."""
    with CheckedClient(base_url=running.url, timeout=SECONDS) as client:
        found: dict[str, Any] = finished(client, f"/v1/{path}", body)["result"]
    return found


def test_a_model_that_is_not_there_is_refused_before_anything_is_asked(
    place: Path, running: Service
) -> None:
    more = ("--url", running.url, "--models", "thorough", "nobody")
    code, printed, said = bench(place, "hatexscore", "c", *more)
    assert (code, printed) == (64, "")
    assert "no model 'nobody' is configured" in said
    assert "thorough" in said
    assert not (place / "c" / "answers.jsonl").exists()
