"""A stranger's own models on one machine: added, served, scored; one never blocks another."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from bench.agreement import difference
from services.hatexscore.contract import CONTRACT
from shared.models.catalogue.checkpoint import folder_sha256
from tests.answers import CheckedClient
from tests.end_to_end.load import finished
from tests.end_to_end.service import ROOT, Service, environment, said_by, serving
from tests.patience import SECONDS, eventually
from tests.tiny_models.encoders import ENCODERS, save_encoder

pytestmark = pytest.mark.end_to_end

SLOW = Path(__file__).parent / "slow_loader"
ROOMS = ("--services", "hatexscore", "inference")
OTHERS = """
[[models]]
name = "slow"
kind = "classifier"
source = "path:mine"
[[models]]
name = "altered"
kind = "classifier"
source = "path:mine"
sha256 = "0000000000000000000000000000000000000000000000000000000000000000"
[[models]]
name = "gone"
kind = "classifier"
source = "path:nowhere"
[[models]]
name = "never-pulled"
kind = "classifier"
source = "hf:org/hate@0123456789abcdef0123456789abcdef01234567"
[[models]]
name = "branch"
kind = "classifier"
source = "hf:org/hate@main"
[[models]]
name = "down"
kind = "causal"
source = "openai:http://127.0.0.1:1/v1"
"""
UNUSABLE = {
    "altered": ("failed", "weights-altered: the weights have SHA-256"),
    "gone": ("absent", "no folder"),
    "never-pulled": ("absent", "touchstone models pull never-pulled"),
    "branch": ("failed", "must pin a commit"),
}
BODY = next(iter(CONTRACT.examples.values()))
YES_OR_NO = {"prefix": "Friendly?", "suffix": "", "verbalizers": {"yes": " yes", "no": " no"}}


@dataclass(frozen=True)
class Place:
    """A running service and what it was started with."""

    service: Service
    client: httpx.Client
    file: Path
    go_on: Path

    def model(self, name: str) -> Any:
        found = self.client.get("/v1/models", params={"id": name}).json()["data"]
        return found[0] if found else None

    def job(self, job_id: str) -> Any:
        return self.client.get(f"/v1/jobs/{job_id}").json()

    def score(self, model: str) -> httpx.Response:
        """A post's explanation, by this judge; waited for."""
        wait = {"Prefer": "wait=30"}
        return self.client.post("/v1/scores/hatexscore", json=BODY | {"model": model}, headers=wait)


