"""What leaves the cluster: each component opens what it names, and the command prints the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import kubernetes_validate
import pytest
import yaml

from cli.generators.egress import EXAMPLE, main, peers, policies
from shared.process.settings import settings
from tests.deployment.manifests import KUBECTL, ROOT, built

EGRESS = ["egress-hub", "egress-managed-stores", "egress-model-servers", "egress-object-storage"]
NAMESPACE = "kubernetes.io/metadata.name"
MODELS = """
[[models]]
name = "llama"
kind = "causal"
source = "openai:http://vllm.models.svc:8000/v1"
[[models]]
name = "other"
kind = "causal"
source = "openai:https://models.example.com/v1"
"""


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """The command with the environment as it is now: its status, and what it says."""
    settings.cache_clear()
    code = main(list(arguments))
    settings.cache_clear()
    said = capsys.readouterr()
    return code, said.out, said.err


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A models.toml, and an environment, of the components' example."""
    file = tmp_path / "models.toml"
    file.write_text(MODELS)
    redis, database = EXAMPLE.stores
    monkeypatch.setenv("REDIS_URL", redis.replace("://", "://:word@"))
    monkeypatch.setenv("DATABASE_URL", f"{database}?sslmode=verify-full")
    monkeypatch.setenv("TOUCHSTONE_FILES_URL", EXAMPLE.files)
    return str(file)


def test_the_command_prints_what_the_components_hold(
    models: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = printed(capsys, "--models", models)
    assert (code, err) == (0, "")
    files = [ROOT / "k8s" / "components" / name / "policy.yaml" for name in EGRESS]
    shipped = [found for file in files for found in yaml.safe_load_all(file.read_text("utf-8"))]
    mine = sorted(yaml.safe_load_all(out), key=lambda policy: str(policy["metadata"]["name"]))
    assert mine == shipped
    for policy in mine:
        kubernetes_validate.validate(policy, "1.37", strict=True)


def test_networks_that_are_named_are_opened_alone(
    models: str, capsys: pytest.CaptureFixture[str]
) -> None:
    named = ("--cidr", "models.example.com=203.0.113.0/24")
    _, out, _ = printed(capsys, "--models", models, *named)
    by_name = {policy["metadata"]["name"]: policy["spec"] for policy in yaml.safe_load_all(out)}
    [_, rule] = by_name["egress-model-servers"]["egress"]
    block = [{"ipBlock": {"cidr": "203.0.113.0/24"}}]
    assert rule == {"to": block, "ports": [{"port": 443}]}


def test_stores_outside_in_clear_are_refused(
    models: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REDIS_URL", "redis://redis.example.com:6379/0")
    monkeypatch.setenv("DATABASE_URL", "postgresql://postgres.example.com/touchstone")
    code, _, err = printed(capsys, "--models", models)
    assert code == 1
    assert "REDIS_URL must be rediss://" in err
    assert "sslmode" in err


def test_a_process_that_must_use_tls_does_not_start_without(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TOUCHSTONE_STORES_TLS", "required")
    monkeypatch.setenv("REDIS_URL", "redis://:x7y8z9@redis.example.com:6379/0")
    command = [sys.executable, "-m", "services.worker", "ice"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert "REDIS_URL must be rediss://" in ran.stderr
    assert "x7y8z9" not in ran.stderr


def test_the_base_needs_none_of_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REDIS_URL", "redis://:word@redis:6379/0")
    monkeypatch.setenv("DATABASE_URL", "postgresql://touchstone:word@postgres:5432/touchstone")
    monkeypatch.setenv("TOUCHSTONE_FILES_URL", "/files")
    (tmp_path / "models.toml").write_text("models = []\n")
    _, out, _ = printed(capsys, "--models", str(tmp_path / "models.toml"))
    assert [policy["metadata"]["name"] for policy in yaml.safe_load_all(out)] == ["egress-hub"]


@pytest.mark.parametrize(
    ("host", "peer"),
    [
        ("10.1.2.3", {"ipBlock": {"cidr": "10.1.2.3/32"}}),
        ("fd00::7", {"ipBlock": {"cidr": "fd00::7/128"}}),
        ("vllm", {"podSelector": {}}),
        ("vllm.models", {"namespaceSelector": {"matchLabels": {NAMESPACE: "models"}}}),
    ],
)
def test_addresses_and_names_of_the_cluster(host: str, peer: object) -> None:
    assert peers(host, {}) == [peer]


@pytest.mark.skipif(KUBECTL is None, reason="kubectl builds the overlays")
def test_every_component_adds_its_policy_and_none_is_there_without() -> None:
    def names(*components: str) -> set[tuple[str, str]]:
        return {
            (found["kind"], found["metadata"]["name"]) for found in built(ROOT, "cpu", *components)
        }

    plain = names()
    assert not {name for kind, name in plain if name.startswith("egress-")}
    policies_ = {("NetworkPolicy", name) for name in policies(EXAMPLE)}
    everything = names(*EGRESS, "pull")
    assert everything - plain == policies_ | {("Job", "models-pull")}
    assert plain - everything == {
        (kind, name) for kind in ("StatefulSet", "Service") for name in ("redis", "postgres")
    }
