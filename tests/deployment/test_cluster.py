"""The Helm chart: valid, restricted, and each process with what it needs and no more."""

from __future__ import annotations

import re
from ipaddress import ip_network
from typing import Any

import kubernetes_validate
import pytest

from cli.models.check import memory
from services.registry import contracts
from services.worker import MODEL_SERVICES, parse
from shared.ledger.webhook_destinations import INTERNAL_V4
from shared.models.catalogue.catalogue import load_catalogue
from shared.process.settings import Settings
from shared.process.settings_sources import unprotected_stores
from shared.worker.watchdog import GRACE_SECONDS
from tests.deployment.manifests import (
    ROOT,
    Json,
    containers,
    helm,
    needs_helm,
    of_kind,
    pod_specs,
    rendered,
)

OPERATED = {"ScaledObject", "TriggerAuthentication", "PodMonitor", "PrometheusRule"}
NOT_PUBLIC_USE = {"192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "192.31.196.0/24"}
OUTSIDE = {"cidr": "198.51.100.0/24", "port": 443}
VLLM = {"namespace": "models", "pods": {"app": "vllm"}, "port": 8000}
PRIVATE = {"cidr": "10.1.0.0/16", "port": 443}
COLLECTOR = {"namespace": "observe", "pods": {"app": "collector"}, "port": 4318}
PROXY = {"namespace": "egress", "pods": {"app": "squid"}, "port": 3128}
MANAGED: Json = {
    "stores": {"bundled": False, "tls": "required", "ca": "stores-ca"},
    "files": {"url": "s3://acme-touchstone/files"},
    "keda": {"enabled": True},
    "replicas": {"gateway": {"min": 2, "max": 20}, "metrics": {"min": 0}},
    "ingress": {"host": "touchstone.example"},
    "network": {
        "egress": {
            "stores": [OUTSIDE | {"port": 6379}, OUTSIDE | {"port": 5432}],
            "files": [OUTSIDE],
            "models": [VLLM, OUTSIDE],
            "hub": [PROXY],
            "webhooks": [PRIVATE],
            "telemetry": [COLLECTOR],
        }
    },
}
EVERYTHING: Json = MANAGED | {
    "metrics": ["hatexscore", "sor"],
    "separate": True,
    "monitoring": True,
    "backup": {"url": "s3://acme-touchstone/backup"},
    "models": {
        "file": "schema = 2\n",
        "pull": True,
        "claim": {"name": "weights", "size": "50Gi", "accessMode": "ReadWriteOnce"},
        "gpu": 1,
    },
}
RESTORE: Json = EVERYTHING | {"paused": True, "restore": "touchstone-20260301T031700Z.dump"}
VARIANTS: dict[str, Json] = {"default": {}, "managed": MANAGED, "everything": EVERYTHING}

pytestmark = needs_helm
variants = pytest.mark.parametrize("values", VARIANTS.values(), ids=VARIANTS)


@variants
def test_every_object_is_valid(values: Json) -> None:
    for one in rendered(**values):
        if one["kind"] not in OPERATED:
            kubernetes_validate.validate(one, "1.37", strict=True)


@variants
def test_pods_keep_to_the_restricted_profile(values: Json) -> None:
    objects = rendered(**values)
    assert not of_kind(objects, "Secret")
    for name, spec in pod_specs(objects).items():
        security = spec["securityContext"]
        assert (security["runAsNonRoot"], security["runAsUser"] > 0) == (True, True), name
        assert security["seccompProfile"] == {"type": "RuntimeDefault"}
        assert spec["automountServiceAccountToken"] is False
        for container in containers(spec):
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }
            assert {"cpu", "memory"} <= set(container["resources"]["requests"])
            assert "memory" in container["resources"]["limits"]
            mounted = {mount["name"] for mount in container["volumeMounts"]}
            volumes = {volume["name"] for volume in spec.get("volumes", ())} | {"data"}
            assert mounted <= volumes, name


