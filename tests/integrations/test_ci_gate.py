"""The CI gate lets pass what is as good, and stops what is worse."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.end_to_end.service import Service, environment
from tests.integrations.conftest import EXAMPLES
from tests.sdk.recorded_service import recorded_service

FOLDER = EXAMPLES / "ci_gate"
PREMISES = [f"A man plays a guitar on street {number}." for number in range(8)]
GOOD, BAD = "A guitar is an instrument.", "A guitar is an elephant."


def written(file: Path, said: str, replacement: str) -> Path:
    """Requests that bring their own counterfactual."""
    lines = [
        {"premise": premise, "hypothesis": "A man plays an instrument.", "decision": "entailment",
         "explanation": said, "draws": 0,
         "counterfactuals": [{"kind": "substituted", "text": f"A man plays {replacement}."}]}
        for premise in PREMISES
    ]  # fmt: skip
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    return file


@pytest.mark.end_to_end
def test_it_stops_what_is_worse(service: Service, tmp_path: Path) -> None:
    good = written(tmp_path / "good.jsonl", GOOD, "a guitar")
    bad = written(tmp_path / "bad.jsonl", BAD, "an elephant")
    base = tmp_path / "base.txt"

    def gate(file: Path, *rule: str) -> subprocess.CompletedProcess[str]:
        path = {"PATH": f"{Path(sys.executable).parent}:{environment()['PATH']}"}
        told = environment() | path | {"TOUCHSTONE_URL": service.url}
        command = ["sh", str(FOLDER / "gate.sh"), "ftc", str(file), str(base), *rule]
        return subprocess.run(command, env=told, capture_output=True, text=True, check=False)

    assert gate(good).returncode == 0
    assert base.read_text("utf-8").startswith("batch_")
    same, strict, worse = gate(good), gate(good, "low < -0.02"), gate(bad)
    assert same.returncode == 0, same.stderr
    assert strict.returncode == 0, "identical scores are no change, however few there are"
    assert worse.returncode == 2, worse.stdout + worse.stderr


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_a_missing_argument_is_a_wrong_command_line(shell: str) -> None:
    command = [shell, str(FOLDER / "gate.sh"), "ftc", "new.jsonl"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.returncode, "usage" in ran.stderr) == (64, True)


def test_an_unknown_metric_is_a_wrong_command_line(tmp_path: Path) -> None:
    new = written(tmp_path / "new.jsonl", GOOD, "a guitar")
    command = ["sh", str(FOLDER / "gate.sh"), "nope", str(new), str(tmp_path / "base.txt")]
    path = {"PATH": f"{Path(sys.executable).parent}:{environment()['PATH']}"}
    with recorded_service() as recorded:
        told = environment() | path | {"TOUCHSTONE_URL": recorded.url}
        ran = subprocess.run(command, env=told, capture_output=True, text=True, check=False)
    assert (ran.returncode, "choose one of:" in ran.stderr) == (64, True)


def test_the_action_gives_the_script_every_input() -> None:
    action = yaml.safe_load((FOLDER / "action.yml").read_text("utf-8"))
    [step] = action["runs"]["steps"]
    used = {value.split("inputs.")[1].split(" ")[0] for value in step["env"].values()}
    assert used == set(action["inputs"])
    for name in ("METRIC", "FILE", "BASE", "RULE"):
        assert f'"${name}"' in step["run"]
