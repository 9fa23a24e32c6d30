"""What is fetched is what was meant: base images by digest, packages by hash."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from shared.models.catalogue.checkpoint import BASE_SHA256, E5_SHA256, EMBEDDED
from shared.text import english
from tests.deployment.manifests import CHART, ROOT, compose

DIGEST = re.compile(r"[a-z0-9./-]+:[A-Za-z0-9.-]+@sha256:[0-9a-f]{64}")
HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")
GPU_BUILD, CPU_BUILD = "torch-gpu.lock", "torch-cpu.lock"
LOCKS = {path.name: path for path in (ROOT / "requirements").glob("*.lock")}
OURS = ("touchstone-", "registry.example/touchstone-")  # built here
MODEL_CODE = {"torch", "transformers", "sentence-transformers", "peft", "tokenizers"}


def base_images() -> Iterator[tuple[str, str]]:
    """(where, image) of everything that is pulled."""
    for file in ROOT.glob("Dockerfile*"):
        stages = {stage for _, stage in stages_of(file)}
        yield from ((file.name, base) for base, _ in stages_of(file) if base not in stages)
    for name, service in compose()["services"].items():
        yield f"compose: {name}", service["image"]
    values = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))["image"]
    yield from ((f"chart: {name}", values[name]) for name in ("redis", "postgres"))


def stages_of(file: Path) -> list[tuple[str, str]]:
    """(base, name) of each stage. The last stage may have no name."""
    return re.findall(r"^FROM (\S+)(?: AS (\S+))?$", file.read_text("utf-8"), re.M)


def test_every_base_image_is_named_by_its_digest() -> None:
    pulled = [(where, image) for where, image in base_images() if not image.startswith(OURS)]
    assert len({image for _, image in pulled}) >= 3
    for where, image in pulled:
        assert DIGEST.fullmatch(image), (where, image)


def test_one_tag_has_one_digest_everywhere() -> None:
    by_tag: dict[str, set[str]] = {}
    for _, image in base_images():
        by_tag.setdefault(image.partition("@")[0], set()).add(image)
    assert all(len(images) == 1 for images in by_tag.values()), by_tag


def entries(lock: Path) -> list[str]:
    """The lock's logical lines."""
    lines = lock.read_text("utf-8").replace("\\\n", " ").splitlines()
    return [line.strip() for line in lines if line.strip()]


def pins(lock: Path) -> dict[str, Requirement]:
    read = [Requirement(line.partition(" --hash")[0]) for line in entries(lock)]
    return {canonicalize_name(pin.name): pin for pin in read}


@pytest.mark.parametrize("name", sorted(LOCKS))
def test_every_pin_has_hashes_and_one_version(name: str) -> None:
    assert entries(LOCKS[name])
    for line in entries(LOCKS[name]):
        pin, *hashes = re.split(r"\s+(?=--hash)", line)
        assert re.fullmatch(r"==[^*,]+", str(Requirement(pin).specifier)), pin
        assert ("+" in pin) is (name == CPU_BUILD), pin
        assert hashes, pin
        assert all(HASH.fullmatch(digest) for digest in hashes), pin
        assert hashes == sorted(set(hashes)), pin


def test_a_package_has_one_version_in_all_locks() -> None:
    """With the same hashes, so that the service on one machine runs what the images run."""
    found: dict[str, set[str]] = {}
    for lock in LOCKS.values():
        assert len(entries(lock)) == len(pins(lock)), lock
        for line in entries(lock) if lock.name != CPU_BUILD else ():
            found.setdefault(line.partition("==")[0], set()).add(" ".join(line.split()))
    assert [name for name, lines in found.items() if len(lines) > 1] == []


def test_only_the_model_services_get_model_code() -> None:
    for name in ("gateway.lock", "metrics.lock", "embedded.lock"):
        assert not MODEL_CODE & pins(LOCKS[name]).keys(), name
    assert "spacy" not in pins(LOCKS["gateway.lock"])
    assert MODEL_CODE - pins(LOCKS["models.lock"]).keys() == {"torch"}
    for name in (GPU_BUILD, CPU_BUILD):
        assert all(re.match(r"torch$|nvidia-|triton$|cuda-", pin) for pin in pins(LOCKS[name]))


def test_torch_is_one_version_in_both_builds() -> None:
    public, cpu = (str(pins(LOCKS[name])["torch"].specifier) for name in (GPU_BUILD, CPU_BUILD))
    assert cpu == f"{public}+cpu"


