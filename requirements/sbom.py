"""Write the CycloneDX 1.6 bill of materials of some locks to standard output.

`python requirements/sbom.py gateway object-storage`; without arguments: of the service on one
machine. Versions and hashes are those of the locks. Licences and dependencies are read from the
packages that are installed beside the interpreter that runs this. Models are those of the table in
docs/guide/bundled-models.md whose package is in the locks.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from datetime import UTC, datetime
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from pip._vendor.packaging.requirements import Requirement
from pip._vendor.packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
MODELS = ROOT / "docs" / "guide" / "bundled-models.md"
OURS = "this repository"
ONE_MACHINE = ("gateway", "metrics", "models", "embedded", "torch-cpu")
LONGEST_NAME = 100  # some packages write the whole licence text into the field
Json = dict[str, Any]


def main() -> None:
    """Print the document."""
    targets = sys.argv[1:] or list(ONE_MACHINE)
    json.dump(document(targets), sys.stdout, indent=1)


def document(targets: list[str]) -> Json:
    """Return the document for these locks."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    pinned = pins(targets)
    names = {canonicalize_name(pin.name): purl(pin) for pin in pinned}
    carried = {*names, *([OURS] if "models" in targets else [])}
    application: Json = {
        "type": "application",
        "bom-ref": "touchstone",
        "name": project["name"],
        "version": project["version"],
        "licenses": [{"expression": project["license"]}],
    }
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
            "component": application,
        },
        "components": [
            *(package(pin, digests) for pin, digests in pinned.items()),
            *(model for carrier, model in models() if carrier in carried),
        ],
        "dependencies": [
            {"ref": "touchstone", "dependsOn": sorted(names.values())},
            *({"ref": ref, "dependsOn": needs(name, names)} for name, ref in names.items()),
        ],
    }


def pins(targets: list[str]) -> dict[Requirement, list[str]]:
    """Return each pin of these locks with the SHA-256 of its files."""
    found: dict[str, list[str]] = {}
    for target in targets:
        text = (ROOT / "requirements" / f"{target}.lock").read_text("utf-8")
        for entry in re.split(r"\n(?=\S)", text.strip()):
            line = entry.partition(" \\\n")[0]
            found[line] = re.findall(r"sha256:([0-9a-f]{64})", entry)
    return {Requirement(line): found[line] for line in sorted(found, key=str.lower)}


def purl(pin: Requirement) -> str:
    """Return the package URL."""
    (exact,) = pin.specifier
    return f"pkg:pypi/{canonicalize_name(pin.name)}@{exact.version.replace('+', '%2B')}"


def package(pin: Requirement, digests: list[str]) -> Json:
    """Return the component of a locked package: one hash for each of its files."""
    (exact,) = pin.specifier
    index = {
        "type": "distribution",
        "url": f"https://pypi.org/project/{pin.name}/{exact.version.partition('+')[0]}/",
        "hashes": [{"alg": "SHA-256", "content": digest} for digest in digests],
    }
    made: Json = {
        "type": "library",
        "bom-ref": purl(pin),
        "name": pin.name,
        "version": exact.version,
        "purl": purl(pin),
        "externalReferences": [index],
    }
    if licence := licence_of(pin.name):
        made["licenses"] = [licence]
    return made


def licence_of(name: str) -> Json | None:
    """Return the licence that an installed package states, or None."""
    installed = installed_package(name)
    if installed is None:
        return None
    metadata = installed.metadata
    if expression := metadata.get("License-Expression"):
        return {"expression": expression}
    classified = [
        line.rpartition(" :: ")[2]
        for line in metadata.get_all("Classifier", [])
        if line.startswith("License :: ")
    ]
    stated = (metadata.get("License") or "").strip()
    if not classified and 0 < len(stated) < LONGEST_NAME and stated != "UNKNOWN":
        classified = [stated]
    return {"license": {"name": " and ".join(classified)}} if classified else None


def needs(name: str, names: dict[str, str]) -> list[str]:
    """Return the package URLs of what an installed package needs, as far as it is locked."""
    installed = installed_package(name)
    wanted = map(Requirement, (installed and installed.requires) or ())
    here = (one for one in wanted if not one.marker or one.marker.evaluate({"extra": ""}))
    return sorted({names[key] for one in here if (key := canonicalize_name(one.name)) in names})


def installed_package(name: str) -> Distribution | None:
    try:
        return distribution(name)
    except PackageNotFoundError:
        return None


def models() -> list[tuple[str, Json]]:
    """Return the package that carries each bundled model, and the model's component."""
    rows = re.findall(
        r"^\| `([^`]+)` \| ([^|]+) \| (?:`([^`]+)`|[^|]+) \| [^|]*`([0-9a-f]{64})`",
        MODELS.read_text("utf-8"),
        re.MULTILINE,
    )
    return [
        (
            canonicalize_name(carrier.partition(" ")[0]) if carrier else OURS,
            {
                "type": "machine-learning-model",
                "bom-ref": f"model:{name}",
                "name": name,
                "licenses": [{"expression": licence.strip()}],
                "hashes": [{"alg": "SHA-256", "content": digest}],
            },
        )
        for name, licence, carrier, digest in rows
    ]


if __name__ == "__main__":
    main()
