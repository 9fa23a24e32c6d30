"""`python -m bench.golden_results`: records more than 60 results that a test compares.

The requests are a sample of those of `bench.golden`, and are answered in this process without
servers. They are an example of every metric under each variant, further requests, rejected
requests, and a batch report of every metric over its results. Models are the embedded ones and the
scripted one behind HTTP.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench import golden_model
from bench.golden import canonical, exact, mapped, read, written
from bench.golden_bodies import BODIES
from bench.golden_text import settled
from cli.local import EMBEDDED, LocalService
from services.registry import contracts, metrics, service
from shared.contracts.answers import stored_result
from shared.contracts.messages import ModelUse, Report, Scored
from shared.models import ports
from shared.reports.estimates import BatchStatistics
from shared.reports.metric import Metric

FILE = Path(__file__).parents[1] / "tests" / "data" / "golden_results.jsonl"
VARIANTS = ("robust", "paper", "reference")
RESAMPLES = 200  # of a batch report
SHOWN = ("status", "metric", "result", "error")
OF_INSTALLATION = frozenset({"service_version", "svg", "png_base64"})  # of releases and of fonts

BODIES_ASKED: dict[str, tuple[str, ...]] = {  # path → names of `BODIES`
    "/v1/scores/cot2el": ("parsed", "compared by meaning", "own units", "a unit outside"),
    "/v1/scores/ftc": ("written, neutral", "own phrases", "own targets", "a wrong kind"),
    "/v1/scores/haf": ("written", "greedy", "as released", "without log-probabilities"),
    "/v1/scores/hatexscore": ("weighed", "another rule", "a wrong field"),
    "/v1/scores/hlv": ("ranked", "rotated", "brought logits", "no such option"),
    "/v1/scores/ice": ("masks", "own values", "a span outside"),
    "/v1/scores/nobody": ("unknown metric",),
    "/v1/inference": ("tokens", "probabilities", "generate", "an unknown label"),
    "/v1/similarity": ("the same", "a classifier"),
}

Json = dict[str, Any]
Entry = tuple[str, Json]


def entries() -> Iterator[Entry]:
    """Yield the name and the compared part of each answer, in the order of the calls."""
    with _local_service() as local:
        answers = {name: (body, _answer(local, path, body)) for name, path, body in _plan()}
    yield from ((name, answer) for name, (_, answer) in answers.items())
    for metric in sorted(metrics()):
        yield f"report/{metric}", _report(metric, answers)


@contextmanager
def _local_service() -> Iterator[LocalService]:
    with tempfile.TemporaryDirectory() as folder, golden_model.serving() as url:
        models = Path(folder) / "models.toml"
        entry = golden_model.ENTRY.format(name=golden_model.NAME, url=url)
        models.write_text(EMBEDDED.read_text("utf-8") + entry, "utf-8")
        try:
            yield LocalService(models, device="cpu")
        finally:
            ports.bind(None)


def _plan() -> Iterator[tuple[str, str, Json]]:
    """Yield (name, path, body) of every request."""
    for metric, contract in sorted(metrics().items()):
        first, second, *_ = contract.examples.values()
        for variant in VARIANTS:
            yield f"{metric}/example/{variant}", contract.path, first | {"variant": variant}
        yield f"{metric}/second example", contract.path, second
    written_first = contracts()["explanations"]
    yield "explanations/example", written_first.path, next(iter(written_first.examples.values()))
    for path, names in BODIES_ASKED.items():
        for name in names:
            yield f"{path.rpartition('/')[2]}/{name}", path, BODIES[path][name]


def _answer(local: LocalService, path: str, body: Json) -> Json:
    status, raw = local.answer("POST", f"{path}?expand=details", json.dumps(body).encode())
    answer = json.loads(raw)
    if "result" not in answer:
        return {"http": status, **_settled(answer)}
    shown = {name: answer[name] for name in SHOWN}
    result = shown["result"] and stored_result(shown["result"])
    return {"http": status, **_settled(shown | {"result": result})}


def _report(name: str, answers: dict[str, tuple[Json, Json]]) -> Json:
    metric = service(name)
    if not isinstance(metric, Metric):
        raise TypeError(f"{name} is no metric")
    contract = metric.contract
    rows = [
        Scored(
            job_id=f"job_{number}",
            custom_id=key,
            request=contract.request.model_validate(body),
            report=contract.report.model_validate(_released(answer["result"])),
        )
        for number, (key, (body, answer)) in enumerate(answers.items())
        if answer.get("metric") == name and answer.get("status") == "succeeded"
    ]
    request = contract.batch_request(jobs=tuple(row.job_id for row in rows), resamples=RESAMPLES)
    report = metric.summarize(rows, BatchStatistics(contract, rows, request))
    uses = {use.name: use.model_dump(mode="json") for one in rows for use in _models(one.report)}
    return _settled({"models": list(uses.values()), **report.model_dump(mode="json")})


def _models(report: Report) -> tuple[ModelUse, ...]:
    return report.provenance.models


def _released(result: Json) -> Json:
    """Return the result with the version of the service, which the message requires."""
    return result | {"provenance": result["provenance"] | {"service_version": "any"}}


def _settled(answer: Json) -> Json:
    """Remove ids, addresses, releases and pictures. Mark only the scripted model as exact, since
    bytes of an embedded model depend on its processor."""

    def kept(found: Json) -> Json:
        rest = {key: value for key, value in found.items() if key not in OF_INSTALLATION}
        return rest | {"numerics": "tolerance"} if "numerics" in rest else rest

    settled_answer: Json = exact(mapped(settled(answer), kept))
    return settled_answer


def main() -> int:
    """Record the results, and print which entries have changed."""
    os.environ["TOUCHSTONE_DTYPE"] = "float32"
    before = read(FILE, "") if FILE.exists() else {}
    after = written(entries(), FILE)
    others = [name for name in after if canonical(after[name]) != canonical(before.get(name))]
    print(f"{len(after)} results, {len(others)} of them new or changed: {', '.join(others)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