def command(file: Path, *arguments: str) -> str:
    """`touchstone models`, as a user types it; what it says."""
    ran = subprocess.run(
        [sys.executable, "-m", "cli", "models", *arguments],
        cwd=ROOT,
        env=environment() | {"TOUCHSTONE_MODELS_FILE": str(file)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout + ran.stderr


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A models.toml with an own model, `mine`, beside it."""
    folder = tmp_path_factory.mktemp("own")
    save_encoder(folder / "mine", ENCODERS["dynabench"], 0)
    made = folder / "models.toml"
    said = command(made, "add", f"path:{folder / 'mine'}", "--name", "mine")
    assert "hateful: hate" in said
    return made


@pytest.fixture(scope="module")
def place(file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """The service with `mine` and six others, of which none is well."""
    folder = tmp_path_factory.mktemp("serve")
    several = file.with_name("several.toml")
    several.write_text(file.read_text("utf-8") + OTHERS, "utf-8")
    go_on = folder / "go-on"
    told = {
        "PYTHONPATH": str(SLOW),
        "SLOW_UNTIL": str(go_on),
        "TOUCHSTONE_MODELS_DIR": str(folder / "weights"),
    }
    with (
        serving(folder / "var", "--models", str(several), *ROOMS, **told) as service,
        CheckedClient(base_url=service.url, timeout=SECONDS) as client,
    ):
        yield Place(service, client, several, go_on)


def answer_of(place: Place, model: str) -> dict[str, Any]:
    found: dict[str, Any] = finished(
        place.client, "/v1/scores/hatexscore", BODY | {"model": model}
    )["result"]
    return found


def test_the_service_is_up_without_a_slow_model_and_goes_on_naming_it(place: Place) -> None:
    assert place.model("slow")["state"] == "loading"
    said = said_by(place.service.folder)

    def is_named_again() -> bool:
        return said.read_text("utf-8").count("loading slow") >= 2

    eventually(is_named_again, "the slow model is named again", every=0.5)


def test_an_own_model_scores_and_is_shown(place: Place, file: Path) -> None:
    result = answer_of(place, "mine")
    [use] = result["provenance"]["models"]
    assert (use["name"], use["sha256"]) == ("mine", folder_sha256(file.parent / "mine"))
    shown = place.model("mine")
    assert (shown["id"], shown["object"], shown["state"]) == ("mine", "model", "ready")
    assert shown["labels"] == ["non-hateful", "hateful"]
    assert shown["mapping"] == {"non-hateful": ["nothate"], "hateful": ["hate"]}
    assert (shown["owned_by"], shown["dtype"]) == ("local", "float32")
    assert place.model("other") is None


@pytest.mark.parametrize("name", sorted(UNUSABLE))
def test_what_is_not_well_is_refused_alone_with_what_mends_it(place: Place, name: str) -> None:
    state, reason = UNUSABLE[name]
    eventually(lambda: place.model(name)["state"] == state, f"{name} is {state}", every=0.3)
    assert reason in place.model(name)["error"]
    assert reason in place.client.get("/").text.replace("&#39;", "'")

    def refused() -> bool:  # the gateway looks at the board every two seconds
        return place.score(name).status_code == 422

    eventually(refused, f"{name} is refused", every=0.5)
    problem = place.score(name).json()
    assert problem["type"].endswith("#model-unusable")
    assert problem["errors"][0]["pointer"] == "#/model"
    assert reason in problem["detail"]


def test_jobs_of_a_server_that_is_away_wait_and_lose_no_attempt(place: Place) -> None:
    eventually(lambda: place.model("down")["state"] == "away", "it is away", every=0.3)
    example = {"text": "a lovely day", "template": YES_OR_NO}
    asked = {"model": "down", "ask": {"operation": "judge", "examples": [example]}}
    accepted = place.client.post("/v1/inference", json=asked)
    assert accepted.status_code == 202, accepted.text
    job_id = accepted.json()["id"]
    waits = eventually(lambda: place.job(job_id)["waiting_for"], "it waits", every=0.2)
    assert (waits["model"], waits["state"]) == ("down", "away")
    assert place.job(job_id)["attempts"] == 0
    place.client.post(f"/v1/jobs/{job_id}/cancel")


def test_jobs_of_a_slow_model_wait_and_end_when_it_is_loaded(place: Place) -> None:
    accepted = place.client.post("/v1/scores/hatexscore", json=BODY | {"model": "slow"})
    assert accepted.status_code == 202, accepted.text
    job_id = accepted.json()["id"]
    eventually(lambda: place.job(job_id)["waiting_for"] is not None, "it waits", every=0.2)
    job = place.job(job_id)
    assert (job["waiting_for"]["model"], job["waiting_for"]["state"]) == ("slow", "loading")
    assert (job["status"], job["attempts"]) == ("queued", 0)
    place.go_on.touch()
    eventually(lambda: place.job(job_id)["result"] is not None, "it ends", every=0.3)
    assert place.job(job_id)["attempts"] == 1
    assert place.model("slow")["state"] == "ready"


def test_the_file_is_read_again_and_a_mended_model_is_used(place: Place, file: Path) -> None:
    save_encoder(file.parent / "nowhere", ENCODERS["dynabench"], 1)
    text = place.file.read_text("utf-8")
    new = '[[models]]\nname = "new"\nkind = "classifier"\nsource = "path:mine"\n'
    place.file.write_text(text.replace('"altered"', '"renamed"') + new, "utf-8")
    assert "new" in {one["name"] for one in tomllib.loads(place.file.read_text())["models"]}
    command(place.file, "reload", "--var", str(place.service.folder))
    eventually(lambda: place.model("new"), "it is known", every=0.3)
    assert place.model("altered") is None
    assert answer_of(place, "new")["provenance"]["models"][0]["name"] == "new"
    eventually(lambda: place.model("gone")["state"] == "ready", "it was mended", every=0.5)


def test_workers_apart_give_the_same_bytes(
    place: Place, file: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("apart")
    with (
        serving(folder, "--separate", "--wait-models", "--models", str(file), *ROOMS) as service,
        CheckedClient(base_url=service.url, timeout=SECONDS) as client,
    ):
        apart = Place(service, client, file, folder)
        assert difference(answer_of(apart, "mine"), answer_of(place, "mine")) is None


def test_the_page_is_true(place: Place, file: Path, tmp_path: Path) -> None:
    """The commands of docs/guide/your-own-model.md, on this service and with a new name."""
    page = (ROOT / "docs" / "guide" / "your-own-model.md").read_text("utf-8")
    _, _, rest = page.partition("<!-- run by tests/end_to_end/test_own_model.py -->")
    blocks = re.findall(r"```sh\n(.*?)```", rest.partition("<!-- end of tested block -->")[0], re.S)
    place.file.write_text(place.file.read_text("utf-8").replace('name = "mine"', 'name = "first"'))
    (tmp_path / "var").symlink_to(place.service.folder)
    told = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "TOUCHSTONE_MODELS_FILE": str(place.file),
    }

    def typed(block: str) -> str:
        script = block.replace("/path/to/your/model", str(file.parent / "mine"))
        script = script.replace("http://127.0.0.1:8000", place.service.url)
        ran = subprocess.run(
            ["bash", "-euc", script], cwd=tmp_path, env=environment() | told,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    assert len(blocks) == 2
    assert "mine  ready" in typed(blocks[0])
    eventually(lambda: place.model("mine").get("state") == "ready", "it is ready", every=0.3)
    shown, _, scored = typed(blocks[1]).partition("}{")
    assert '"state":"ready"' in shown
    assert '"name":"mine"' in scored
    assert '"succeeded"' in scored
