"""Yields the answers of the running service as entries, each a name and JSON that must not change.

Uses only public interfaces: `python -m cli.stack serve`, HTTP, and files of the repository.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import yaml

from bench import golden_model
from bench.agreement import difference
from bench.golden_bodies import BODIES
from bench.golden_text import page_lines, pictures_digested, resolved, settled, table_rows
from shared.contracts.answers import stored_result

ROOT = Path(__file__).parents[1]
VARIANTS = ("robust", "paper", "reference")
SEEDS = (0, 7)
PRIVATE = 40  # requests that are sent again with `do_not_store_text`
RESAMPLES = 1_000
CLIENTS = 6
SECONDS = 600.0  # for any one answer
MOST_PAGES = 10
ENDED = frozenset({"succeeded", "failed", "cancelled"})
BATCH_ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
OF_BATCH = ("batch", "report", "csv", "lines", "file")
DETAILS = {"expand": "details"}
SHOWN = ("status", "metric", "metadata", "context", "result", "error")

Json = dict[str, Any]
Entry = tuple[str, Any]


@dataclass(frozen=True)
class Single:
    """A request that is sent alone. Its name begins with the metric and a slash."""

    name: str
    path: str
    body: Json


@dataclass
class Service:
    """A running service with its requests so far. `only` is the prefix of the requested entries."""

    client: httpx.Client
    only: str = ""
    api: Json = field(default_factory=dict)
    accepted: dict[str, tuple[Single, str, Json]] = field(
        default_factory=dict
    )  # by name: job, view

    def wants(self, name: str) -> bool:
        """Return True if entries with this name, or with names below it, were requested."""
        return name.startswith(self.only) or self.only.startswith(name)

    def job(self, single: Single) -> Entry:
        """Return the final answer to one request."""
        headers = {"Prefer": "wait=30"}
        answer = self.client.post(single.path, params=DETAILS, json=single.body, headers=headers)
        status, job = answer.status_code, answer.json()
        if status not in (200, 202):
            return single.name, settled({"http": status, "refused": job})
        job = self._ended(job)
        view = {"http": 202, **shown(job)}
        self.accepted[single.name] = (single, job["id"], view)
        return single.name, view

    def _ended(self, job: Json) -> Json:
        until = time.monotonic() + SECONDS
        while job["status"] not in ENDED:
            if time.monotonic() > until:
                raise TimeoutError(f"the job {job['id']} does not end")
            time.sleep(0.1)
            job = self.get(f"/v1/jobs/{job['id']}", **DETAILS).json()
        return job

    def get(self, path: str, **parameters: Any) -> httpx.Response:
        """Return a page or an answer of the API. Raises an error if the service refuses the
        request."""
        return self.client.get(path, params=parameters or None).raise_for_status()

    def report(self, metric: str, batch: str) -> Json:
        """Return the batch report with a fixed number of resamples."""
        asked = {"metric": metric, "batch": batch, "resamples": RESAMPLES, "seed": 7}
        answer = self.client.post("/v1/reports", json=asked).raise_for_status()
        view = shown(self._ended(answer.json()))
        return view | {"result": pictures_digested(view["result"])} if view["result"] else view

    def batch(self, singles: list[Single]) -> tuple[Json, dict[str, Json]]:
        """Run a batch of these requests. Return the finished batch, and its answers by custom
        id."""
        lines = [
            {"custom_id": one.name, "method": "POST", "url": one.path, "body": one.body}
            for one in singles
        ]
        content = "\n".join(map(json.dumps, lines)).encode()
        sent = {"data": {"purpose": "batch"}, "files": {"file": ("golden.jsonl", content)}}
        file = self.client.post("/v1/files", **sent).raise_for_status().json()  # type: ignore[arg-type]
        asked = {"input_file_id": file["id"], "endpoint": singles[0].path}
        batch = self.client.post("/v1/batches", json=asked).raise_for_status().json()
        until = time.monotonic() + SECONDS
        while batch["status"] not in BATCH_ENDED:
            if time.monotonic() > until:
                raise TimeoutError(f"the batch does not end: {batch}")
            time.sleep(0.2)
            batch = self.get(f"/v1/batches/{batch['id']}").json()
        names = (batch["output_file_id"], batch["error_file_id"])
        written = [self.get(f"/v1/files/{name}/content").text for name in names if name]
        answers = [json.loads(line) for text in written for line in text.splitlines()]
        return batch, {one["custom_id"]: one for one in answers}


def shown(job: Mapping[str, Any]) -> Json:
    """Return the parts of a job that must not change."""
    result = job["result"] and stored_result(job["result"])
    view: Json = settled({name: job[name] for name in SHOWN} | {"result": result})
    return view


def entries(only: str) -> Iterator[Entry]:
    """Yield every entry with this prefix, in the order of the calls."""
    yield from (entry for entry in deployment() if entry[0].startswith(only))
    if only.startswith("deployment"):
        return
    with running() as client:
        service = Service(client, only)
        service.api = service.get("/openapi.json").json()
        for section in (described, tried, scored, batched, shown_as_pages):
            yield from (entry for entry in section(service) if entry[0].startswith(only))


def described(service: Service) -> Iterator[Entry]:
    """Yield the entries for `/openapi.json`, one per operation, and for the models."""
    components = service.api["components"]
    schemas = {**components["schemas"], **components.get("headers", {})}
    for path, operations in sorted(service.api["paths"].items()):
        for method, operation in sorted(operations.items()):
            yield f"openapi/{method} {path}", resolved(operation, schemas)
    yield (
        "openapi/rest",
        {
            "info": service.api["info"],
            "tags": service.api.get("tags"),
            "components": {
                kind: named
                for kind, named in service.api["components"].items()
                if kind != "schemas"
            },
        },
    )
    yield "models", settled(service.get("/v1/models").json())


def tried(service: Service) -> Iterator[Entry]:
    for metric, examples in examples_of(service.api).items():
        for name in examples if service.wants("try/") else ():
            if metric.startswith("/v1/scores/"):
                asked = {"metric": metric.rpartition("/")[2], "example": name}
                yield f"try/{asked['metric']}/{name}", page_lines(service.get("/try", **asked).text)


def examples_of(api: Json) -> dict[str, dict[str, Json]]:
    """Return the examples of the API's description, by path and name."""
    found = {}
    for path, operations in api["paths"].items():
        media = operations.get("post", {}).get("requestBody", {}).get("content", {})
        examples = media.get("application/json", {}).get("examples", {})
        if examples:
            found[path] = {name: example["value"] for name, example in examples.items()}
    return found


