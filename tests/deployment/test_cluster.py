"""The cluster's manifests: valid, complete, restricted, and shut to all but what must pass."""

from __future__ import annotations

from ipaddress import ip_network
from typing import Any

import kubernetes_validate
import pytest

from services.registry import contracts
from services.worker import MODEL_SERVICES
from shared.ledger.webhook_destinations import INTERNAL_V4
from shared.process.settings import Settings
from shared.queue import broker
from shared.worker.watchdog import GRACE_SECONDS
from tests.deployment.manifests import KUBECTL, OVERLAYS, Json, objects, of_kind

OPERATED = {"ScaledObject"}  # kinds of operators, which Kubernetes' own schemas do not know
NOT_PUBLIC_USE = {"192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "192.31.196.0/24"}

pytestmark = [
    pytest.mark.skipif(KUBECTL is None, reason="kubectl builds the overlays"),
    pytest.mark.parametrize("overlay", OVERLAYS),
]


def pods(overlay: str) -> dict[str, Json]:
    """name → pod template."""
    return {
        found["metadata"]["name"]: found["spec"]["template"]
        for found in of_kind(overlay, "Deployment", "StatefulSet")
    }


def containers(template: Json) -> list[Json]:
    spec = template["spec"]
    return [*spec.get("initContainers", []), *spec["containers"]]


def test_every_object_is_valid(overlay: str) -> None:
    for found in objects(overlay):
        if found["kind"] not in OPERATED:
            kubernetes_validate.validate(found, "1.37", strict=True)


def test_a_broken_object_is_not_valid(overlay: str) -> None:
    found = of_kind(overlay, "Deployment")[0] | {"spec": {"replicas": "two"}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(found, "1.37", strict=True)


def test_every_room_has_its_worker_and_watches_its_lanes(overlay: str) -> None:
    workers = {
        found["spec"]["template"]["spec"]["containers"][0]["args"][0]: found
        for found in of_kind(overlay, "Deployment")
        if found["metadata"]["name"].startswith("worker-")
    }
    assert sorted(workers) == list(contracts())
    scaled = {
        found["spec"]["scaleTargetRef"]["name"]: found for found in of_kind(overlay, *OPERATED)
    }
    for service in workers:
        triggers = scaled[f"worker-{service}"]["spec"]["triggers"]
        watched = [trigger["metadata"]["listName"] for trigger in triggers]
        calls = [f"model.{service}", f"model.{service}.batch"] if service in MODEL_SERVICES else []
        assert watched == [broker.task_name(service), broker.batch_queue_of(service), *calls]


def test_pods_keep_to_the_restricted_profile(overlay: str) -> None:
    for name, template in pods(overlay).items():
        security = template["spec"]["securityContext"]
        assert security["runAsNonRoot"] is True, name
        assert security["runAsUser"] > 0
        assert security["seccompProfile"] == {"type": "RuntimeDefault"}
        assert template["spec"]["automountServiceAccountToken"] is False
        for container in containers(template):
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }
            assert {"cpu", "memory"} <= set(container["resources"]["requests"])
            assert "memory" in container["resources"]["limits"]
    (namespace,) = of_kind(overlay, "Namespace")
    assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"


def test_every_pod_is_probed_and_has_time_to_end(overlay: str) -> None:
    for name, template in pods(overlay).items():
        assert template["spec"]["terminationGracePeriodSeconds"] >= 45, name
        for container in template["spec"]["containers"]:
            assert {"readinessProbe", "livenessProbe"} <= set(container)


def test_an_ill_worker_is_ended_but_first_may_say_why(overlay: str) -> None:
    """Who is silent for a lease and a grace ends itself, and the log and the ledger know why."""
    chosen = Settings()
    for name, template in pods(overlay).items():
        if not name.startswith("worker-"):
            continue
        [container] = template["spec"]["containers"]
        probe = container["livenessProbe"]
        assert probe["httpGet"]["path"] == "/healthz", name
        patience = probe["periodSeconds"] * probe["failureThreshold"]
        term = template["spec"]["terminationGracePeriodSeconds"]
        assert chosen.heartbeat_seconds < patience <= 120
        assert patience + term > chosen.lease_seconds + GRACE_SECONDS


def matches(selector: Json, template: Json) -> bool:
    labels = template["metadata"]["labels"]
    return bool(selector["matchLabels"].items() <= labels.items())


def test_every_deployment_has_a_disruption_budget_of_its_own(overlay: str) -> None:
    budgets = of_kind(overlay, "PodDisruptionBudget")
    for deployment in of_kind(overlay, "Deployment"):
        template = deployment["spec"]["template"]
        assert matches(deployment["spec"]["selector"], template)
        mine = [budget for budget in budgets if matches(budget["spec"]["selector"], template)]
        assert [budget["metadata"]["name"] for budget in mine] == [deployment["metadata"]["name"]]


def test_secrets_are_named_and_never_written(overlay: str) -> None:
    assert of_kind(overlay, "Secret") == []
    for template in pods(overlay).values():
        for container in containers(template):
            written = {entry["name"] for entry in container.get("env", []) if "value" in entry}
            assert not written & {"DATABASE_URL", "REDIS_URL", "POSTGRES_PASSWORD"}
            assert not {name for name in written if "KEY" in name}


def policies(overlay: str) -> dict[str, Json]:
    return {found["metadata"]["name"]: found["spec"] for found in of_kind(overlay, "NetworkPolicy")}


def test_nothing_passes_unless_it_is_named(overlay: str) -> None:
    nothing = policies(overlay)["nothing"]
    assert nothing == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    outside = [name for name, spec in policies(overlay).items() if "ipBlock" in str(spec)]
    assert outside == ["webhooks-out"]
    from_anywhere = [
        name
        for name, spec in policies(overlay).items()
        for rule in spec.get("ingress", [])
        if "from" not in rule
    ]
    assert from_anywhere == ["clients-to-gateway"]


def test_webhooks_leave_for_public_addresses_only(overlay: str) -> None:
    (rule,) = policies(overlay)["webhooks-out"]["egress"]
    assert [port["port"] for port in rule["ports"]] == [443, 8443]
    blocks: list[Any] = [peer["ipBlock"] for peer in rule["to"]]
    walled = [ip_network(network) for network in blocks[0]["except"]]
    routed = [network for network in INTERNAL_V4 if str(network) not in NOT_PUBLIC_USE]
    private = [network for network in routed if network.is_private or network.is_multicast]
    for network in private:
        assert any(network.subnet_of(wall) for wall in walled), network  # type: ignore[arg-type]


def test_the_gpu_overlay_gives_model_rooms_a_device(overlay: str) -> None:
    for found in of_kind(overlay, "Deployment"):
        container = found["spec"]["template"]["spec"]["containers"][0]
        service = found["metadata"]["name"].removeprefix("worker-")
        has_device = "nvidia.com/gpu" in container["resources"]["limits"]
        assert has_device is (overlay == "gpu" and service in MODEL_SERVICES)
