"""Our own processes, and where each answers probes: gateway, scheduler, one worker or several."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from services.stack.child import Child
from services.stack.redis_server import free_port
from services.worker import rooms_with_a_door
from shared.settings import Settings


@dataclass(frozen=True)
class Ours:
    """A process, and the address that says 200 once it is ready; None: nobody asks."""

    child: Child
    probe: str | None


@dataclass(frozen=True)
class Rooms:
    """Which rooms are served, no names: all; and whether each has a worker of its own.

    Workers apart ask for models by queue, as in a cluster.
    """

    names: tuple[str, ...] = ()
    apart: bool = False


def ours(servers: dict[str, str], chosen: Settings, port: int, rooms: Rooms) -> list[Ours]:
    """All processes, in the order in which they start.

    servers: where Redis, PostgreSQL and the files are, as environment.
    """
    gateway = _module("gateway", servers | {"TOUCHSTONE_PORT": str(port)})
    scheduler = _module("scheduler", servers | {"TOUCHSTONE_METRICS_PORT": str(free_port())})
    base = [Ours(gateway, f"http://{chosen.host}:{port}/readyz"), Ours(scheduler, None)]
    if not rooms.apart:
        return [*base, _worker(servers, chosen, *rooms.names)]
    asking = servers | {"TOUCHSTONE_BINDING": "queue"}
    return [*base, *(_worker(asking, chosen, room) for room in rooms.names or rooms_with_a_door())]


def _worker(servers: dict[str, str], chosen: Settings, *rooms: str) -> Ours:
    port = free_port()
    child = _module("worker", servers | {"TOUCHSTONE_METRICS_PORT": str(port)}, *rooms)
    return Ours(child, f"http://{chosen.metrics_host}:{port}/readyz")


def _module(name: str, environment: dict[str, str], *arguments: str) -> Child:
    command = (sys.executable, "-m", f"services.{name}", *arguments)
    return Child("-".join((name, *arguments)), command, environment)
