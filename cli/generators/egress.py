"""What must leave a cluster, as network policies: `python -m cli.generators.egress`.

The base of `k8s/` lets nothing out but DNS, its own stores and webhooks. This prints what a given
`models.toml` and environment need besides, a policy for each component of `k8s/components`; those
components are what it prints of `EXAMPLE`, written by `python -m cli.generators.manifests write`.

A policy knows addresses, not names: a name outside the cluster is opened as the networks that
`--cidr` says, else as every address, on its one port. Ports are those of the pods (`targetPort`).

Source: specs "models" §2.3.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from shared.models.catalogue.catalogue import load_catalogue
from shared.process.settings import Settings, settings_or_exit
from shared.process.settings_sources import unprotected_stores

Json = dict[str, Any]
EVERYWHERE = ("0.0.0.0/0", "::/0")
HUB = "https://huggingface.co"
IN_THE_CLUSTER = ("redis", "postgres")  # the stores of the base, which has policies for them
DEFAULT_PORTS = {
    "http": 80,
    "https": 443,
    "redis": 6379,
    "rediss": 6379,
    "postgres": 5432,
    "postgresql": 5432,
}
POLICY = """\
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {{name: {name}}}
spec:
  podSelector: {pods}
  policyTypes: [Egress]
  egress:
"""
RULE = """\
    - to: {peers}  # {host}
      ports: [{{port: {port}}}]
"""


@dataclass(frozen=True)
class Outside:
    """All that processes speak to outside, by addresses, and the networks of some hosts."""

    servers: tuple[str, ...] = ()
    stores: tuple[str, ...] = ()
    files: str = "/files"
    hub: str = HUB
    cidrs: Mapping[str, str] = field(default_factory=dict)


EXAMPLE = Outside(
    servers=("http://vllm.models.svc:8000/v1", "https://models.example.com/v1"),
    stores=("rediss://redis.example.com:6379/0", "postgresql://postgres.example.com:5432/touchstone"),
    files="s3://bucket/folder",
)  # fmt: skip

WORKERS = {"matchLabels": {"touchstone-worker": "true"}}
STORE = "app.kubernetes.io/component"


def components(*names: str) -> Json:
    """A selector of pods by their component."""
    return {"matchExpressions": [{"key": STORE, "operator": "In", "values": list(names)}]}


EVERYBODY = {
    "matchExpressions": [{"key": STORE, "operator": "NotIn", "values": list(IN_THE_CLUSTER)}]
}


def policies(outside: Outside) -> dict[str, str]:
    """component → its policy; a component that is not needed is left out."""
    stores = [url for url in outside.stores if urlsplit(url).hostname not in IN_THE_CLUSTER]
    is_remote = "://" in outside.files and not outside.files.startswith("file://")
    asked = {
        "egress-model-servers": (WORKERS, outside.servers),
        "egress-managed-stores": (EVERYBODY, stores),
        "egress-object-storage": (
            components("gateway", "scheduler"),
            [f"https://{urlsplit(outside.files).hostname or 'storage'}"] if is_remote else [],
        ),
        "egress-hub": (components("models-pull"), [outside.hub]),
    }
    return {
        name: POLICY.format(name=name, pods=json.dumps(pods)) + "".join(rules(urls, outside.cidrs))
        for name, (pods, urls) in asked.items()
        if urls
    }


def rules(urls: Sequence[str], cidrs: Mapping[str, str]) -> Iterator[str]:
    """A rule for each host and port, in the order of the addresses."""
    for host, port in dict.fromkeys(map(host_and_port, urls)):
        yield RULE.format(peers=json.dumps(peers(host, cidrs)), host=host, port=port)


def host_and_port(url: str) -> tuple[str, int]:
    """Raises ValueError where the address names no host."""
    parts = urlsplit(url)
    if not parts.hostname:
        raise ValueError(f"{url!r} names no host")
    return parts.hostname, parts.port or DEFAULT_PORTS.get(parts.scheme, 443)


def peers(host: str, cidrs: Mapping[str, str]) -> list[Json]:
    """Where a policy finds this host."""
    if host in cidrs:
        return [{"ipBlock": {"cidr": cidrs[host]}}]
    try:
        return [{"ipBlock": {"cidr": str(ip_network(ip_address(host)))}}]
    except ValueError:
        pass
    _, *rest = host.split(".")
    if not rest:  # a service of our own namespace
        return [{"podSelector": {}}]
    if len(rest) == 1 or rest[1] == "svc":
        return [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": rest[0]}}}]
    return [{"ipBlock": {"cidr": cidr}} for cidr in EVERYWHERE]


def needed(chosen: Settings, cidrs: Mapping[str, str]) -> Outside:
    """The hosts that these settings and their `models.toml` speak to."""
    catalogue = load_catalogue(chosen.models_file)
    redis_url, *queues = chosen.queue_servers
    return Outside(
        servers=tuple(
            entry.location for entry in catalogue.entries if entry.scheme in ("openai", "classify")
        ),
        stores=(redis_url, chosen.database_url.get_secret_value(), *queues),
        files=chosen.files_url,
        hub=chosen.hub,
        cidrs=cidrs,
    )


def _parse_network(text: str) -> tuple[str, str]:
    host, _, network = text.partition("=")
    try:
        return host, str(ip_network(network))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not HOST=NETWORK") from None


def main(arguments: list[str] | None = None) -> int:
    """Print the policies; 1 where a store outside would be spoken to in clear."""
    parser = argparse.ArgumentParser(prog="python -m cli.generators.egress", description=__doc__)
    parser.add_argument("--models", type=Path, help="the models.toml (TOUCHSTONE_MODELS_FILE)")
    parser.add_argument(
        "--cidr",
        type=_parse_network,
        action="append",
        default=[],
        metavar="HOST=NETWORK",
        help="repeatable",
    )
    asked = parser.parse_args(arguments)
    chosen = settings_or_exit()
    if asked.models is not None:
        chosen = chosen.model_copy(update={"models_file": asked.models})
    outside = needed(chosen, dict(asked.cidr))
    found = policies(outside)
    sys.stdout.write("".join(found.values()))
    faults = unprotected_stores(*outside.stores) if "egress-managed-stores" in found else []
    sys.stderr.write("".join(f"{fault}\n" for fault in faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
