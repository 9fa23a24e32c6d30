"""Our own processes, and where each answers probes: gateway, scheduler, one worker or several."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from services.registry import contracts
from services.stack.child import Child, Probe
from services.stack.redis_server import free_port
from shared.settings import Settings


@dataclass(frozen=True)
class Rooms:
    """Which rooms are served, no names: all; and whether each has a worker of its own.

    Workers apart ask for models by queue, as in a cluster.
    """

    names: tuple[str, ...] = ()
    apart: bool = False


def ours(servers: dict[str, str], chosen: Settings, port: int, rooms: Rooms) -> list[Child]:
    """All processes, in the order in which they start.

    servers: where Redis, PostgreSQL and the files are, as environment.
    """
    door = Probe(f"http://{chosen.host}:{port}", obeyed=False)
    gateway = _module("gateway", servers | {"TOUCHSTONE_PORT": str(port)}, probe=door)
    base = [gateway, _probed("scheduler", servers, chosen)]
    if not rooms.apart:
        return [*base, _probed("worker", servers, chosen, *rooms.names)]
    asking = servers | {"TOUCHSTONE_BINDING": "queue"}
    names = rooms.names or list(contracts())
    return [*base, *(_probed("worker", asking, chosen, room) for room in names)]


def _probed(name: str, servers: dict[str, str], chosen: Settings, *arguments: str) -> Child:
    """A process that answers probes on a port of its own."""
    port = free_port()
    environment = servers | {"TOUCHSTONE_METRICS_PORT": str(port)}
    probe = Probe(f"http://{chosen.metrics_host}:{port}")
    return _module(name, environment, *arguments, probe=probe)


def _module(name: str, environment: dict[str, str], *arguments: str, probe: Probe) -> Child:
    command = (sys.executable, "-m", f"services.{name}", *arguments)
    return Child("-".join((name, *arguments)), command, environment, probe)
