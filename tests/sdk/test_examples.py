"""Every example is short, and runs as it stands against a real service."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.service import ROOT, Service

FOLDER = ROOT / "sdk" / "examples"
EXAMPLES = sorted(path.name for path in FOLDER.glob("*.py"))
ARGUMENTS = {"drift.py": ["posts.jsonl", "posts.jsonl"]}
NEEDS = {"to_parquet.py": "pyarrow"}


@pytest.fixture
def folder(tmp_path: Path, bodies: dict[str, Any]) -> Path:
    """What the examples read."""
    shutil.copy(ROOT / "examples" / "posts.jsonl", tmp_path)
    (tmp_path / "haf.json").write_text(json.dumps(bodies["haf"]), "utf-8")
    return tmp_path


@pytest.mark.end_to_end
@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_runs(service: Service, folder: Path, name: str) -> None:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    environment = {**os.environ, "TOUCHSTONE_URL": service.url, "PYTHONWARNINGS": "default"}
    command = [sys.executable, str(FOLDER / name), *ARGUMENTS.get(name, [])]
    ran = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout or name in ("drift.py", "webhook_receiver.py")