def quantity(text: str) -> float:
    """Return cores or bytes."""
    units = {"m": 1e-3, "Mi": 2.0**20, "Gi": 2.0**30}
    unit = next((unit for unit in units if text.endswith(unit)), "")
    return float(text.removesuffix(unit)) * units.get(unit, 1)


def test_an_idle_default_install_requests_at_most_3_cpus_and_8_gib() -> None:
    totals = {"cpu": 0.0, "memory": 0.0}
    for one in of_kind(rendered(), "Deployment", "StatefulSet").values():
        for container in one["spec"]["template"]["spec"]["containers"]:
            for name in totals:
                amount = quantity(container["resources"]["requests"][name])
                totals[name] += amount * one["spec"]["replicas"]
    assert totals["cpu"] <= 3
    assert totals["memory"] <= 8 * 2**30


def test_models_fit_their_memory() -> None:
    [container] = pod_specs(rendered())["worker-models"]["containers"]
    requested = quantity(container["resources"]["requests"]["memory"])
    assert memory(load_catalogue(ROOT / "models.toml")) <= requested


def arguments(objects: list[Json]) -> dict[str, list[str]]:
    """Return the services of each worker."""
    return {
        name: spec["containers"][0]["args"][1:]
        for name, spec in pod_specs(objects).items()
        if name.startswith("worker-")
    }


def test_every_service_has_one_worker_and_chosen_metrics_run_alone() -> None:
    workers = arguments(rendered())
    served = [service for names in workers.values() for service in parse(names)]
    assert sorted(served) == sorted(contracts())
    assert set(parse(workers["worker-models"])) == MODEL_SERVICES
    chosen = {"metrics": ["hatexscore", "sor"]}
    assert arguments(rendered(**chosen))["worker-metrics"] == ["hatexscore", "sor"]
    every = sorted(contracts().keys() - MODEL_SERVICES)
    assert arguments(rendered(metrics=every))["worker-metrics"] == every
    for values, named in (({}, "metrics"), (chosen, "hatexscore sor")):
        data = of_kind(rendered(**values), "ConfigMap")["touchstone"]["data"]
        assert data["TOUCHSTONE_SERVE"] == named  # the gateway refuses other metrics
    apart = arguments(rendered(**chosen, separate=True, models={"enabled": False}))
    assert apart == {"worker-hatexscore": ["hatexscore"], "worker-sor": ["sor"]}
    assert "names of `metrics`" in helm({"separate": True}).stderr


def test_a_scaler_is_the_only_one_to_set_replicas() -> None:
    fixed, scaled = rendered(), rendered(**MANAGED)
    assert not of_kind(fixed, "ScaledObject", "HorizontalPodAutoscaler", "TriggerAuthentication")
    assert all("replicas" in one["spec"] for one in of_kind(fixed, "Deployment").values())
    scalers = of_kind(scaled, "ScaledObject", "HorizontalPodAutoscaler")
    targets = {one["spec"]["scaleTargetRef"]["name"] for one in scalers.values()}
    assert targets == {"gateway", "worker-metrics", "worker-models"}
    for name, one in of_kind(scaled, "Deployment").items():
        assert ("replicas" in one["spec"]) is (name not in targets)
    assert "needs KEDA" in helm({"replicas": {"metrics": {"min": 0}}}).stderr


def test_keda_connects_with_the_tls_settings_of_its_own_secret() -> None:
    objects = rendered(**MANAGED)
    [authentication] = of_kind(objects, "TriggerAuthentication").values()
    secret = {"parameter": "connection", "name": "touchstone-scaler", "key": "connection"}
    assert authentication["spec"]["secretTargetRef"] == [secret]
    for one in of_kind(objects, "ScaledObject").values():
        [trigger] = one["spec"]["triggers"]
        assert trigger["type"] == "postgresql"
        assert trigger["authenticationRef"] == {"name": "touchstone-scaler"}


