"""2,000 rows of a DataFrame in a fresh folder: through a gateway that is killed half-way, with the
client's wheel alone, and without any service, in the memory of a few rows."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.service import ROOT, Service, environment
from tests.sdk.test_imports import NEEDED, closure
from touchstone_client import Touchstone

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(3_600)]

ROWS = 2_000
BAR = re.compile(rb"(\d+)/2000 \[")  # tqdm's
MOST_GROWN = 150e6  # bytes, of the process between its hundredth row and its last
SERVED = """
import pandas
from touchstone_client import Touchstone

frame = pandas.read_json("rows.jsonl", lines=True).set_index("row")
scores = Touchstone(patience=300).score_many(
    frame, "hatexscore", columns={"text": "post", "explanation": "why"}
)
scores.to_json("scores.jsonl", orient="records", lines=True)
assert list(scores.index) == list(frame.index)
"""
LOCAL = """
import json, pandas, psutil
from touchstone_client import Local

def held():
    return psutil.Process().memory_info().rss

frame = pandas.read_json("rows.jsonl", lines=True).set_index("row")
columns = {"text": "post", "explanation": "why"}
ts = Local()
ts.score_many(frame.head(100), "hatexscore", columns=columns, progress=False)
before = held()
scores = ts.score_many(frame, "hatexscore", columns=columns)
scores.to_json("scores.jsonl", orient="records", lines=True)
assert list(scores.index) == list(frame.index)
print(json.dumps({"grown": held() - before}))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A table of different rows, and nothing else."""
    groups = ("immigrants", "students", "drivers", "neighbours")
    with (tmp_path / "rows.jsonl").open("w", encoding="utf-8") as made:
        for number in range(ROWS):
            said = f"those {groups[number % len(groups)]} are ruining our lovely old town"
            row = {
                "row": f"r{number}",
                "post": f"Honestly, {said}, says house {number}.",
                "why": f'It says "{said}". Conclusion: the text is hateful.',
            }
            made.write(f"{json.dumps(row)}\n")
    return tmp_path


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """The client's wheel, what it asks for, pandas and tqdm; no file of this checkout."""
    wheels, found = tmp_path / "wheels", tmp_path / "packages"
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    options = ["--no-build-isolation", "--wheel-dir", str(wheels), str(ROOT / "sdk")]
    subprocess.run([*command, *options], check=True)
    (wheel,) = wheels.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        assert {name.split("/")[0].split("-")[0] for name in packed.namelist()} == {
            "touchstone_client"
        }
        packed.extractall(found)
    for name in closure((*NEEDED, "pandas", "tqdm")):
        files = distribution(name).files or ()
        for top in {file.parts[0] for file in files if not file.parts[0].startswith((".", "__"))}:
            source = Path(str(distribution(name).locate_file(top)))
            if source.exists() and not (found / top).exists():
                (found / top).symlink_to(source)
    return found


def scores_in(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "scores.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_the_wheel_alone_scores_all_rows_though_the_gateway_is_killed_half_way(
    service: Service, ts: Touchstone, folder: Path, packages: Path
) -> None:
    before = {one.id for one in ts.jobs.list(metric="hatexscore")}
    killed_at = 0
    seen = b""
    with subprocess.Popen(
        [sys.executable, "-S", "-c", SERVED],
        cwd=folder,
        env={"PYTHONPATH": str(packages), "TOUCHSTONE_URL": service.url},
        stderr=subprocess.PIPE,
    ) as client:
        assert client.stderr is not None
        while piece := os.read(client.stderr.fileno(), 65_536):
            seen += piece
            done = max(map(int, BAR.findall(seen)), default=0)
            if not killed_at and done >= ROWS // 2:
                service.kill("services.gateway")
                killed_at = done
    assert client.returncode == 0, seen.decode()
    assert ROWS // 2 <= killed_at < ROWS, "it was over before anything was killed"
    scores = scores_in(folder)
    assert len(scores) == ROWS
    assert [one["error"] for one in scores if one["error"]] == []
    assert all(one["verdict"] for one in scores)
    jobs = {one["job_id"] for one in scores}
    assert len(jobs) == ROWS
    assert {one.id for one in ts.jobs.list(metric="hatexscore")} - before == jobs


def test_without_a_service_it_takes_the_memory_of_a_few_rows(folder: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", LOCAL],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert len(set(BAR.findall(ran.stderr.encode()))) > 10, "no bar was seen to move"
    scores = scores_in(folder)
    assert len(scores) == ROWS
    assert [one["error"] for one in scores if one["error"]] == []
    assert all(one["verdict"] for one in scores)
    grown = json.loads(ran.stdout.splitlines()[-1])["grown"]
    assert grown < MOST_GROWN, f"{grown / 1e6:.0f} MB"
