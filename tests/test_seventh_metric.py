"""A seventh metric is one folder: nothing outside it names it, and everything finds it."""

from __future__ import annotations

import argparse
import csv
import importlib
import io
import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import httpx
import pytest
from sqlalchemy import Engine

import services
from bench.capacity import _cost, size, table
from cli.generators import reference
from services import registry, worker
from services.gateway.app import create_app
from services.registry import all_contracts, contracts, metrics, reported, service
from shared.contracts.messages import Variant
from shared.contracts.service import MetricContract
from shared.process.settings import Settings
from shared.reports.metric import Metric
from shared.worker import registered
from tests import metric_laws
from tests.batches import Json, WorkedScene
from tests.gateway.serving import serving
from tests.metric_laws import AnyMetric
from tests.patience import SECONDS, eventually
from tests.test_structure import METRIC_FILES
from touchstone_client.cli.main import main

URL = "/v1/scores/toy"
FILES = {
    "__init__.py": "",
    "report.py": '''
"""What Toy reports."""

from pydantic import Field

from shared.contracts.messages import (Evidence, Message, Report)


class ToyComponents(Message):
    """What the score is made of."""

    letters: int = Field(ge=0, description="of the text")


class ToyReport(Report):
    """A share."""

    range: tuple[float, float] = (0, 1)
    components: ToyComponents
    evidence: tuple[Evidence, ...] = ()
    control: None = None
''',
    "contract.py": '''
"""Toy: how often does a letter occur in a text? Messages only."""

from typing import Annotated, Literal

from pydantic import Field

from services.toy.report import ToyReport
from shared.contracts.messages import (Input, ScoreRequest)
from shared.contracts.service import (FormField, MetricContract, SurprisingRule)


class ToyRequest(ScoreRequest):
    """A text and a letter."""

    text: Annotated[str, Input] = Field(min_length=1, max_length=1_000, description="counted")
    letter: Literal["a", "e"] = Field(default="a", description="that is counted")
    least: float | None = Field(
        default=None, ge=0, le=1, description="a smaller share counts as none"
    )
    # another field


CONTRACT = MetricContract(
    name="toy",
    version="1.0",
    summary="How often does a letter occur in a text?",
    request=ToyRequest,
    report=ToyReport,
    model_kinds=("classifier",),
    default_model=None,
    model_optional=True,
    examples={"a banana": {"text": "banana"}, "a pear": {"text": "a pear for everybody"}},
    form=(
        FormField(name="text", label="Text to count in"),
        # another input
    ),
    surprising=(
        SurprisingRule(name="none", path="$ ? (@.score == 0)", says="the letter never occurs"),
    ),
)
''',
    "page.py": '''
"""The page of a Toy job."""

from collections.abc import Iterator
from dataclasses import dataclass

from services.toy.contract import ToyRequest
from services.toy.report import ToyReport
from shared.reports.pages.report_design import Block, Record, forest, record

TEMPLATE = "toy/page.html"
DETAILS = {"letter": "e"}


@dataclass(frozen=True)
class ToyView:
    """All that the template shows beside the report."""

    counted: str


def view(request: ToyRequest | None, report: ToyReport) -> ToyView:
    """What was counted, where it was kept."""
    return ToyView("" if request is None else request.letter)


def design(report: Record) -> Iterator[Block]:
    """The charts of a batch report."""
    yield forest("How often the letter occurs", {"all texts": record(report, "score")})
''',
    "page.html": """
{% import "macros.html" as ui %}
<section class="toy" aria-labelledby="toy"><h2 id="toy">Letters</h2>
<p>Of {{ ui.number(report.components.letters) }} letters, counted was {{ view.counted }}.</p>
</section>
""",
    "page.css": ".toy { letter-spacing: .1em; }\n",
    "kernel.py": '''
"""The share of a letter."""


def share(text: str, letter: str) -> float:
    """[0, 1]; higher: more of them."""
    return text.count(letter) / len(text)
''',
    "variants.py": '''
"""Where the three variants differ."""

from dataclasses import dataclass

from shared.contracts.messages import (Variant)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToyVariant:
    """One variant."""

    least: float


VARIANTS: dict[Variant, ToyVariant] = {
    "robust": ToyVariant(least=0.1),
    "paper": ToyVariant(least=0.0),
    "reference": ToyVariant(least=0.0),
}
''',
    "metric.py": '''
"""Toy: count."""

from collections.abc import Sequence

from services.toy import kernel
from services.toy.contract import CONTRACT, ToyRequest
from services.toy.report import ToyComponents, ToyReport
from services.toy.variants import VARIANTS, ToyVariant
from shared.reports.metric import Collected, Metric


class Toy(Metric[ToyRequest, Collected, ToyReport, ToyVariant]):
    """How often does a letter occur in a text?"""

    contract, variants = CONTRACT, VARIANTS

    def collect(self, requests: Sequence[ToyRequest]) -> list[Collected]:
        return [Collected() for _ in requests]

    def report(self, request: ToyRequest, collected: Collected) -> ToyReport:
        found = kernel.share(request.text, request.letter)
        least = self.variant(request).least if request.least is None else request.least
        return ToyReport(
            **self.envelope(request, collected),
            score=found if found >= least else 0.0,
            components=ToyComponents(letters=len(request.text)),
        )


SERVICE = Toy()
''',
}
ANOTHER_FIELD = """folded: Literal["yes", "no"] = Field(
        default="no", description="whether capitals count"
    )"""
