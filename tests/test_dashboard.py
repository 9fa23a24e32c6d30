"""The dashboard asks for metrics that exist, and misses none of ours."""

from __future__ import annotations

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
NAME = re.compile(r'"(touchstone_[a-z_]+)",\s')
SUFFIXES = ("_bucket", "_count", "_sum")


def declared() -> set[str]:
    """The first argument of every Counter, Gauge, Histogram and Summary."""
    files = [
        path for folder in ("services", "shared", "cli") for path in ROOT.glob(f"{folder}/**/*.py")
    ]
    found = "(?:Counter|Gauge|Histogram|Summary)\\(\\s*" + NAME.pattern
    return {name for path in files for name in re.findall(found, path.read_text("utf-8"))}


def asked() -> set[str]:
    board = json.loads((ROOT / "k8s" / "touchstone" / "grafana.json").read_text("utf-8"))
    targets = [target["expr"] for panel in board["panels"] for target in panel.get("targets", [])]
    names = {name for expr in targets for name in re.findall(r"touchstone_[a-z_]+", expr)}
    return {re.sub(f"({'|'.join(SUFFIXES)})$", "", name) for name in names}


def test_every_metric_is_on_the_dashboard_and_no_other() -> None:
    assert len(declared()) > 10
    assert asked() == declared()


def test_panels_do_not_overlap() -> None:
    board = json.loads((ROOT / "k8s" / "touchstone" / "grafana.json").read_text("utf-8"))
    cells: set[tuple[int, int]] = set()
    for panel in board["panels"]:
        place = panel["gridPos"]
        mine = {
            (place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])
        }
        assert not cells & mine, panel["title"]
        cells |= mine
    assert max(x for x, _ in cells) == 23
