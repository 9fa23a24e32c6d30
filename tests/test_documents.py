"""What people read first: short, in words of the field, with links that lead somewhere and commands
that exist."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PAGES = [
    README,
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "examples").rglob("*.md")),
]
MOST_LINES = 150
# our own words for database, message, metric, queue; `room`, `apart`, `door` are English as well:
# only what would be no English is looked for
PRIVATE = re.compile(r"\b(ledgers?|hints?|rooms|lanes?|story|stories|kernels?)\b", re.IGNORECASE)
LINK = re.compile(r"\]\(([^)#\s]+)(?:#([^)\s]+))?\)")
CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)
MARKUP = re.compile(r"<script.*?</script>|<style.*?</style>|{[{%#].*?[}%#]}|<[^>]*>", re.DOTALL)


def prose(page: Path) -> str:
    """Without code, and without the targets of links."""
    return LINK.sub("]", CODE.sub("", page.read_text("utf-8")))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}-{page.name}")
def test_a_page_speaks_no_private_words(page: Path) -> None:
    assert PRIVATE.findall(prose(page)) == []


def test_neither_do_the_pages_of_the_service() -> None:
    for file in (ROOT / "services").rglob("*.html"):
        assert PRIVATE.findall(MARKUP.sub(" ", file.read_text("utf-8"))) == [], file


def texts(node: Any) -> Iterator[str]:
    """What the description says in words."""
    if isinstance(node, dict):
        for name, value in node.items():
            if name in ("description", "summary", "title") and isinstance(value, str):
                yield value
            elif name not in ("example", "examples"):
                yield from texts(value)
    elif isinstance(node, list):
        for value in node:
            yield from texts(value)


def test_neither_does_the_description_of_the_api() -> None:
    described = json.loads((ROOT / "docs" / "openapi.json").read_text("utf-8"))
    said = [CODE.sub("", text) for text in texts(described)]
    assert len(said) > 100
    assert [text for text in said if PRIVATE.search(text)] == []


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


def test_the_readme_is_short_and_its_commands_exist() -> None:
    text = README.read_text("utf-8")
    assert len(text.splitlines()) < MOST_LINES
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for target in re.findall(r"(?:^|`)make ([a-z]+)", text, re.MULTILINE):
        assert f"\n{target}:" in makefile, target
    paths = json.loads((ROOT / "docs" / "openapi.json").read_text("utf-8"))["paths"]
    for path in re.findall(r"http://127\.0\.0\.1:8000(/v1/[a-z/]+)", text):
        assert path in paths, path
    for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL):
        if re.search(r"^touchstone ", block, re.MULTILINE):
            assert block.startswith(". .venv/bin/activate\n"), block
        for file in re.findall(r"\b(examples/\S+)", block):
            assert (ROOT / file).exists(), file