ANOTHER_INPUT = 'FormField(name="folded", label="Folded", choices=("yes", "no"), required=False),'


def forget() -> None:
    """What was imported of the toy, and what was made of it."""
    for module in [name for name in sys.modules if name.startswith("services.toy")]:
        del sys.modules[module]
    vars(services).pop("toy", None)
    importlib.invalidate_caches()
    known = contracts, metrics, reported, all_contracts
    for cached in (*known, registry.page, registry.page_file):
        cached.cache_clear()


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """The toy beside the product's own services."""
    toy = tmp_path / "services" / "toy"
    toy.mkdir(parents=True)
    for name, content in FILES.items():
        (toy / name).write_text(content, "utf-8")
    services.__path__.append(str(toy.parent))
    forget()
    yield toy
    services.__path__.remove(str(toy.parent))
    for name in ("toy", "toy-report"):
        registered.pop(name, None)
    forget()


@pytest.fixture
def toy(folder: Path) -> AnyMetric:
    """Registered as a worker registers it."""
    worker.register_all(["toy"])
    found = service("toy")
    assert isinstance(found, Metric)
    return found


@pytest.fixture
def scene(toy: AnyMetric, chosen: Settings, engine: Engine) -> Iterator[WorkedScene]:
    """A gateway that was started with the toy."""
    placed = chosen.model_copy(update={"authentication": "none"})
    with serving(placed) as url, httpx.Client(base_url=url, timeout=SECONDS) as client:
        yield WorkedScene(client, engine, placed)


def line(number: int, text: str) -> Json:
    return {"custom_id": str(number), "method": "POST", "url": URL, "body": {"text": text}}


def test_it_is_found_and_served(toy: AnyMetric) -> None:
    assert metrics()["toy"] == toy.contract
    assert all_contracts()["toy-report"] == toy.contract.batch == registered["toy-report"].contract
    assert worker.parse(["toy"]) == ["toy"]


def test_a_job_is_waited_for(scene: WorkedScene) -> None:
    answers: list[httpx.Response] = []
    waiting = threading.Thread(
        target=lambda: answers.append(
            scene.client.post(URL, json={"text": "banana"}, headers={"Prefer": "wait=20"})
        )
    )
    waiting.start()
    eventually(scene.work, "no job came")
    waiting.join()
    assert (answers[0].status_code, answers[0].json()["result"]["score"]) == (200, 0.5)
    page = scene.client.get(f"/jobs/{answers[0].json()['id']}")
    assert (page.status_code, "counted was a." in page.text) == (200, True)
    address = page.text.partition('href="/static/toy.css')[2].partition('"')[0]
    sheet = scene.client.get(f"/static/toy.css{address}")
    assert (sheet.status_code, sheet.text) == (200, FILES["page.css"])
    assert "immutable" in sheet.headers["cache-control"]


def test_without_a_page_its_fields_are_shown(folder: Path, scene: WorkedScene) -> None:
    for file in folder.glob("page.*"):
        file.unlink()
    forget()
    job = scene.client.post(URL, json={"text": "banana"}).json()["id"]
    scene.work()
    page = scene.client.get(f"/jobs/{job}")
    assert (page.status_code, "letters" in page.text) == (200, True)
    assert "toy.css" not in page.text


