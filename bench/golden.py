"""`python -m bench.golden record FILE | compare FILE`: checks that a code change does not change
answers.

`record` starts the whole service, sends it some 250 requests alone and again in batches, and writes
an entry per line: name, SHA-256, canonical JSON. `compare` does the same and reports the first
difference of each entry. With `--allowed` it ignores only what `ALLOWED` lists.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from bench.agreement import difference
from bench.golden_model import NAME
from bench.golden_service import entries

Json = dict[str, Any]
Recorded = dict[str, Any]  # name → value

LONGEST = 500  # characters of a difference that are printed
DIGEST = re.compile(r"sha256:[0-9a-f]{64}|svg of matplotlib")  # recorded before Vega-Lite drew
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")

# Four standard errors of a percentile at 2.5 % of 1,000 draws from a normal distribution,
# sqrt(p (1 - p) / B) / phi(z), as a share of the 95 % interval's width of 3.92 deviations.
SHARE_OF_WIDTH = 4 * 0.0845 / 3.92


@dataclass(frozen=True)
class Allowed:
    """The differences that `--allowed` ignores.

    `gained` and `lost` are parameters of a provenance by metric, whose order may also differ. The
    other fields are prefixes of entries. In `pictures` digests may differ, in `redrawn` intervals,
    and in `renumbered` all numbers of a page that shows such intervals.
    """

    gained: Mapping[str, frozenset[str]]
    lost: Mapping[str, frozenset[str]]
    pictures: tuple[str, ...]
    redrawn: tuple[str, ...]
    renumbered: tuple[str, ...]


ALLOWED = Allowed(
    gained={
        "ice": frozenset({"token_values"}),
        "haf": frozenset({"token_values"}),
        "cot2el": frozenset({"similarity"}),
    },
    lost={"ftc": frozenset({"webhook", "do_not_store_text"})},
    pictures=("report/haf", "report/ice", "file/haf", "file/ice"),
    redrawn=("report/ice",),
    renumbered=("file/ice", "lines/ice"),
)


def canonical(value: Any) -> str:
    """Return the value as JSON text, which depends on the order of fields."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def made(only: str) -> Iterator[tuple[str, Any]]:
    started, number, section = time.monotonic(), 0, ""
    for number, (name, value) in enumerate(entries(only), 1):
        if name.split("/", 1)[0] != section or not number % 25:
            section = name.split("/", 1)[0]
            seconds = time.monotonic() - started
            print(f"{seconds:6.1f} s {number:4} {name}", file=sys.stderr, flush=True)
        yield name, value
    print(f"{time.monotonic() - started:6.1f} s {number:4} entries", file=sys.stderr)


def written(found: Iterable[tuple[str, Any]], file: Path) -> Recorded:
    kept: Recorded = {}
    with file.open("w", encoding="utf-8") as lines:
        for name, value in found:
            text = canonical(value)
            digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
            line = {"name": name, "sha256": digest, "value": value}
            lines.write(json.dumps(line, separators=(",", ":")) + "\n")
            kept[name] = value
    return kept


def read(file: Path, only: str) -> Recorded:
    with file.open(encoding="utf-8") as lines:
        found = map(json.loads, lines)
        return {one["name"]: one["value"] for one in found if one["name"].startswith(only)}


def differences(old: Recorded, new: Recorded, allowed: Allowed | None) -> dict[str, str]:
    apart = {name: "is no more" for name in old.keys() - new.keys()}
    apart |= {name: "is new" for name in new.keys() - old.keys()}
    for name in old.keys() & new.keys():
        before, after = old[name], new[name]
        if allowed is not None:
            before, after = overlooked(name, before, after, allowed)
        if canonical(before) != canonical(after) and (place := first(before, after)):
            apart[name] = place
    return dict(sorted(apart.items()))


def first(old: Any, new: Any) -> str | None:
    """Return the first difference of two values. For pages it is the first different line."""
    if is_page(old) and is_page(new):
        pairs = enumerate(zip_longest(old, new, fillvalue="(the end)"))
        return next((f"/{at}: {a!r} and {b!r}" for at, (a, b) in pairs if a != b), None)
    place = difference(exact(old), exact(new))
    if place is not None and place.endswith(": other fields"):
        return _fields(old, new, "") or place
    return place


def _fields(old: Any, new: Any, place: str) -> str | None:
    """Return the first place at which the fields differ, and their names."""
    if isinstance(old, dict) and isinstance(new, dict):
        if list(old) != list(new):
            fewer, more = sorted(old.keys() - new.keys()), sorted(new.keys() - old.keys())
            return f"{place}: " + (f"fields {fewer} and {more}" if fewer or more else "order")
        pairs = [(f"{place}/{key}", old[key], new[key]) for key in old]
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = [(f"{place}/{at}", *pair) for at, pair in enumerate(zip(old, new, strict=True))]
    else:
        return None
    return next((found for at, a, b in pairs if (found := _fields(a, b, at))), None)


