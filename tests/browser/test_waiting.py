"""What a window shows is looked at by `expect`, which waits, once something was done in it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from tests.end_to_end.service import ROOT

ACTS = {"click", "press", "press_sequentially", "fill", "check", "uncheck", "select_option"}
LOOKS = {
    "all_inner_texts", "all_text_contents", "bounding_box", "content", "count", "evaluate",
    "get_attribute", "inner_text", "input_value", "is_checked", "is_hidden", "is_visible",
    "text_content", "title", "url",
}  # fmt: skip
HASTY = """
def test():
    page.locator("a").click()
    assert page.locator("b").count() == 1
"""


def hasty(source: str) -> list[str]:
    """What is read at once, in the statement after something is clicked, pressed or written."""
    return [
        f"{second.lineno}: {ast.unparse(second)}"
        for node in ast.walk(ast.parse(source))
        for first, second in pairwise(_block(node))
        if _acts(first) and isinstance(second, ast.Assert | ast.Assign) and LOOKS & _named(second)
    ]


def _block(node: ast.AST) -> list[ast.stmt]:
    found = getattr(node, "body", [])
    return found if isinstance(found, list) else []  # a lambda's is an expression


def _acts(statement: ast.stmt) -> bool:
    call = statement.value if isinstance(statement, ast.Expr) else None
    return (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr in ACTS
    )


def _named(statement: ast.stmt) -> set[str]:
    return {one.attr for one in ast.walk(statement) if isinstance(one, ast.Attribute)}


def test_nothing_is_read_as_soon_as_something_is_done() -> None:
    assert hasty(HASTY) == ["4: assert page.locator('b').count() == 1"]
    assert {path: found for path, found in _all_hasty() if found} == {}


def _all_hasty() -> Iterator[tuple[str, list[str]]]:
    for path in sorted((ROOT / "tests").rglob("*.py")):
        source = path.read_text("utf-8")
        if "import playwright" in source or "from playwright" in source:
            yield path.name, hasty(source)
