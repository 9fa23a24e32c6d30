"""The built guide is served as it is, under a policy that runs its own inline scripts alone."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

import httpx
import pytest

from services.gateway.pages import guide
from shared.process.settings import Settings
from tests.gateway.serving import serving

SCRIPT = 'document.title = "ours"'
PAGE = (
    '<!doctype html><title>t</title><script type="application/json">{}</script>'
    f'<script src="x.js"></script><script>{SCRIPT}</script>'
)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """As mkdocs builds it."""
    for folder in (tmp_path, tmp_path / "errors"):
        folder.mkdir(exist_ok=True)
        (folder / "index.html").write_text(PAGE, "utf-8")
    (tmp_path / "x.js").write_text("1", "utf-8")
    return tmp_path


def policy_of(answer: httpx.Response) -> str:
    return next(
        part
        for part in answer.headers["content-security-policy"].split("; ")
        if part.startswith("script-src")
    )


def test_it_is_shown_where_it_is_built(
    chosen: Settings, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guide, "SITE", site)
    with serving(chosen) as url:
        first, page, script = (
            httpx.get(url + at) for at in ("/guide/", "/guide/errors/", "/guide/x.js")
        )
        linked = '<a href="/guide/">' in httpx.get(url + "/docs").text
        gone = httpx.get(url + "/guide/none/", headers={"accept": "text/html"})
    assert (first.text, page.text, script.text) == (PAGE, PAGE, "1")
    digest = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    assert policy_of(page) == f"script-src 'self' 'sha256-{digest}'"
    assert linked
    assert gone.status_code == 404
    assert "/docs" in gone.text  # a page, not a problem


def test_without_it_there_is_no_such_page(
    chosen: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guide, "SITE", tmp_path)
    with serving(chosen) as url:
        answer = httpx.get(f"{url}/guide/")
        linked = '<a href="/guide/">' in httpx.get(url + "/docs").text
    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == "not-found"
    assert not linked
