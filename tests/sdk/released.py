"""The client of an earlier commit, as it was released: out of git's history, built, installed
alone in a folder, with the requests and the examples that it came with.

The newest tag `client-v*` names it, or PREVIOUS_CLIENT: any commit.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from tests.end_to_end.service import ROOT, environment

TAGS = "client-v*"
SCORES = "/v1/scores/"
KEPT = ("sdk", "examples/posts.jsonl", "docs/openapi.json")


def git(*words: str) -> bytes:
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True).stdout


def has_history() -> bool:
    """Whether this is a clone: what is unpacked from an archive has none."""
    return (ROOT / ".git").exists()


def chosen() -> str | None:
    """What is to stand for the client before this one; None: none has been released."""
    if not has_history():
        return None
    tags = git("tag", "--list", TAGS, "--sort=-version:refname").decode().split()
    return os.environ.get("PREVIOUS_CLIENT") or next(iter(tags), None)


def first_example(operation: dict[str, Any]) -> dict[str, Any]:
    """The first example of a request in a description."""
    examples = operation["requestBody"]["content"]["application/json"]["examples"]
    body: dict[str, Any] = next(iter(examples.values()))["value"]
    return body


@dataclass(frozen=True)
class Released:
    """source: what the commit held of KEPT; installed: its package and nothing else."""

    source: Path
    installed: Path

    def run(self, *words: str, url: str, folder: Path) -> str:
        """This Python with its package in front of the checkout's; what it prints."""
        told = {"TOUCHSTONE_URL": url, "PYTHONPATH": str(self.installed), "PYTHONWARNINGS": "error"}
        done = subprocess.run(
            [sys.executable, *words],
            cwd=folder,
            env=environment() | told,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{words}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    @property
    def examples(self) -> Path:
        return self.source / "sdk" / "examples"

    def bodies(self) -> dict[str, dict[str, Any]]:
        """metric -> the request that its description gave for an example."""
        paths = json.loads((self.source / "docs/openapi.json").read_text("utf-8"))["paths"]
        return {
            path.removeprefix(SCORES): first_example(methods["post"])
            for path, methods in paths.items()
            if path.startswith(SCORES) and ":" not in path
        }


def released(commit: str, folder: Path) -> Released:
    """Its client, built by what builds ours; nothing is fetched and nothing else is changed."""
    made = Released(folder / "source", folder / "installed")
    with tarfile.open(fileobj=BytesIO(git("archive", commit, *KEPT))) as archive:
        archive.extractall(made.source, filter="data")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    target = ["--no-build-isolation", "--target", str(made.installed), str(made.source / "sdk")]
    subprocess.run([*pip, *target], cwd=folder, check=True, capture_output=True)
    return made
