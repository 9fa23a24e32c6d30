"""The commands as a newcomer types them: they show, refuse with a reason, and leave nothing."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import psutil
import pytest

from tests.end_to_end.service import COLD, ROOT, environment
from tests.patience import SECONDS, busy, eventually, looks

pytestmark = pytest.mark.end_to_end

FEW = ("--services", "hlv")  # starts without a model: enough where only the processes matter


def start(*arguments: str, **more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "cli.stack", *arguments],
        cwd=ROOT,
        env=environment() | more,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def ended(*arguments: str, **more: str) -> tuple[int, str]:
    process = start(*arguments, **more)
    said, _ = process.communicate(timeout=3 * SECONDS * busy())
    return process.returncode, said


def left_behind(folder: Path) -> list[str]:
    """Processes that still work for the stack of this folder."""
    return [
        " ".join(process.info["cmdline"] or [])
        for process in psutil.process_iter(["cmdline", "environ"])
        if str(folder) in " ".join(process.info["cmdline"] or [])
        or str(folder) in (process.info["environ"] or {}).get("DATABASE_URL", "")
    ]


@pytest.mark.parametrize("seconds", [0.7, 2.5, 4.0])
def test_who_is_stopped_while_starting_leaves_nothing(tmp_path: Path, seconds: float) -> None:
    process = start("serve", "--var", str(tmp_path), "--port", "0")
    time.sleep(seconds)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=SECONDS * busy())
    assert left_behind(tmp_path) == []


LOSES = """
import sys
import cli.stack.__main__ as command

leave = command._handle_signal

def lost(*signal):
    try:
        leave(*signal)
    except SystemExit:  # as in a finalizer, which may run at any time
        pass

command._handle_signal = lost
sys.exit(command.main(sys.argv[1:]))
"""


def test_a_signal_whose_exception_is_lost_ends_the_service_too(tmp_path: Path) -> None:
    arguments = ("serve", "--var", str(tmp_path), "--port", "0", *FEW)
    process = subprocess.Popen(
        [sys.executable, "-c", LOSES, *arguments], cwd=ROOT, env=environment()
    )
    time.sleep(4)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=SECONDS * busy())
    assert left_behind(tmp_path) == []


def test_a_taken_port_is_said_at_once(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        code, said = ended("serve", "--var", str(tmp_path), "--port", port)
    assert code == 1
    assert f"cannot listen on 127.0.0.1:{port}" in said


def test_a_folder_that_cannot_be_written_is_said_at_once(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    code, said = ended("serve", "--var", str(file), "--port", "0")
    assert code == 1
    assert f"cannot write into {file}" in said
    assert "Traceback" not in said


def test_it_goes_on_when_nobody_reads_its_output_any_more_and_refuses_a_second_stack(
    tmp_path: Path,
) -> None:
    process = start("serve", "--var", str(tmp_path), "--port", "0", *FEW, **COLD)
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    note = tmp_path / "stack.json"
    eventually(lambda: process.poll() is not None or (note.exists() and note.stat().st_size))
    assert process.poll() is None
    url = json.loads(note.read_text())["url"]
    assert httpx.get(f"{url}/readyz", timeout=SECONDS, trust_env=False).is_success
    code, said = ended("serve", "--var", str(tmp_path), "--port", "0")
    assert code == 1
    assert "another running Touchstone uses" in said
    assert note.exists()
    process.terminate()
    assert process.wait(SECONDS * busy()) == 0
    assert left_behind(tmp_path) == []


def test_a_process_that_dies_while_starting_is_named_with_its_last_words(tmp_path: Path) -> None:
    broken = tmp_path / "installed"
    broken.mkdir()
    (broken / "uvicorn.py").write_text("raise RuntimeError('a broken installation')\n")
    code, said = ended("serve", "--var", str(tmp_path / "var"), "--port", "0",
                       PYTHONPATH=str(broken))  # fmt: skip
    assert code == 1
    assert "died while starting; see" in said
    assert "its last lines" in said
    assert "a broken installation" in said
    assert left_behind(tmp_path) == []


def test_a_demo_without_who_scores_its_examples_is_refused(tmp_path: Path) -> None:
    code, said = ended("demo", "--var", str(tmp_path), *FEW)
    assert code == 2
    assert "the demo's examples are scored by hatexscore: add it to --services" in said


def test_half_of_the_servers_named_is_refused(tmp_path: Path) -> None:
    code, said = ended("serve", "--var", str(tmp_path), REDIS_URL="redis://127.0.0.1:1/0")
    assert code == 2
    assert "set both" in said


@pytest.mark.skipif(sys.platform != "linux", reason="PR_SET_PDEATHSIG is Linux's")
def test_the_processes_end_with_a_stack_that_is_killed_and_the_demo_scores_every_example(
    tmp_path: Path,
) -> None:
    process = start("serve", "--var", str(tmp_path), "--port", "0", *FEW, **COLD)
    while not (tmp_path / "stack.json").exists():
        assert process.poll() is None
        time.sleep(0.1)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    for _ in looks(every=0.5):
        ours = [line for line in left_behind(tmp_path) if "services." in line or "redis" in line]
        if not ours:
            break
    assert ours == []
    _the_demo_scores_every_example_and_leaves_nothing(tmp_path / "other")  # nothing is in its way
    for line in psutil.process_iter(["pid", "cmdline"]):  # PostgreSQL waits for its next stack
        if str(tmp_path) in " ".join(line.info["cmdline"] or []):
            line.terminate()


def _the_demo_scores_every_example_and_leaves_nothing(folder: Path) -> None:
    code, said = ended("demo", "--var", str(folder))
    assert code == 0, said
    lines = (ROOT / "examples" / "posts.jsonl").read_text("utf-8").splitlines()
    assert len(lines) == 12
    assert all(json.loads(line)["id"] in said for line in lines)
    assert re.search(r"label +verdict +score", said), said
    contradicts = next(line for line in said.splitlines() if "en-contradiction" in line)
    assert "problem_found" in contradicts
    assert "no conclusion" not in contradicts  # it states one, the opposite
    for whom in ("gateway: no answer yet", "worker: "):
        assert f"waiting for {whom}" in said or f"; {whom}" in said, said
    # a fast machine may have scored the first ones before anybody waits for them
    assert re.search(r"waiting for example \d+ of 12|scoring .*100%", said), said
    assert left_behind(folder) == []
