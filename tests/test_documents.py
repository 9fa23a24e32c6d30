"""What people read first: links lead somewhere, and commands exist."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PAGES = [
    README,
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "examples").rglob("*.md")),
]
LINK = re.compile(r"\]\(([^)#\s]+)(?:#([^)\s]+))?\)")


def anchors(page: Path) -> set[str]:
    """As the headings of a page are linked to on a forge, and what the page names itself."""
    text = page.read_text("utf-8")
    heads = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    bare = [re.sub(r"[^\w\- ]", "", head.replace("`", "")) for head in heads]
    return {one.lower().replace(" ", "-") for one in bare} | set(re.findall(r'id="([^"]+)"', text))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}-{page.name}")
def test_links_lead_somewhere(page: Path) -> None:
    for target, anchor in LINK.findall(page.read_text("utf-8")):
        if target.startswith(("http://", "https://")):
            continue
        file = (page.parent / target).resolve()
        assert file.exists(), f"{page.name}: {target}"
        if anchor:
            assert anchor in anchors(file), f"{page.name}: {target}#{anchor}"


def test_the_readmes_commands_exist() -> None:
    text = README.read_text("utf-8")
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for target in re.findall(r"(?:^|`)make ([a-z]+)", text, re.MULTILINE):
        assert f"\n{target}:" in makefile, target
    paths = json.loads((ROOT / "docs" / "openapi.json").read_text("utf-8"))["paths"]
    for path in re.findall(r"http://127\.0\.0\.1:8000(/v1/[a-z/]+)", text):
        assert any(re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", one), path) for one in paths), path
    for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL):
        if re.search(r"^touchstone ", block, re.MULTILINE):
            assert block.startswith(". .venv/bin/activate\n"), block
        for file in re.findall(r"\b(examples/\S+)", block):
            assert (ROOT / file).exists(), file
