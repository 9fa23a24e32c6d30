"""Writes the parts of compose, Kubernetes and the README that list the services.

`python -m cli.generators.manifests write` updates the files, `check` fails if one is stale.
`models.toml` and the dashboard are copied into `k8s`, as kustomize reads no file above its folder.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from string import Template

from cli.generators.egress import EXAMPLE, policies
from services.registry import contracts, metrics
from services.worker import MODEL_SERVICES
from shared.queue.broker import batch_queue, task_name

ROOT = Path(__file__).parents[2]
COMMAND = "python -m cli.generators.manifests write"
WORKER = Path(__file__).with_name("worker.yaml")
COMPOSE_SERVICE = Template("""\
  $name:
    <<: *$kind
    command: [python, -m, services.worker, $name]
""")
TRIGGER = Template("""\
    - type: redis
      metadata:
        addressFromEnv: TOUCHSTONE_REDIS_ADDRESS
        passwordFromEnv: REDIS_PASSWORD
        listName: $queue
        listLength: "$length"
        activationListLength: "1"
""")
RULES = f"""\
# Written by `{COMMAND}` from alerts.yaml.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: {{name: touchstone}}
spec:
  groups:
"""
ASKER = {"image": "touchstone-metrics", "memory": "2Gi", "weights": "", "volume": ""}
HOLDER = {
    "image": "touchstone-models",
    "memory": "4Gi",
    "weights": "\n            - {name: weights, mountPath: /models, readOnly: true}",
    "volume": "\n        - name: weights\n"
    "          persistentVolumeClaim: {claimName: models, readOnly: true}",
}
SOON, LATER = 64, 512  # waiting jobs per worker: of interactive queues, of batch queues


def main(arguments: list[str] | None = None) -> int:
    """Write the files, or report stale ones and return 1."""
    parser = argparse.ArgumentParser(prog="python -m cli.generators.manifests", description=__doc__)
    parser.add_argument("command", choices=("write", "check"))
    parser.add_argument("--root", type=Path, default=ROOT, help="folder of the checkout")
    options = parser.parse_args(arguments)
    try:
        wanted = manifests(options.root)
    except ValueError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return write_or_check(wanted, options.command, f"as the registry says: run `{COMMAND}`")


def write_or_check(wanted: dict[Path, str], command: str, advice: str) -> int:
    """Write the stale files, or report them and return 1. wanted: file → its right content."""
    stale = {
        file: text
        for file, text in wanted.items()
        if not file.exists() or file.read_text("utf-8") != text
    }
    for file, text in stale.items():
        if command == "write":
            file.write_text(text, "utf-8")
        else:
            sys.stderr.write(f"{file} is not {advice}\n")
    return 1 if stale and command == "check" else 0


def manifests(root: Path) -> dict[Path, str]:
    """Return each generated file with the content that it should have."""
    compose, readme = root / "docker-compose.yml", root / "README.md"
    base, components = root / "k8s" / "base", root / "k8s" / "components"
    written = f"# Written by `{COMMAND}` from the example of cli/generators/egress.py.\n"
    egress = {
        components / name / "policy.yaml": written + policy
        for name, policy in policies(EXAMPLE).items()
    }
    monitoring = components / "monitoring"
    alerts = (monitoring / "alerts.yaml").read_text("utf-8").partition("groups:\n")[2]
    return egress | {
        monitoring / "rules.yaml": RULES
        + alerts.replace("\n ", "\n   ").replace("  - ", "    - ", 1),
        monitoring / "grafana.json": (root / "docs" / "grafana.json").read_text("utf-8"),
        compose: between(compose.read_text("utf-8"), "  # {}\n", "\n".join(compose_services())),
        base / "workers.yaml": f"# Written by `{COMMAND}` from cli/generators/worker.yaml.\n"
        + "".join(cluster_workers()),
        base / "models.toml": (root / "models.toml").read_text("utf-8"),
        readme: between(readme.read_text("utf-8"), "<!-- {} -->\n", "".join(metrics_table())),
    }


def between(page: str, line: str, content: str) -> str:
    """Return the page with `content` between its two marker lines. line: the comment syntax."""
    begin, end = line.format(f"written by `{COMMAND}`"), line.format("end of what is written")
    before, begun, rest = page.partition(begin)
    _, ended, after = rest.partition(end)
    if not begun or not ended:
        raise ValueError(f"the lines {begin.strip()!r} and {end.strip()!r} are missing")
    return f"{before}{begin}{content}{end}{after}"


def compose_services() -> Iterator[str]:
    for name in contracts():
        kind = "model-worker" if name in MODEL_SERVICES else "worker"
        yield COMPOSE_SERVICE.substitute(name=name, kind=kind)


def cluster_workers() -> Iterator[str]:
    """Yield the deployment, disruption budget and scaling of each service's worker."""
    worker = Template(WORKER.read_text("utf-8"))
    for name in contracts():
        yield worker.substitute(name=name, **(HOLDER if name in MODEL_SERVICES else ASKER))
        for queue, length in queues(name).items():
            yield TRIGGER.substitute(queue=queue, length=length)


def queues(name: str) -> dict[str, int]:
    """Return the service's queues, each with the waiting messages that justify one more worker."""
    jobs, calls = task_name(name), f"model.{name}"
    lengths = {jobs: SOON, batch_queue(jobs): LATER}
    if name in MODEL_SERVICES:  # a metric waits for the answer to a call, also in a batch
        lengths |= {calls: SOON, batch_queue(calls): SOON}
    return lengths


def metrics_table() -> Iterator[str]:
    """Yield one row per metric: its name and the question in the first line of its card."""
    yield "\n| metric | the question |\n|---|---|\n"
    for name in metrics():
        yield f"| [`{name}`](services/{name}/README.md) | {question(name)} |\n"
    yield "\n"


def question(name: str) -> str:
    """Return the question of the card's first line, `# Name: question`."""
    card = files(f"services.{name}").joinpath("README.md")
    first = card.read_text("utf-8").partition("\n")[0] if card.is_file() else ""
    text = first.partition(": ")[2]
    if not text:
        raise ValueError(f"services/{name}/README.md must begin with `# Name: question`")
    return text[0].upper() + text[1:]


if __name__ == "__main__":
    sys.exit(main())
