"""The published list of faults: what is done, to which service, and what has to hold."""

from __future__ import annotations

from pathlib import Path

from tests.chaos import (
    crowd,
    disks,
    faults,
    hooks,
    poisoned,
    sending,
    stopped,
    stores,
    strangers,
)
from tests.chaos.faults import faketime_library
from tests.chaos.outcome import Scenario
from tests.end_to_end.service import ROOT

STARTUP = Path(__file__).with_name("startup")


def _skewed(seconds: str) -> dict[str, str]:
    """Not the ledger's clock: `startup` shifts those of our own processes."""
    library = faketime_library()
    shift = {"CHAOS_CLOCK": seconds, "CHAOS_CLOCK_LIBRARY": str(library)}
    return PREPARED | shift if library else {}


def _seconds(**settings: int) -> dict[str, str]:
    """As environment."""
    return {f"TOUCHSTONE_{name}_SECONDS": str(value) for name, value in settings.items()}


# What stands in `startup` is done first by every process of the service.
PREPARED = {"PYTHONPATH": f"{STARTUP}:{ROOT}"}
SOON = _seconds(**poisoned.LEASE)
NO_CLOCK = "" if faketime_library() else "libfaketime is not installed"
NO_DISK = "" if disks.can_mount() else "a small disk cannot be mounted here"

CALM = Scenario("0", "nothing")
SCENARIOS = (
    Scenario("1", "kill -9 of the process that computes, mid-task", faults.kill_inference),
    Scenario("2", "kill -9 of the metric's worker", faults.kill_metric_worker),
    Scenario(
        "3",
        "stopped and killed between fetch and claim, 5 times",
        faults.kill_between_fetch_and_claim,
    ),
    Scenario("4", "Redis killed and restarted 10 times", faults.restart_redis_ten_times),
    Scenario("5", "Redis frozen for 30 s, connections stay open", faults.freeze_redis),
    Scenario("6", "Redis FLUSHALL", faults.flush_redis),
    Scenario("7", "gateway killed 5 times before its message", faults.kill_gateway_repeatedly),
    Scenario("8", "SIGTERM to every process in turn", faults.rolling_update),
    Scenario(
        "9",
        "a line of a batch kills every worker that takes it (leases of 20 s)",
        sends=poisoned.send_poison,
        settings=PREPARED | SOON,
        services=("poison",),
        failures=1,
    ),
    Scenario(
        "10a",
        "all our clocks 10 min ahead of the database's",
        settings=_skewed("+10m"),
        skipped=NO_CLOCK,
    ),
    Scenario(
        "10b",
        "all our clocks 10 min behind the database's",
        settings=_skewed("-10m"),
        skipped=NO_CLOCK,
    ),
    Scenario(
        "11",
        "webhook receivers answer 500, hang, redirect inside, rebind, send 10 MB; scheduler killed",
        faults.kill_scheduler,
        sends=hooks.send_and_be_told,
        settings=PREPARED | hooks.SETTINGS,
    ),
    Scenario("12", "each body 50 times at once under one key", sends=sending.send_fifty_times),
    Scenario(
        "13", "every other job cancelled while it may be ending", sends=sending.send_and_cancel
    ),
    Scenario("14", "PostgreSQL frozen for 30 s", faults.freeze_postgres),
    Scenario("15", "PostgreSQL crashed", faults.crash_postgres),
    Scenario(
        "16",
        "a line of a batch never ends and holds the interpreter's lock (leases of 20 s)",
        sends=poisoned.send_endless,
        settings=PREPARED | SOON,
        services=("poison",),
        failures=1,
    ),
    Scenario(
        "17",
        "3 requests never end: one asks, one loops, one stands in compiled code (20 s allowed)",
        sends=poisoned.send_endless_requests,
        settings=PREPARED | SOON | _seconds(**poisoned.RUN),
        services=("poison",),
        failures=len(poisoned.NEVER_END),
    ),
    Scenario(
        "18",
        "lines that the database refuses, or that crash their reader, each in a batch of its own",
        sends=poisoned.send_strange_lines,
        settings=PREPARED,
        services=("poison",),
    ),
    Scenario("19", "forms that never end, from strangers", strangers.flood_of_forms),
    Scenario("20", "half-sent heads, from strangers", strangers.half_sent_heads),
    Scenario(
        "21",
        f"a tenant with {crowd.BATCHES} batches and {crowd.EXPENSIVE} of the most expensive "
        "requests, cancelled at the end",
        sends=crowd.send_crowd,
    ),
    Scenario(
        "22a",
        "the disk of files and uploads full for 30 s",
        disks.fill_files,
        sends=disks.send_batches,
        place=disks.files_apart,
        skipped=NO_DISK,
    ),
    Scenario(
        "22b",
        "the disk of PostgreSQL, Redis, files and logs full for 30 s",
        disks.fill_all,
        place=disks.all_apart,
        skipped=NO_DISK,
    ),
    Scenario("23a", "Redis read-only for 30 s", stores.redis_read_only),
    Scenario("23b", "Redis over its memory for 30 s", stores.redis_over_its_memory),
    Scenario("24", "PostgreSQL out of connections for 30 s", stores.postgres_out_of_connections),
    Scenario(
        "25",
        "one of two workers stopped for longer than its lease (20 s), then woken",
        stopped.stop_beyond_the_lease,
        sends=stopped.send_late,
        settings=PREPARED | _seconds(**stopped.SETTINGS),
        services=("poison", "poison"),
    ),
)
