"""Client n works with service n + 1: the one that was released last, against this service.

It is tried by what it came with: its own example of a request for each metric, its own examples,
the commands of its own command line.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.end_to_end.service import Service
from tests.sdk.released import Released, chosen, has_history, released
from tests.sdk.test_examples import ARGUMENTS

needs_release = pytest.mark.skipif(
    chosen() is None, reason="no client has been released, and PREVIOUS_CLIENT names no commit"
)
WITHOUT = {"without_servers.py"}  # Local() runs the code of the service beside it: its own version
SCORES = """
import json, sys, touchstone_client
from touchstone_client import Touchstone

ts, bodies, scores = Touchstone(), json.load(open(sys.argv[1])), {}
for metric, body in bodies.items():
    result = getattr(ts, metric)(body)
    assert type(result).__name__ == metric.capitalize() + "Result", result
    assert ts.jobs.get(result.job.id).result == result
    scores[metric] = [result.score, result.verdict, result.reason]
print(json.dumps({"from": touchstone_client.__file__, "scores": scores}))
"""


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Released:
    commit = chosen()
    assert commit is not None
    return released(commit, tmp_path_factory.mktemp("released"))


@pytest.fixture
def folder(client: Released, tmp_path: Path) -> Path:
    """What its examples read."""
    shutil.copy(client.source / "examples" / "posts.jsonl", tmp_path)
    (tmp_path / "haf.json").write_text(json.dumps(client.bodies()["haf"]), "utf-8")
    return tmp_path


@pytest.mark.skipif(not has_history(), reason="there is no history of git")
def test_it_is_the_commits_package_and_not_the_checkouts(tmp_path: Path) -> None:
    made = released("HEAD", tmp_path)
    program = "import touchstone_client as one; print(one.__file__)"
    printed = made.run("-c", program, url="http://127.0.0.1:1", folder=tmp_path)
    assert Path(printed.strip()).is_relative_to(made.installed)
    assert len(made.bodies()) >= 6


@needs_release
@pytest.mark.nightly
@pytest.mark.end_to_end
def test_it_scores_with_every_metric_that_it_knows(
    client: Released, service: Service, tmp_path: Path
) -> None:
    bodies = tmp_path / "bodies.json"
    bodies.write_text(json.dumps(client.bodies()), "utf-8")
    said = json.loads(client.run("-c", SCORES, str(bodies), url=service.url, folder=tmp_path))
    assert Path(said["from"]).is_relative_to(client.installed)
    assert said["scores"].keys() == client.bodies().keys()
    assert all(verdict and reason for _, verdict, reason in said["scores"].values())


@needs_release
@pytest.mark.nightly
@pytest.mark.end_to_end
def test_its_examples_run(client: Released, service: Service, folder: Path) -> None:
    names = sorted(path.name for path in client.examples.glob("*.py"))
    assert names
    for name in set(names) - WITHOUT:
        words = [str(client.examples / name), *ARGUMENTS.get(name, [])]
        client.run(*words, url=service.url, folder=folder)


@needs_release
@pytest.mark.nightly
@pytest.mark.end_to_end
def test_its_command_line_has_a_batch_scored(
    client: Released, service: Service, folder: Path
) -> None:
    def touchstone(*words: str) -> str:
        start = ("-c", "from touchstone_client.cli.main import run; run()")
        return client.run(*start, *words, url=service.url, folder=folder)

    options = ("--metric", "hatexscore", "--yes", "--wait", "--output", "scores.jsonl", "--json")
    batch = json.loads(touchstone("submit", "posts.jsonl", *options))
    lines = (folder / "posts.jsonl").read_text("utf-8").splitlines()
    assert len((folder / "scores.jsonl").read_text("utf-8").splitlines()) == len(lines)
    assert json.loads(touchstone("report", batch["id"], "--json"))["scored"]
    assert batch["id"] in touchstone("list", "batches", "--json")
    assert json.loads(touchstone("get", batch["id"], "--json"))["status"] == "completed"
    assert touchstone("models")
    assert touchstone("metrics")
