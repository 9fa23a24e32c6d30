"""`make clients`: the description is linted, and clients that generators make of it are run.

redocly and spectral find no error, and no warning. openapi-python-client, openapi-typescript and
@hey-api/openapi-ts make a client each; they compile under the strictest rules, and score with every
metric, sum up a batch and read a refusal against a live service. OpenAI's SDK for JavaScript shows
our refusals in our words, lists models and runs a batch; that for Python does so in other tests.
Everything is locked (`package-lock.json`, `requirements.lock`). Without Node.js 20 there is nothing
to do.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx

from services.gateway.app import create_app
from services.gateway.openapi import operations
from services.registry import metrics
from shared.process.settings import Settings
from tests.end_to_end.service import ROOT, Service, serving
from tests.patience import eventually

FOLDER = Path(__file__).parent
MADE = FOLDER / "made"
COOP = FOLDER.parents[1] / "examples" / "integrations" / "coop"
NODE = 20
PYTHON = MADE / "venv" / "bin" / "python"
SCRIPT = "score.py"
PACKAGE = MADE / "python" / "touchstone_client"
WARNING = re.compile(r"^(?:WARNING|ERROR).*", re.MULTILINE)
PASSED_OVER = {  # it knows no JSON Lines; the operation takes other bytes, too, and those it sends
    "WARNING parsing POST /v1/judgements within judgements."
}


def main() -> None:
    """Raises CalledProcessError at the first thing that is wrong."""
    found = node_version()
    if found < NODE:
        say(f"clients: skipped, since there is no Node.js of version {NODE} or later")
        return
    install()
    description, bodies = written()
    lint(description)
    generate(description)
    check_types()
    run_coop()
    with TemporaryDirectory() as folder, serving(Path(folder, "var")) as running:
        run_clients(running.url, bodies)
        run_openai(running, bodies)


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def node_version() -> int:
    """0: there is none."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        return 0
    said = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout
    major = re.match(r"v(\d+)", said)
    return int(major[1]) if major else 0


def run(*command: object, folder: Path = FOLDER) -> None:
    words = [str(word) for word in command]
    say(f"$ {' '.join(words)}")
    subprocess.run(words, cwd=folder, check=True)


def install() -> None:
    """What generates and checks, as it is locked."""
    run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
    shutil.rmtree(MADE, ignore_errors=True)
    MADE.mkdir()
    venv.create(MADE / "venv", with_pip=True)
    lock = FOLDER / "requirements.lock"
    run(PYTHON, "-m", "pip", "install", "--quiet", "--require-hashes", "--no-deps", "-r", lock)


def written() -> tuple[Path, Path]:
    """The description, and a request for each metric."""
    described, asked = MADE / "openapi.json", MADE / "requests.json"
    described.write_text(json.dumps(create_app(Settings()).openapi()), "utf-8")
    bodies = {name: next(iter(one.examples.values())) for name, one in metrics().items()}
    asked.write_text(json.dumps(bodies), "utf-8")
    return described, asked


def lint(description: Path) -> None:
    """No error; and a warning fails as well, since none is ignored."""
    run("npx", "redocly", "lint", description, "--max-problems", 1000)
    run("npx", "spectral", "lint", description, "--fail-severity", "warn")


def generate(description: Path) -> None:
    out = MADE / "python"
    command = ("generate", "--path", description, "--output-path", out)
    ruff = {"PATH": f"{PYTHON.parent}:{os.environ['PATH']}"}  # it formats what it has made
    words = [str(word) for word in (PYTHON.parent / "openapi-python-client", *command)]
    done = subprocess.run(
        words, env={**os.environ, **ruff}, check=True, stdout=subprocess.PIPE, text=True
    )
    warned = set(WARNING.findall(done.stdout)) - PASSED_OVER
    if warned:
        raise RuntimeError(f"{done.stdout}\nopenapi-python-client warns of {sorted(warned)}")
    made = [file for file in PACKAGE.glob("api/*/*.py") if file.name != "__init__.py"]
    wanted = len(list(operations(json.loads(description.read_text("utf-8")))))
    if len(made) != wanted:
        raise RuntimeError(f"{len(made)} of {wanted} operations were generated")
    say(f"openapi-python-client: all {wanted} operations")
    run("npx", "openapi-typescript", description, "-o", MADE / "schema.d.ts",
        "--default-non-nullable", "false")  # fmt: skip
    run("npx", "openapi-ts", "-i", description, "-o", MADE / "hey")


def write_guide_block() -> None:
    """The TypeScript of the guide, beside what it says it is beside."""
    page = (ROOT / "docs" / "guide" / "sdk.md").read_text("utf-8")
    [block] = re.findall(r"^```ts\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    named = block.replace('"./client/client.gen"', '"./hey/client.gen.js"')
    (MADE / "guide.ts").write_text(named.replace('"./client"', '"./hey/index.js"'), "utf-8")


def check_types() -> None:
    write_guide_block()
    shutil.copy(FOLDER / SCRIPT, PACKAGE.parent)
    run(
        *(sys.executable, "-m", "mypy", "--strict", "--config-file=", "--no-incremental"),
        *("--explicit-package-bases", "--python-executable", PYTHON, PACKAGE.name, SCRIPT),
        folder=PACKAGE.parent,
    )
    run("npx", "tsc", "--project", "tsconfig.json")


def run_coop() -> None:
    """The plugin for Coop is compiled, and run against what answers as the service does."""
    shutil.rmtree(MADE / "coop", ignore_errors=True)
    shutil.copytree(COOP, MADE / "coop", ignore=shutil.ignore_patterns("dist", "node_modules"))
    run("npx", "tsc", "--project", MADE / "coop" / "tsconfig.json", "--typeRoots",
        FOLDER / "node_modules" / "@types", "--types", "node")  # fmt: skip
    run("node", "--test", "coop.test.mjs", folder=MADE / "coop")


def run_clients(url: str, bodies: Path) -> None:
    run(PYTHON, SCRIPT, url, bodies, folder=PACKAGE.parent)
    for script in ("fetch", "hey"):
        run("node", f"made/js/{script}.js", url, bodies)


def run_openai(running: Service, bodies: Path) -> None:
    """Last, since the first key closes the service to those without one."""
    key, hasty = made_key(running), made_key(running, "--requests-per-minute", "1")
    eventually(lambda: is_closed(running.url), "the service is still open", every=0.5)
    run("node", "made/js/openai.js", running.url, bodies, key, hasty)


def is_closed(url: str) -> bool:
    """Whether it asks for a key."""
    return httpx.get(f"{url}/v1/models").status_code == httpx.codes.UNAUTHORIZED


def made_key(running: Service, *options: str) -> str:
    """Made as an operator makes it."""
    command = [sys.executable, "-m", "services.gateway.keys", "--var", str(running.folder)]
    words = [*command, "create", "--scope", "admin", *options]
    made = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return made.stdout.strip()


if __name__ == "__main__":
    main()
