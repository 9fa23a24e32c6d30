"""Ingress, monitoring and alerts: what the chart says fits what the service does."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from typing import Any

import pytest
import yaml

from services.gateway.http_requests import MAX_WAIT_SECONDS
from services.gateway.request_limits import BODY_SECONDS
from services.gateway.routes.bulk import MAX_BULK_BYTES
from shared.process.settings import Settings
from tests.deployment.manifests import CHART, ROOT, Json, needs_helm, of_kind, rendered
from tests.test_dashboard import SUFFIXES, declared

ALERTS = CHART / "alerts.yaml"
EXPORTED = {  # by the exporters of PostgreSQL, Redis and of what is seen from outside
    "pg_stat_activity_count", "pg_settings_max_connections", "redis_memory_used_bytes",
    "redis_memory_max_bytes", "probe_ssl_earliest_cert_expiry", "touchstone_model_ready",
}  # fmt: skip
SERIES = re.compile(r"\b(?:touchstone|pg|redis|probe)_[a-z_]+")
OURS = re.compile(f"^(touchstone_.*?)({'|'.join(SUFFIXES)})$")
MEGABYTE = 1_000_000


@needs_helm
def test_the_ingress_passes_what_the_gateway_accepts() -> None:
    objects = rendered(ingress={"host": "touchstone.example"})
    assert "10.0.0.0/8" in of_kind(objects, "ConfigMap")["touchstone"]["data"]["TOUCHSTONE_PROXIES"]
    found = of_kind(objects, "Ingress")
    chosen = Settings()

    def note(name: str, key: str) -> str:
        notes: dict[str, str] = found[name]["metadata"]["annotations"]
        return notes[f"nginx.ingress.kubernetes.io/{key}"]

    def megabytes(name: str) -> int:
        return int(note(name, "proxy-body-size").removesuffix("m")) * 1_048_576

    assert megabytes("gateway") >= MAX_BULK_BYTES
    assert megabytes("gateway-files") >= chosen.max_file_bytes + MEGABYTE
    assert int(note("gateway", "proxy-read-timeout")) > MAX_WAIT_SECONDS
    assert int(note("gateway-files", "proxy-read-timeout")) >= BODY_SECONDS
    large = found["gateway-files"]["spec"]["rules"][0]["http"]["paths"]
    assert [one["path"] for one in large] == ["/v1/files", "/batches/new"]
    page = (ROOT / "docs" / "guide" / "access.md").read_text("utf-8")
    [pattern, size] = re.findall(r"location ~ (\S+) \{ client_max_body_size (\d+)m", page)[0]
    assert all(re.search(pattern, one["path"]) for one in large)
    assert int(size) * 1_048_576 >= chosen.max_file_bytes + MEGABYTE
    assert note("gateway-events", "proxy-buffering") == "off"
    events = found["gateway-events"]["spec"]["rules"][0]["http"]["paths"]
    paths = json.loads((ROOT / "docs" / "openapi.json").read_text("utf-8"))["paths"]
    streams = [re.sub(r"\{[a-z_]+\}", "job_0a", path) for path in paths if path.endswith("/events")]
    assert len(streams) == 2
    for stream in streams:
        assert re.fullmatch(events[0]["path"], stream)
    assert all(one["spec"]["tls"] for one in found.values())


@needs_helm
def test_prometheus_scrapes_every_process_and_has_our_rules_and_dashboard() -> None:
    objects = rendered(monitoring=True)
    monitor = of_kind(objects, "PodMonitor")["touchstone"]["spec"]
    [endpoint] = monitor["podMetricsEndpoints"]
    for name, one in of_kind(objects, "Deployment").items():
        template = one["spec"]["template"]
        assert monitor["selector"]["matchLabels"].items() <= template["metadata"]["labels"].items()
        ports = [port["containerPort"] for port in template["spec"]["containers"][0]["ports"]]
        assert endpoint["portNumber"] in ports, name
    board = of_kind(objects, "ConfigMap")["touchstone-dashboard"]["data"]["grafana.json"]
    assert board == (CHART / "grafana.json").read_text("utf-8")
    rules: Any = of_kind(objects, "PrometheusRule")["touchstone"]["spec"]
    assert rules == yaml.safe_load(ALERTS.read_text("utf-8"))


def alerts() -> list[Json]:
    [group] = yaml.safe_load(ALERTS.read_text("utf-8"))["groups"]
    found: list[Json] = group["rules"]
    return found


def test_alerts_ask_for_what_is_measured_and_say_what_to_do() -> None:
    known = declared() | EXPORTED
    page = (ROOT / "docs" / "guide" / "faults.md").read_text("utf-8")
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
    ran = subprocess.run(command, cwd=CHART, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_every_alert_has_its_test() -> None:
    tests = (CHART / "alerts.test.yaml").read_text("utf-8")
    assert [one["alert"] for one in alerts() if f'"{one["alert"]}"' not in tests] == []