def test_a_batch_has_report_table_and_surprises(scene: WorkedScene) -> None:
    made = scene.make([line(n, text) for n, text in enumerate(("banana", "pear", "plum"))],
                      endpoint=URL)  # fmt: skip
    batch = scene.finish(made)
    assert (batch["status"], batch["request_counts"]["completed"]) == ("completed", 3)
    scene.client.post(f"/v1/batches/{batch['id']}/report")
    scene.work()
    report = scene.client.get(f"/v1/batches/{batch['id']}/report").json()
    assert (report["metric"], report["scored"]) == ("toy", 3)
    assert report["score"]["value"] == pytest.approx((0.5 + 0.25 + 0) / 3)
    sheet = scene.client.get(f"/batches/{batch['id']}/results.csv")
    rows = list(csv.DictReader(io.StringIO(sheet.text.removeprefix("\ufeff"))))
    assert [float(row["score"]) for row in rows] == [0.5, 0.25, 0]
    page = scene.client.get(f"/batches/{batch['id']}").text
    assert "the letter never occurs" in page
    assert (
        "How often the letter occurs" in scene.client.get(f"/batches/{batch['id']}/statistics").text
    )


def test_the_command_submits_it(
    scene: WorkedScene,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TOUCHSTONE_URL", str(scene.client.base_url))
    file = tmp_path / "posts.jsonl"
    file.write_text(json.dumps({"text": "banana"}) + "\n")
    assert main(["submit", str(file), "--metric", "toy"]) == 0
    batch = scene.finish({"id": capsys.readouterr().out.strip()})
    assert (batch["status"], batch["endpoint"]) == ("completed", URL)


def test_it_can_be_tried(scene: WorkedScene) -> None:
    page = scene.client.get("/try", params={"metric": "toy"}).text
    assert "Text to count in" in page
    assert "banana" in page
    assert "&#34;letter&#34;: &#34;e&#34;" in page


def test_its_cost_is_measured_and_its_capacity_simulated(toy: AnyMetric) -> None:
    cost = _cost(toy.contract)
    assert cost.metric == "toy"
    asked = argparse.Namespace(within=5.0, gpu=200.0)
    found = size(cost, 1, dict.fromkeys(("gateway", "postgres", "redis", "worker"), 1e-3), asked)
    assert table([found])[-1].startswith("| toy | 1 |")


def test_compose_and_the_chart_run_it_and_the_readme_shows_it(toy: AnyMetric) -> None:
    assert "toy" in worker.parse(["metrics"])
    row = "| [`toy`](docs/guide/metrics/toy.md) | How often does a letter occur in a text? |\n"
    assert row in reference.metrics_table()


def test_it_keeps_every_law(toy: AnyMetric) -> None:
    metric_laws.batches_change_nothing(toy)
    metric_laws.parameters_are_in_the_provenance(toy)
    metric_laws.added_fields_are_in_the_provenance(toy)
    metric_laws.strings_are_marked(toy.contract)
    metric_laws.no_text_stays(toy)
    metric_laws.nulls_are_one_message(toy.contract)
    metric_laws.checks_make_the_verdict(toy)
    assert set(toy.variants) == set(get_args(Variant))


def test_its_files_are_all_that_a_metric_needs(folder: Path) -> None:
    of_page = {"page.py", "page.html", "page.css", "__init__.py"}
    assert {file.name for file in folder.iterdir() if file.is_file()} - of_page == set(METRIC_FILES)


def described(chosen: Settings) -> dict[str, Any]:
    """The API's description."""
    found: dict[str, Any] = create_app(chosen).openapi()
    return found


def test_it_is_described(toy: AnyMetric, chosen: Settings) -> None:
    found = described(chosen)
    kinds = found["paths"]["/v1/scores/{metric}"]["post"]["parameters"]
    assert "toy" in next(one for one in kinds if one["name"] == "metric")["schema"]["enum"]
    assert "letter" in found["components"]["schemas"]["ToyRequest"]["properties"]


def test_a_field_more_is_found_everywhere(folder: Path, chosen: Settings, engine: Engine) -> None:
    file = folder / "contract.py"
    text = file.read_text("utf-8")
    text = text.replace("# another field", ANOTHER_FIELD).replace("# another input", ANOTHER_INPUT)
    file.write_text(text, "utf-8")
    forget()
    contract = metrics()["toy"]
    assert isinstance(contract, MetricContract)
    found = service("toy")
    assert isinstance(found, Metric)
    request = contract.request.model_validate({"text": "banana", "folded": "yes"})
    assert found.score(request).provenance.parameters == {
        "letter": "a", "least": 0.1, "folded": "yes",
    }  # fmt: skip
    fields = described(chosen)["components"]["schemas"]["ToyRequest"]["properties"]
    assert fields["folded"]["description"] == "whether capitals count"
    placed = chosen.model_copy(update={"authentication": "none"})
    with serving(placed) as url:
        page = httpx.get(f"{url}/try", params={"metric": "toy"}, timeout=SECONDS).text
    assert 'name="folded"' in page
