"""`python -m bench.shape`: how the product's code is cut, in figures; the last line is JSON.

What it counts over the Python files of `services` and `shared` (migrations apart): files, lines,
percentiles of lines a file, functions with a body over 30 lines, class names that occur twice
(names with a leading underscore apart), file names that hold a word in -ing, lines of imports, and
comparisons with a request's variant outside the contracts; files, floors and imports of each
package's import graph and of the whole one (`bench.import_graph`), and a circle of imports.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench.environment import environment
from bench.import_graph import count_floors, count_imports, find_circle, import_graph, within

ROOT = Path(__file__).parents[1]
PRODUCT = ("services", "shared")
LONG_BODY = 30  # lines
FIELD_TERMS = frozenset(  # words in -ing that other code bases of the field name files by
    {"batching", "masking", "parsing", "pooling", "sampling", "scoring", "string", "training"}
)
VARIANT = re.compile(r"\bvariant (?:==|!=|in\b|not in\b)")

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Source(NamedTuple):
    """One file of the product."""

    path: Path  # under the root
    text: str
    tree: ast.Module


def sources(root: Path = ROOT) -> list[Source]:
    """Every file of the product, by path."""
    found = []
    for file in sorted(file for top in PRODUCT for file in (root / top).rglob("*.py")):
        if "migrations" not in file.parts:
            text = file.read_text("utf-8")
            found.append(Source(file.relative_to(root), text, ast.parse(text)))
    return found


def shape(files: Sequence[Source]) -> dict[str, Any]:
    """All figures."""
    lengths = sorted(source.text.count("\n") for source in files)
    classes = Counter(
        node.name
        for source in files
        for node in ast.walk(source.tree)
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    named = [source for source in files if source.path.name != "__init__.py"]
    gerunds = [str(source.path) for source in named if _gerunds(source.path.stem)]
    return {
        "files": len(files),
        "lines": sum(lengths),
        "lines_a_file": {
            "median": _quantile(lengths, 0.5),
            "p90": _quantile(lengths, 0.9),
            "largest": lengths[-1],
        },
        "functions_over_30_lines": sorted(_long_functions(files)),
        "class_names_twice": sorted(name for name, count in classes.items() if count > 1),
        "names_in_ing": gerunds,
        "share_of_names_in_ing": round(len(gerunds) / len(named), 3),
        "import_lines": sum(map(_import_lines, files)),
        "comparisons_with_a_variant": sorted(_comparisons(files)),
        **_imports(files),
    }


def _quantile(ordered: Sequence[int], share: float) -> int:
    return ordered[int(share * (len(ordered) - 1))]


def _gerunds(stem: str) -> list[str]:
    """The words of a file's name that end in -ing and are no term of the field."""
    words = stem.strip("_").split("_")
    return [word for word in words if word.endswith("ing") and word not in FIELD_TERMS]


def _long_functions(files: Sequence[Source]) -> Iterator[str]:
    for source in files:
        for node in ast.walk(source.tree):
            if isinstance(node, Function) and _body_lines(node) > LONG_BODY:
                yield f"{source.path}:{node.name}"


def _body_lines(function: Function) -> int:
    """From the first statement after the docstring to the last line."""
    body = function.body
    if ast.get_docstring(function) is not None and len(body) > 1:
        body = body[1:]
    return (body[-1].end_lineno or body[-1].lineno) - body[0].lineno + 1


def _import_lines(source: Source) -> int:
    return sum(
        (node.end_lineno or node.lineno) - node.lineno + 1
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
    )


def _comparisons(files: Sequence[Source]) -> Iterator[str]:
    """Choices by variant belong into a table of rows; contracts validate, and so may compare."""
    for source in files:
        if source.path.name == "contract.py":
            continue
        for number, line in enumerate(source.text.splitlines(), start=1):
            if VARIANT.search(line):
                yield f"{source.path}:{number}"


def _imports(files: Sequence[Source]) -> dict[str, Any]:
    """Files, floors and imports by package; floors are null where imports run in a circle."""
    trees = {
        ".".join(source.path.with_suffix("").parts): source.tree
        for source in files
        if source.path.name != "__init__.py"
    }
    graph = import_graph(trees)
    packages = sorted({".".join(name.split(".")[:2]) for name in trees if name.count(".") > 1})
    graphs = {name: within(graph, name) for name in packages} | {"product": graph}
    return {
        "import_graph": {
            name: {
                "files": len(part),
                "floors": None if find_circle(part) else count_floors(part),
                "imports": count_imports(part),
            }
            for name, part in graphs.items()
        },
        "circle": find_circle(graph),
    }


def main() -> int:
    """Print the figures."""
    print(json.dumps({"bench": "shape", "figures": shape(sources()), "environment": environment()}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
