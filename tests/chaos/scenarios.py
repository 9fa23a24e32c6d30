"""The published list of faults: what is done, to which service, and what has to hold."""

from __future__ import annotations

from pathlib import Path

from tests.chaos import (
    clocks,
    crowd,
    disks,
    faults,
    file_store,
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


def _set_by_file() -> dict[str, str]:
    """Our own clocks, as a file says while they run."""
    library = faketime_library()
    return PREPARED | {"CHAOS_CLOCK_LIBRARY": str(library)} if library else {}


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
    *(
        Scenario(
            number,
            f"the file store away for {seconds} s, its empty mount point there",
            file_store.away_for(seconds),
            sends=disks.send_batches,
            is_nightly=seconds > faults.AWAY_SECONDS,
        )
        for number, seconds in (("26a", 3), ("26b", 30), ("26c", 120))
    ),
    Scenario(
        "27",
        "the file store slow for 30 s: each file takes 3 s to open",
        file_store.marked("slow"),
        sends=disks.send_batches,
        settings=PREPARED,
        place=file_store.marked_files,
    ),
    Scenario(
        "28",
        "the file store read-only for 30 s",
        file_store.read_only,
        sends=disks.send_batches,
        place=disks.files_apart,
        skipped=NO_DISK,
    ),
    *(
        Scenario(
            number,
            f"the database's clock set {where} for 30 s",
            clocks.database_stepped(step),
            sends=disks.send_batches,
        )
        for number, where, step in (
            ("29a", "an hour forwards", "1 hour"),
            ("29b", "an hour back", "-1 hour"),
            ("29e", "26 hours forwards", "26 hours"),
        )
    ),
    *(
        Scenario(
            number,
            f"all our clocks set an hour {where} for 30 s",
            clocks.ours_stepped(step),
            settings=_set_by_file(),
            place=clocks.own_clock,
            skipped=NO_CLOCK,
        )
        for number, where, step in (("29c", "forwards", "+1h"), ("29d", "back", "-1h"))
    ),
    Scenario(
        "30",
        "PostgreSQL fails over: all connections closed, read-only for 10 s",
        stores.fail_over,
        sends=disks.send_batches,
    ),
    Scenario(
        "31",
        "Redis restarted with a snapshot of 10 s before",
        stores.redis_from_an_older_snapshot,
    ),
    Scenario(
        "32",
        "two schedulers, one of them stopped for 30 s and woken",
        stopped.pause_one_of_two_schedulers,
        sends=disks.send_batches,
    ),
    Scenario(
        "33",
        "the file store hangs for 30 s: no call returns",
        file_store.marked("hanging"),
        sends=disks.send_batches,
        settings=PREPARED,
        place=file_store.marked_files,
    ),
)