def test_while_paused_nothing_writes_and_no_field_of_a_scaler_is_set() -> None:
    """`replicas: 0` would conflict with the autoscaler, which owns the field, under Helm 4."""
    assert "paused=true" in helm(RESTORE | {"paused": False}).stderr
    objects = rendered(**RESTORE)
    writers = ("Deployment", "HorizontalPodAutoscaler", "ScaledObject")
    assert len(of_kind(rendered(**EVERYTHING), *writers)) == 5
    assert not of_kind(objects, *writers)
    assert of_kind(objects, "CronJob")["backup"]["spec"]["suspend"] is True
    restore = of_kind(objects, "Job")["restore-20260301t031700z"]
    kubernetes_validate.validate(restore, "1.37", strict=True)
    for kept in ("PersistentVolumeClaim", "ServiceAccount", "Service"):
        assert of_kind(objects, kept) == of_kind(rendered(**EVERYTHING), kept)


def test_a_private_registry_serves_every_image() -> None:
    stores = {name: f"registry.acme.example/{name}:17" for name in ("redis", "postgres")}
    image = {"registry": "registry.acme.example", "pullSecrets": ["pull"], **stores}
    values = {"image": image, "backup": EVERYTHING["backup"], "network": MANAGED["network"]}
    for spec in pod_specs(rendered(**values)).values():
        assert spec["imagePullSecrets"] == [{"name": "pull"}]
        for container in containers(spec):
            assert container["image"].startswith("registry.acme.example/")
    assert "image.registry" in helm({"image": {"registry": ""}}).stderr


def policies(objects: list[Json]) -> dict[str, Json]:
    return {name: one["spec"] for name, one in of_kind(objects, "NetworkPolicy").items()}


def peers(objects: list[Json], name: str) -> list[tuple[Json, int]]:
    """Return what this egress policy opens: each peer with its port."""
    return [
        (peer, port["port"])
        for rule in policies(objects)[name]["egress"]
        for peer in rule["to"]
        for port in rule["ports"]
    ]


def test_nothing_passes_unless_it_is_declared() -> None:
    objects = rendered()
    ours = {"matchLabels": {"app.kubernetes.io/name": "touchstone"}}
    expected = {"podSelector": ours, "policyTypes": ["Ingress", "Egress"]}
    assert policies(objects)["nothing"] == expected
    outside = [name for name, spec in policies(objects).items() if "ipBlock" in str(spec)]
    assert outside == ["webhooks-out"]
    open_to_all = [
        name
        for name, spec in policies(objects).items()
        for rule in spec.get("ingress", [])
        if "from" not in rule
    ]
    assert open_to_all == ["clients-to-gateway"]


def test_egress_opens_declared_networks_and_pods_and_guesses_none() -> None:
    """The bucket `acme-touchstone`, `huggingface.co` and `openrouter.ai` are names outside."""
    objects = rendered(**EVERYTHING)
    outside = {"ipBlock": {"cidr": OUTSIDE["cidr"]}}
    assert peers(objects, "egress-files") == [(outside, 443)]
    assert [port for _, port in peers(objects, "egress-stores")] == [6379, 5432]
    vllm = {
        "podSelector": {"matchLabels": VLLM["pods"]},
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "models"}},
    }
    assert peers(objects, "egress-models") == [(vllm, 8000), (outside, 443)]
    assert peers(objects, "egress-webhooks") == [({"ipBlock": {"cidr": PRIVATE["cidr"]}}, 443)]
    [(collector, port)] = peers(objects, "egress-telemetry")
    assert (collector["podSelector"], port) == ({"matchLabels": COLLECTOR["pods"]}, 4318)
    [(proxy, port)] = peers(objects, "egress-hub")
    assert (proxy["podSelector"], port) == ({"matchLabels": PROXY["pods"]}, 3128)