def test_torch_has_a_cpu_build_for_every_python_and_both_processors() -> None:
    [entry] = entries(LOCKS[CPU_BUILD])
    assert len(HASH.findall(entry)) == 8  # 3.11 to 3.14, x86-64 and Arm


@pytest.mark.parametrize(("chosen", "taken"), [("", "cpu"), ("torch-gpu", "gpu")])
def test_an_install_takes_the_cpu_build_unless_told(
    tmp_path: Path, chosen: str, taken: str
) -> None:
    """`install.sh`, with a Python that notes what pip is asked for."""
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\necho "$@" >>{tmp_path}/asked\n', "utf-8")
    python.chmod(0o755)
    environment = {"PATH": os.environ["PATH"], "TORCH": chosen}
    command = ["sh", "requirements/install.sh", str(python)]
    subprocess.run(command, cwd=ROOT, env=environment, check=True)
    asked = set(re.findall(r"torch-(\w+)\.lock", (tmp_path / "asked").read_text("utf-8")))
    assert asked == {taken}


def test_the_locks_hold_what_the_project_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    asked = [*project["build-system"]["requires"], *project["project"]["dependencies"]]
    for extra in project["project"]["optional-dependencies"].values():
        asked += extra
    pinned = {name: pin for lock in LOCKS.values() for name, pin in pins(lock).items()}
    for requirement in map(Requirement, asked):
        (exact,) = pinned[canonicalize_name(requirement.name)].specifier
        assert requirement.specifier.contains(exact.version), requirement


def test_the_locks_are_complete_for_every_patch_of_python() -> None:
    """`pip check` ends `make` where a pin is missing: on 3.11.2, which Debian 12 has, redis asks
    for a package that later patches do without."""
    pinned = {name: pin for lock in LOCKS.values() for name, pin in pins(lock).items()}
    missing = []
    for name in pinned.keys() - {"torch"}:
        try:
            asked = [Requirement(one) for one in requires(name) or ()]
        except PackageNotFoundError:
            continue  # of another platform or patch
        for one in asked:
            for patch in ("3.11.0", "3.11.2", "3.12.0", "3.13.0", "3.14.0"):
                at = {"python_full_version": patch, "python_version": patch[:4], "extra": ""}
                if one.marker and "python" in str(one.marker) and one.marker.evaluate(at):
                    pin = pinned.get(canonicalize_name(one.name))
                    if pin is None or (pin.marker and not pin.marker.evaluate(at)):
                        missing.append((name, str(one), patch))
    assert missing == []


def test_nothing_is_installed_past_the_hashes() -> None:
    """Every pip that installs checks hashes, or installs this project without fetching anything."""
    files = [ROOT / "Makefile", ROOT / "requirements" / "install.sh", *ROOT.glob("Dockerfile*")]
    installs = [
        line
        for file in files
        for line in file.read_text("utf-8").splitlines()
        if re.search(r"pip\S*\s.*\binstall\b", line)
    ]
    assert len(installs) >= 4
    for line in installs:
        ours = (" .", " sdk", " ./sdk")
        is_ours = line.removesuffix(" \\").endswith(ours) and "--no-deps" in line
        assert "--no-build-isolation" in line, line
        assert "--require-hashes" in line or is_ours, line


def test_the_bill_of_materials_lists_every_pin_and_the_models_that_are_checked() -> None:
    made = json.loads(
        subprocess.check_output([sys.executable, "requirements/sbom.py"], cwd=ROOT, text=True)
    )
    assert (made["bomFormat"], made["specVersion"]) == ("CycloneDX", "1.6")
    listed = {one["name"] for one in made["components"] if one["type"] == "library"}
    targets = ("gateway", "metrics", "models", "embedded", "torch-cpu")
    pinned = {pin.name for name in targets for pin in pins(LOCKS[f"{name}.lock"]).values()}
    assert listed == pinned
    references = [one["bom-ref"] for one in made["components"]]
    assert len(set(references)) == len(references)
    assert {name for one in made["dependencies"] for name in one["dependsOn"]} <= set(references)
    hashes = {
        one["name"]: one["hashes"][0]["content"]
        for one in made["components"]
        if one["type"] == "machine-learning-model"
    }
    adapters = {
        f"embedded-{file.parent.name}": hashlib.sha256(file.read_bytes()).hexdigest()
        for file in EMBEDDED.glob("*/adapter_model.safetensors")
    }
    assert hashes == adapters | {
        "all-MiniLM-L6-v2": BASE_SHA256,
        "multilingual-e5-small": E5_SHA256,
        "en_core_web_sm": english.SHA256,
    }
