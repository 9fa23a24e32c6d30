"""What is made is what would be made now."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from services.registry import metrics
from tests.end_to_end.service import ROOT
from touchstone_client import AsyncTouchstone, Touchstone
from touchstone_client._wire import METRICS

SDK = ROOT / "sdk"
PACKAGE = SDK / "src" / "touchstone_client"


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    found = importlib.util.spec_from_file_location("generate", SDK / "generate.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_the_blocking_half_is_made_of_the_other(generate: ModuleType) -> None:
    made = generate.synchronous()
    assert {path.name for path in (PACKAGE / "_sync").glob("*.py")} == set(made)
    for name, text in made.items():
        assert (PACKAGE / "_sync" / name).read_text("utf-8") == text, f"run sdk/generate.py: {name}"
        assert "async " not in text
        assert "await " not in text


def test_plain_names_are_those_of_the_pages(generate: ModuleType) -> None:
    assert (PACKAGE / "_terms.py").read_text("utf-8") == generate.terms(), "run sdk/generate.py"


def test_languages_have_the_names_of_the_service(generate: ModuleType) -> None:
    found = (PACKAGE / "_languages.py").read_text("utf-8")
    assert found == generate.languages(), "run sdk/generate.py"


def test_columns_are_guessed_as_in_the_browser(generate: ModuleType) -> None:
    written = (PACKAGE / "data" / "_columns.py").read_text("utf-8")
    assert written == generate.columns(), "run sdk/generate.py"


def test_models_and_requests_are_made_of_the_description(tmp_path: Path) -> None:
    pytest.importorskip("datamodel_code_generator")
    script = """
import generate, pathlib, sys
folder = pathlib.Path(sys.argv[1])
(folder / "models.py").write_text(generate.models())
(folder / "_requests.py").write_text(generate.requests())
"""
    command = [sys.executable, "-W", "ignore", "-c", script, str(tmp_path)]
    subprocess.run(command, cwd=SDK, check=True)
    for name in ("models.py", "_requests.py"):
        written = (PACKAGE / name).read_text("utf-8")
        assert (tmp_path / name).read_text("utf-8") == written, f"run sdk/generate.py: {name}"


def test_every_component_of_the_description_has_a_type() -> None:
    from touchstone_client import models

    described = json.loads((ROOT / "docs" / "openapi.json").read_text("utf-8"))
    missing = [name for name in described["components"]["schemas"] if not hasattr(models, name)]
    assert missing == []


def test_every_metric_has_its_method() -> None:
    assert sorted(METRICS) == sorted(metrics())
    for metric in METRICS:
        assert callable(getattr(Touchstone, metric))
        assert callable(getattr(AsyncTouchstone, metric))


@pytest.mark.parametrize("script", ["score.py", "fetch.ts", "hey.ts"])
def test_the_clients_that_others_generate_score_every_metric(script: str) -> None:
    """They run at night: here only that no metric is left out of what runs."""
    written = (ROOT / "tests" / "clients" / script).read_text("utf-8").lower()
    assert [name for name in metrics() if f'"{name}"' not in written] == []
