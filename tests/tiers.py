"""Which tests run when.

`make test` runs what protects a promise of the service: results equal to published numbers, laws of
every metric and statistic, the job store, batches, tenants, security of the gateway, one flow in a
browser and one service of real processes. `make test-all` runs everything that is automatic, and
`make nightly` what needs hours.

A file or folder named here belongs to `make test-all` alone; `make test` does not even import it. A
single test is marked with `@pytest.mark.full` instead.
"""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).parent
FULL = {  # path below tests/ -> what it protects
    "bench": "benchmarks and their data; `test_golden.py` runs with every change",
    "browser": "every page in two browsers; `test_flows.py` has the flow of `make test`",
    "cli": "commands that manage models",
    "consistency/test_served.py": "a model server",
    "deployment": "images, compose file and manifests",
    "end_to_end": "faults of real processes",
    "explanations/test_batch_page.py": "a page",
    "explanations/test_killed.py": "processes that are killed",
    "explanations/test_served.py": "a model server",
    "gateway/pages/test_batch_size.py": "pages of large batches",
    "gateway/pages/test_compare.py": "a page",
    "gateway/pages/test_guide.py": "links of the guide",
    "gateway/pages/test_odd_input.py": "odd addresses of pages",
    "gateway/pages/test_page_statements.py": "number of SQL statements of a page",
    "gateway/pages/test_page_weight.py": "bytes of a page",
    "gateway/pages/test_report_designs.py": "pages of reports",
    "gateway/test_poison.py": "bodies made to hurt a parser",
    "gateway/test_strangers.py": "clients that do not speak HTTP",
    "gateway/test_streams.py": "long event streams",
    "gpu": "an NVIDIA GPU",
    "haf/test_conversation.py": "a model loaded for it",
    "haf/test_served.py": "a model server",
    "ice/test_reference_encoders.py": "the authors' package, on encoders",
    "inference": "kinds of models, precisions and devices",
    "integrations": "examples for other systems",
    "papers": "tables of the papers, computed anew",
    "scheduler/test_attempts.py": "workers that are killed",
    "sdk": "the client; `test_service.py` runs with every change",
    "shared/models/openai/test_llama_cpp.py": "a model server",
    "shared/models/openai/test_same_p.py": "a model server",
    "shared/test_s3.py": "an object store",
    "shared/worker/test_stopping.py": "jobs that are stopped",
    "shared/worker/test_watchdog.py": "jobs that hang",
    "similarity": "kinds of similarity models",
    "stack": "processes of `make serve`",
    "test_linear_parsing.py": "parsing time of hostile texts",
    "test_seventh_metric.py": "a metric added to a copy of the project",
}
EVERY_CHANGE = {  # files within folders of FULL that `make test` runs
    "bench/test_golden.py",
    "browser/test_flows.py",
    "sdk/test_service.py",
}


def runs_with_every_change(path: Path) -> bool:
    """Return whether `make test` collects this test file or folder."""
    name = path.relative_to(TESTS)
    if any(name == Path(file) or name in Path(file).parents for file in EVERY_CHANGE):
        return True
    return not any(part.as_posix() in FULL for part in (name, *name.parents))