def plan(api: Json) -> list[Single]:
    made = []
    for path, examples in examples_of(api).items():
        metric, scores = path.rpartition("/")[2], path.startswith("/v1/scores/")
        for name, body in examples.items():
            for variant in VARIANTS if scores else ():
                for seed in SEEDS:
                    more = {"variant": variant, "seed": seed}
                    made.append(
                        Single(f"{metric}/examples/{name}/{variant}/{seed}", path, body | more)
                    )
            if not scores:
                made.append(Single(f"{metric}/examples/{name}", path, body))
    for line in (ROOT / "examples" / "posts.jsonl").read_text("utf-8").splitlines():
        post = json.loads(line)
        name, path = post.pop("id"), "/v1/scores/hatexscore"
        made += [
            Single(f"hatexscore/posts/{name}/{variant}", path, post | {"variant": variant})
            for variant in VARIANTS
        ]
    for path, bodies in BODIES.items():
        metric = path.rpartition("/")[2]
        made += [Single(f"{metric}/bodies/{name}", path, body) for name, body in bodies.items()]
    made.sort(key=lambda single: single.name)
    again = made[:: len(made) // PRIVATE][:PRIVATE]
    return made + [
        Single(f"{one.name}/not stored", one.path, one.body | {"do_not_store_text": True})
        for one in again
    ]


def scored(service: Service) -> Iterator[Entry]:
    wanted = [one for one in plan(service.api) if _builds_on(service, one)]
    with ThreadPoolExecutor(CLIENTS) as pool:
        for name, value in pool.map(service.job, wanted):
            yield f"score/{name}", value


def _builds_on(service: Service, single: Single) -> bool:
    metric = single.name.partition("/")[0]
    own = (f"score/{single.name}", f"page/{single.name}")
    return any(map(service.wants, (*own, *(f"{kind}/{metric}" for kind in OF_BATCH))))


def batched(service: Service) -> Iterator[Entry]:
    """Yield the entries of a batch with all requests of a metric: differences from the single
    results, the report, the lines as CSV, also with their facts, and the file."""
    by_path: dict[str, list[str]] = {}
    for name in sorted(service.accepted):
        by_path.setdefault(service.accepted[name][0].path, []).append(name)
    for path, names in by_path.items():
        metric = path.rpartition("/")[2]
        if not any(service.wants(f"{kind}/{metric}") for kind in OF_BATCH):
            continue
        batch, answers = service.batch([service.accepted[name][0] for name in names])
        yield f"batch/{metric}", _compared(service, names, batch, answers)
        if path.startswith("/v1/scores/"):
            uses = _uses(service, names)
            yield f"report/{metric}", {"models": uses, **service.report(metric, batch["id"])}
            yield from _shown_batch(service, metric, batch["id"], uses)


def _compared(service: Service, names: list[str], batch: Json, answers: dict[str, Json]) -> Json:
    """Return the batch's end, and its answers that differ from the single requests."""
    apart = {}
    for name in names:
        response = answers.get(name, {}).get("response")
        alone = service.accepted[name][2]
        found = None if response is None else {"http": 202, **shown(response["body"])}
        if found is None or (differs := difference(alone, found)) is not None:
            apart[name] = "no answer" if found is None else str(differs)
    view = {key: batch[key] for key in ("status", "endpoint", "metric", "request_counts", "errors")}
    return view | {"apart": apart}


def _uses(service: Service, names: list[str]) -> list[Json]:
    """Return the models behind these answers, with the exactness of their numbers."""
    found = [service.accepted[name][2]["result"] or {} for name in names]
    uses = [use for result in found for use in result.get("provenance", {}).get("models", ())]
    return list({json.dumps(use): use for use in uses}.values())


def _shown_batch(service: Service, metric: str, batch: str, uses: list[Json]) -> Iterator[Entry]:
    report = f"/v1/batches/{batch}/report"
    waiting = {"Prefer": "wait=30"}
    while service.client.post(report, headers=waiting).raise_for_status().status_code == 202:
        time.sleep(0.1)
    items = service.client.get(report, headers={"Accept": "text/csv"}).raise_for_status().text
    yield f"csv/{metric}", {"models": uses, "rows": table_rows(items)}
    yield (
        f"file/{metric}",
        page_lines(service.client.get(report, headers={"Accept": "text/html"}).text),
    )
    for place in range(1, MOST_PAGES + 1):
        html = service.get(f"/batches/{batch}", page=place).text
        if "/jobs/job_" not in html:
            return
        yield f"lines/{metric}/{place}", page_lines(html)


def shown_as_pages(service: Service) -> Iterator[Entry]:
    for name, (_, job, _) in sorted(service.accepted.items()):
        if service.wants(f"page/{name}"):
            yield f"page/{name}", page_lines(service.get(f"/jobs/{job}").text)


def deployment() -> Iterator[Entry]:
    """Yield docker-compose.yml with anchors resolved, and the chart's objects."""
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text("utf-8"))
    for kind, named in sorted(compose.items()):
        if kind.startswith("x-"):  # what anchors stand on
            continue
        for name, value in named.items() if isinstance(named, dict) else (("", named),):
            yield f"deployment/compose/{kind}/{name}", value
    helm = shutil.which("helm")
    for variant in ("", "models.gpu=1") if helm else ():
        command = [str(helm), "template", "touchstone", str(ROOT / "k8s" / "touchstone")]
        command += ["--set", variant] if variant else []
        built = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
        for found in filter(None, yaml.safe_load_all(built.stdout)):
            name = f"{found['kind']}/{found['metadata']['name']}"
            yield f"deployment/k8s/{variant or 'default'}/{name}", found