def is_page(value: Any) -> bool:
    """Return True for a page, which is a list of lines."""
    return isinstance(value, list) and all(isinstance(line, str) for line in value)


def exact(value: Any) -> Any:
    """Mark the scripted model as exact, since it is arithmetic."""

    def promised(found: Json) -> Json:
        own = found.get("name") == NAME and "numerics" in found
        return found | {"numerics": "bytes"} if own else found

    return mapped(value, promised)


def mapped(value: Any, change: Callable[[Json], Json]) -> Any:
    """Return a copy with `change` applied to every object, inner objects first."""
    if isinstance(value, dict):
        return change({key: mapped(inner, change) for key, inner in value.items()})
    return [mapped(inner, change) for inner in value] if isinstance(value, list) else value


def overlooked(name: str, old: Any, new: Any, allowed: Allowed) -> tuple[Any, Any]:
    metric = name.split("/")[1] if "/" in name else ""
    old, new = _parameters(old, new, metric, allowed)
    if name.startswith(allowed.redrawn):
        new = _intervals(old, new)
    if name.startswith(allowed.pictures):
        old, new = _without(DIGEST, old), _without(DIGEST, new)
    if name.startswith(allowed.renumbered):
        old, new = _without(NUMBER, old), _without(NUMBER, new)
    return old, new


def _parameters(old: Any, new: Any, metric: str, allowed: Allowed) -> tuple[Any, Any]:
    """Return the values without allowed changes of provenance."""
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        both = [_parameters(a, b, metric, allowed) for a, b in zip(old, new, strict=True)]
        return [a for a, _ in both], [b for _, b in both]
    if not (isinstance(old, dict) and isinstance(new, dict)):
        return old, new
    before, after = dict(old), dict(new)
    for key in old.keys() & new.keys():
        before[key], after[key] = _parameters(old[key], new[key], metric, allowed)
    if "metric_version" in old and isinstance(old.get("parameters"), dict):
        was, now = before["parameters"], after.get("parameters", {})
        gained = allowed.gained.get(metric, frozenset()) - was.keys()
        lost = allowed.lost.get(metric, frozenset()) - now.keys()
        before["parameters"] = {key: was[key] for key in sorted(was.keys() - lost)}
        after["parameters"] = {key: now[key] for key in sorted(now.keys() - gained)}
    return before, after


def _intervals(old: Any, new: Any) -> Any:
    """Return the new value with the old intervals if their ends agree within Monte Carlo error."""
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return [_intervals(*pair) for pair in zip(old, new, strict=True)]
    if not (isinstance(old, dict) and isinstance(new, dict)):
        return new
    if {"low", "high", "of"} <= old.keys() and old.keys() == new.keys() and _near(old, new):
        return new | {"low": old["low"], "high": old["high"]}
    return {key: _intervals(old.get(key), inner) for key, inner in new.items()}


def _near(old: Json, new: Json) -> bool:
    ends = [one[end] for one in (old, new) for end in ("low", "high")]
    if not all(isinstance(end, int | float) for end in ends):
        return False
    most = SHARE_OF_WIDTH * (old["high"] - old["low"])
    return all(abs(old[end] - new[end]) <= most for end in ("low", "high"))


def _without(pattern: re.Pattern[str], value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without(pattern, inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_without(pattern, inner) for inner in value]
    return pattern.sub("#", value) if isinstance(value, str) else value


def compared(old: Recorded, new: Recorded, allowed: Allowed | None) -> int:
    """Print the differences and return the exit status."""
    apart = differences(old, new, allowed)
    for name, place in apart.items():
        print(f"{name}\n    {place[:LONGEST]}")
    print(f"{len(apart)} of {len(old.keys() | new.keys())} entries differ")
    return 1 if apart else 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.golden", description=__doc__)
    parser.add_argument("action", choices=("record", "compare"))
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("--only", default="", metavar="PREFIX", help="entries that begin so")
    parser.add_argument("--allowed", action="store_true", help="overlook what ALLOWED lists")
    parser.add_argument("--new", type=Path, help="compare: keep the new entries in this file")
    parser.add_argument("--made", type=Path, help="compare: take the new entries from this file")
    chosen = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the service ends with us
    if chosen.action == "record":
        found = written(made(chosen.only), chosen.file)
        apart = {name: value["apart"] for name, value in found.items() if name[:6] == "batch/"}
        print(f"{len(found)} entries; batches that differ from single requests: {apart}")
        return int(any(apart.values()))
    old = read(chosen.file, chosen.only)
    if chosen.made:
        new = read(chosen.made, chosen.only)
    else:
        new = written(made(chosen.only), chosen.new) if chosen.new else dict(made(chosen.only))
    return compared(old, new, ALLOWED if chosen.allowed else None)


if __name__ == "__main__":
    sys.exit(main())