@pytest.mark.parametrize(
    ("values", "missing"),
    [
        ({"files": MANAGED["files"]}, "network.egress.files"),
        ({"backup": EVERYTHING["backup"]}, "network.egress.files"),
        ({"stores": MANAGED["stores"]}, "network.egress.stores"),
        ({"models": {"pull": True, "claim": {"name": "weights"}}}, "network.egress.hub"),
        ({"network": {"egress": {"hub": [{"host": "huggingface.co", "port": 443}]}}}, "cidr"),
        ({"network": {"egress": {"models": [{"namespace": "ai", "port": 443}]}}}, "pods"),
        ({"metric": ["sor"]}, "metric"),
        ({"models": {"gpus": 1}}, "gpus"),
        ({"network": {"policy": False}}, "policy"),
        ({"replicas": {"worker": {"max": 2}}}, "worker"),
        ({"metrics": ["sorr"]}, "metrics"),
        ({"stores": {"tls": "required"}}, "stores.tls"),
        ({"paused": True, "restore": RESTORE["restore"]}, "backup.url"),
        ({"keda": {"enabled": True}, "replicas": {"metrics": {"min": 9}}}, "replicas.metrics.min"),
        ({"replicas": {"gateway": {"min": 5}}}, "replicas.gateway.min"),
        ({"replicas": {"gateway": {"min": 0, "max": 3}}}, "/replicas/gateway/min"),
        ({"replicas": {"scheduler": {"min": 0}}}, "/replicas/scheduler/min"),
        ({"models": {"nodeSelector": {"gpu": True}}}, "/models/nodeSelector/gpu"),
        ({"resources": {"models": {"requests": {"cpus": 1}}}}, "cpus"),
        ({"env": {"TOUCHSTONE_SERVE": "sor"}}, "/env/TOUCHSTONE_SERVE"),
    ],
)
def test_values_that_would_leave_a_process_cut_off_are_refused(values: Json, missing: str) -> None:
    ran = helm(values)
    assert ran.returncode != 0
    assert missing in ran.stderr


def test_webhooks_leave_for_public_addresses_only() -> None:
    (rule,) = policies(rendered())["webhooks-out"]["egress"]
    assert [port["port"] for port in rule["ports"]] == [443, 8443]
    blocks: list[Any] = [peer["ipBlock"] for peer in rule["to"]]
    excluded = [ip_network(network) for network in blocks[0]["except"]]
    routed = [network for network in INTERNAL_V4 if str(network) not in NOT_PUBLIC_USE]
    for network in [one for one in routed if one.is_private or one.is_multicast]:
        assert any(network.subnet_of(wall) for wall in excluded), network  # type: ignore[arg-type]


def test_dns_and_the_neighbours_namespaces_are_values() -> None:
    dns = {"namespace": "openshift-dns", "ports": [5353], "cidrs": ["169.254.20.10/32"]}
    objects = rendered(
        network={"dns": dns, "monitoringNamespace": "observe"},
        keda={"enabled": True, "namespace": "scaling"},
    )
    assert {port for _, port in peers(objects, "dns")} == {5353}
    assert ({"ipBlock": {"cidr": "169.254.20.10/32"}}, 5353) in peers(objects, "dns")
    assert "'observe'" in str(policies(objects)["prometheus-to-metrics"])
    assert "'scaling'" in str(policies(objects)["postgres-from-processes"])
    assert "'scaling'" not in str(policies(objects)["redis-from-processes"])


@variants
def test_each_process_has_a_secret_of_its_own(values: Json) -> None:
    used: dict[str, set[str]] = {}
    for name, spec in pod_specs(rendered(**values)).items():
        for container in containers(spec):
            used.setdefault(f"{name}/{container['name']}", set()).update(
                source["secretRef"]["name"].removeprefix("touchstone-")
                for source in container["envFrom"]
                if "secretRef" in source
            )
            written = {entry["name"] for entry in container.get("env", []) if "value" in entry}
            assert not {one for one in written if "KEY" in one or "PASSWORD" in one}
    assert used["gateway/gateway"] == {"gateway", "files"}
    assert used["gateway/migrate"] == used["scheduler/migrate"] == {"migrate"}
    assert used["worker-models/worker"] == {"models", "model-servers"}
    for pod, expected in {"postgres/postgres": {"postgres"}, "redis/redis": {"redis"}}.items():
        assert used.get(pod, expected) == expected
    assert used.get("backup/dump", {"backup", "files"}) == {"backup", "files"}
    pulls = [names for pod, names in used.items() if pod.startswith("models-pull")]
    assert pulls in ([], [{"hub"}])


