"""What an operator may add to an overlay: each component builds with it, and is what it says."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from typing import Any

import kubernetes_validate
import pytest
import yaml

from services.gateway.http_requests import MAX_WAIT_SECONDS
from services.gateway.request_limits import BODY_SECONDS
from services.gateway.routes.bulk import MAX_BULK_BYTES
from shared.process.settings import Settings
from tests.deployment.manifests import KUBECTL, OVERLAYS, ROOT, Json, built
from tests.test_dashboard import SUFFIXES, declared

MONITORING = ROOT / "k8s" / "components" / "monitoring"
ALERTS = MONITORING / "alerts.yaml"
OPERATED = {"ScaledObject", "PodMonitor", "PrometheusRule"}
EXPORTED = {  # by the exporters of PostgreSQL, Redis and of what is seen from outside
    "pg_stat_activity_count", "pg_settings_max_connections", "redis_memory_used_bytes",
    "redis_memory_max_bytes", "probe_ssl_earliest_cert_expiry", "touchstone_model_ready",
}  # fmt: skip
SERIES = re.compile(r"\b(?:touchstone|pg|redis|probe)_[a-z_]+")
OURS = re.compile(f"^(touchstone_.*?)({'|'.join(SUFFIXES)})$")
MEGABYTE = 1_000_000

needs_kubectl = pytest.mark.skipif(KUBECTL is None, reason="kubectl builds the overlays")


def of(overlay: str, component: str) -> list[Json]:
    """The objects of an overlay with this component."""
    return built(ROOT, overlay, component)


def only(found: list[Json], kind: str, name: str) -> Json:
    [wanted] = [one for one in found if (one["kind"], one["metadata"]["name"]) == (kind, name)]
    return wanted


@needs_kubectl
@pytest.mark.parametrize("component", ["ingress", "autoscaling", "monitoring"])
@pytest.mark.parametrize("overlay", OVERLAYS)
def test_every_object_is_valid(overlay: str, component: str) -> None:
    for found in of(overlay, component):
        if found["kind"] not in OPERATED:
            kubernetes_validate.validate(found, "1.37", strict=True)


@needs_kubectl
def test_the_ingress_lets_pass_what_the_gateway_takes() -> None:
    found = of("cpu", "ingress")
    chosen = Settings()

    def said(name: str, what: str) -> str:
        notes: dict[str, str] = only(found, "Ingress", name)["metadata"]["annotations"]
        return notes[f"nginx.ingress.kubernetes.io/{what}"]

    def megabytes(name: str) -> int:
        return int(said(name, "proxy-body-size").removesuffix("m")) * 1_048_576

    assert megabytes("gateway") >= MAX_BULK_BYTES
    assert megabytes("gateway-files") >= chosen.max_file_bytes + MEGABYTE
    assert int(said("gateway", "proxy-read-timeout")) > MAX_WAIT_SECONDS
    assert int(said("gateway-files", "proxy-read-timeout")) >= BODY_SECONDS
    assert said("gateway-events", "proxy-buffering") == "off"
    events = only(found, "Ingress", "gateway-events")["spec"]["rules"][0]["http"]["paths"]
    paths = json.loads((ROOT / "docs" / "openapi.json").read_text("utf-8"))["paths"]
    streams = [re.sub(r"\{[a-z_]+\}", "job_0a", path) for path in paths if path.endswith("/events")]
    assert len(streams) == 2
    for stream in streams:
        assert re.fullmatch(events[0]["path"], stream)
    for name in ("gateway", "gateway-files", "gateway-events"):
        assert only(found, "Ingress", name)["spec"]["tls"]


@needs_kubectl
def test_gateways_are_scaled_by_nobody_else() -> None:
    found = of("cpu", "autoscaling")
    assert "replicas" not in only(found, "Deployment", "gateway")["spec"]
    scaler = only(found, "HorizontalPodAutoscaler", "gateway")["spec"]
    assert (scaler["minReplicas"], scaler["maxReplicas"]) == (2, 20)
    assert scaler["scaleTargetRef"]["name"] == "gateway"


@needs_kubectl
def test_every_process_is_scraped_and_the_dashboard_is_ours() -> None:
    found = of("cpu", "monitoring")
    monitor = only(found, "PodMonitor", "touchstone")["spec"]
    [endpoint] = monitor["podMetricsEndpoints"]
    for deployment in [one for one in found if one["kind"] == "Deployment"]:
        template = deployment["spec"]["template"]
        assert monitor["selector"]["matchLabels"].items() <= template["metadata"]["labels"].items()
        ports = [port["containerPort"] for port in template["spec"]["containers"][0]["ports"]]
        assert endpoint["portNumber"] in ports, deployment["metadata"]["name"]
    board = only(found, "ConfigMap", "touchstone-dashboard")["data"]["grafana.json"]
    assert board == (ROOT / "docs" / "grafana.json").read_text("utf-8")
    rules: Any = only(found, "PrometheusRule", "touchstone")["spec"]
    assert rules == yaml.safe_load(ALERTS.read_text("utf-8"))


def alerts() -> list[Json]:
    [group] = yaml.safe_load(ALERTS.read_text("utf-8"))["groups"]
    found: list[Json] = group["rules"]
    return found


def test_alerts_ask_for_what_is_measured_and_say_what_to_do() -> None:
    known = declared() | EXPORTED
    page = (ROOT / "docs" / "guide" / "operations.md").read_text("utf-8")
    for alert in alerts():
        series = {OURS.sub(r"\1", name) for name in SERIES.findall(alert["expr"])}
        assert series, alert["alert"]
        assert series <= known, series - known
        anchor = alert["annotations"]["runbook_url"].rpartition("#")[2]
        assert anchor == alert["alert"].lower()
        assert f"### {alert['alert']}\n" in page


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool tests the rules")
def test_alerts_fire_when_they_should() -> None:
    command = ["promtool", "test", "rules", "alerts.test.yaml"]
    ran = subprocess.run(command, cwd=MONITORING, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_every_alert_has_its_test() -> None:
    tests = (MONITORING / "alerts.test.yaml").read_text("utf-8")
    assert [one["alert"] for one in alerts() if f'"{one["alert"]}"' not in tests] == []