@contextmanager
def running() -> Iterator[httpx.Client]:
    """Run the whole service in a temporary folder, with the embedded models and ours."""
    with tempfile.TemporaryDirectory() as folder, golden_model.serving() as model:
        place = Path(folder)
        catalogue = (ROOT / "models.toml").read_text("utf-8")
        entry = golden_model.ENTRY.format(name=golden_model.NAME, url=model)
        (place / "models.toml").write_text(catalogue + entry, "utf-8")
        process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", "cli.stack", "serve", "--var", f"{place}/var", "--port=0"],
            cwd=ROOT,
            env=_environment() | {"TOUCHSTONE_MODELS_FILE": str(place / "models.toml")},
            stdout=subprocess.DEVNULL,
        )
        try:
            url = _ready(process, place / "var" / "stack.json")
            with httpx.Client(base_url=url, timeout=120) as client:
                yield client
        finally:
            process.terminate()
            process.wait()


def _environment() -> dict[str, str]:
    servers = ("REDIS_URL", "DATABASE_URL")
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in servers and not name.startswith("TOUCHSTONE_")
    }
    return kept | {"HF_HUB_OFFLINE": "1"}


def _ready(process: subprocess.Popen[bytes], note: Path) -> str:
    while process.poll() is None:  # it ends by itself where nothing moves
        if note.exists() and note.stat().st_size:
            return str(json.loads(note.read_text())["url"])
        time.sleep(0.2)
    raise RuntimeError("the service did not start")