def test_no_default_needs_a_volume_that_several_nodes_write() -> None:
    objects = rendered()
    modes = {
        name: one["spec"]["accessModes"]
        for name, one in of_kind(objects, "PersistentVolumeClaim").items()
    }
    assert modes == {"files": ["ReadWriteOnce"]}
    specs = pod_specs(objects)
    assert specs["gateway"]["affinity"] == specs["scheduler"]["affinity"]
    assert "podAffinity" in specs["gateway"]["affinity"]
    remote = rendered(**MANAGED)
    assert not of_kind(remote, "PersistentVolumeClaim")
    assert "affinity" not in pod_specs(remote)["gateway"]


@variants
def test_every_deployment_is_spread_budgeted_and_probed(values: Json) -> None:
    objects, chosen = rendered(**values), Settings()
    for name, one in of_kind(objects, "Deployment").items():
        selector = one["spec"]["selector"]
        template = one["spec"]["template"]
        assert selector["matchLabels"].items() <= template["metadata"]["labels"].items()
        budget = of_kind(objects, "PodDisruptionBudget")[name]["spec"]
        assert (budget["selector"], budget["maxUnavailable"]) == (selector, 1)
        [spread] = template["spec"]["topologySpreadConstraints"]
        assert spread["labelSelector"] == selector
        [container] = template["spec"]["containers"]
        term = template["spec"]["terminationGracePeriodSeconds"]
        probe = container["livenessProbe"]
        patience = probe["periodSeconds"] * probe["failureThreshold"]
        assert chosen.heartbeat_seconds < patience <= 120
        assert term >= 45
        assert (
            not name.startswith("worker-") or patience + term > chosen.lease_seconds + GRACE_SECONDS
        )


def test_one_pod_serves_both_kinds_of_models_on_one_gpu() -> None:
    values = {"gpu": 1, "nodeSelector": {"gpu": "a100"}, "gpuResource": "nvidia.com/mig-1g.10gb"}
    spec = pod_specs(rendered(models=values))["worker-models"]
    [container] = spec["containers"]
    assert container["image"].endswith("/touchstone-models-gpu:0.1.0")
    assert container["resources"]["limits"]["nvidia.com/mig-1g.10gb"] == 1
    assert set(parse(container["args"][1:])) == MODEL_SERVICES
    assert spec["nodeSelector"] == {"gpu": "a100"}
    others = [
        one for name, one in pod_specs(rendered(models=values)).items() if "models" not in name
    ]
    assert "nvidia.com" not in str(others)


def test_numbers_of_a_values_file_reach_the_settings_as_they_are() -> None:
    env = {"TOUCHSTONE_MAX_FILE_BYTES": 500_000_000, "TOUCHSTONE_X": 0.5, "NO_PROXY": "a,b"}
    data = of_kind(rendered(env=env), "ConfigMap")["touchstone"]["data"]
    assert {name: data[name] for name in env} == {
        "TOUCHSTONE_MAX_FILE_BYTES": "500000000", "TOUCHSTONE_X": "0.5", "NO_PROXY": "a,b",
    }  # fmt: skip


def test_managed_stores_must_use_tls_and_every_process_has_their_authority() -> None:
    objects = rendered(**MANAGED)
    assert not of_kind(objects, "StatefulSet")
    configuration = of_kind(objects, "ConfigMap")["touchstone"]["data"]
    assert configuration["TOUCHSTONE_STORES_TLS"] == "required"
    for name, spec in pod_specs(objects).items():
        for container in containers(spec):
            assert "/etc/stores" in [one["mountPath"] for one in container["volumeMounts"]], name
    page = (ROOT / "docs" / "guide" / "deploy.md").read_text("utf-8")
    addresses = re.findall(r"^(?:rediss|postgresql)://\S+", page, re.M)
    assert len(addresses) == 2
    assert unprotected_stores(*addresses) == []
