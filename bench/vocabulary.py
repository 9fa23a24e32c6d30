"""`python -m bench.vocabulary`: how much of our names is the field's own language, in figures.

The words of the names of all classes and functions of the product, one count a name, against the
words that comparable code bases use in theirs: `rare` is the share of our words that at most one of
them uses. Names of our metrics are left out: no other project can have them. The last line is JSON;
`--list` prints the rare words before it, most used first.

`python -m bench.vocabulary collect FOLDER` reads the wheels of the projects (`pip download
--no-deps`) and writes `vocabulary.json`: each project's version and its own share against the other
twelve, and the words that at least two of them use.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from bench.environment import environment
from bench.shape import ROOT, Source, sources

FIELD = Path(__file__).with_name("vocabulary.json")
PROJECTS = (  # the code bases that the style guide measures, as far as the package index has them
    "captum", "dramatiq", "httpx", "infinity_emb", "inseq", "kopf", "lm_eval", "mlserver",
    "procrastinate", "scikit_learn", "scipy", "starlette", "torchmetrics",
)  # fmt: skip
LEFT_OUT = frozenset({"migrations", "test", "tests"})  # folders
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
Named = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def words(name: str) -> list[str]:
    """`HafComponents`, `score_batch`: the words of a name, in lower case."""
    return [word.lower() for word in WORD.findall(name)]


def count_words(trees: Iterable[ast.Module]) -> Counter[str]:
    """How often each word stands in the name of a class or function."""
    nodes = (node for tree in trees for node in ast.walk(tree))
    return Counter(word for node in nodes if isinstance(node, Named) for word in words(node.name))


def rare_words(own: Counter[str], known: frozenset[str]) -> Counter[str]:
    """The words that the field does not know."""
    return Counter({word: count for word, count in own.items() if word not in known})


def vocabulary(files: Iterable[Source]) -> dict[str, Any]:
    """All figures of the product's names."""
    own = product_words(files)
    rare = rare_words(own, field_words())
    return {
        "words": own.total(),
        "rare": round(rare.total() / own.total(), 3),
        "different_words": len(own),
        "rare_of_different_words": round(len(rare) / len(own), 3),
        "projects": json.loads(FIELD.read_text("utf-8"))["projects"],
    }


def product_words(files: Iterable[Source]) -> Counter[str]:
    """The words of the product's names but those of the metrics' own names."""
    found = list(files)
    metrics = {source.path.parts[1] for source in found if source.path.name == "metric.py"}
    known = {word for metric in metrics for word in words(metric)}
    counts = count_words(source.tree for source in found)
    return Counter({word: count for word, count in counts.items() if word not in known})


def field_words() -> frozenset[str]:
    """The words that at least two of the projects use."""
    return frozenset(json.loads(FIELD.read_text("utf-8"))["words"])


def collect(folder: Path) -> dict[str, Any]:
    """What `vocabulary.json` holds, from the projects' wheels in a folder."""
    wheels = {project: _wheel(folder, project) for project in PROJECTS}
    counts = {project: count_words(_trees(wheel)) for project, wheel in wheels.items()}
    users = Counter(word for own in counts.values() for word in own)
    return {
        "projects": {
            project: {
                "version": wheel.name.split("-")[1],
                **_share_of_one(counts[project], users),
            }
            for project, wheel in wheels.items()
        },
        "words": sorted(word for word, used_by in users.items() if used_by > 1),
    }


def _share_of_one(own: Counter[str], users: Mapping[str, int]) -> dict[str, Any]:
    """A project's figures against the others: itself and one more make two."""
    rare = rare_words(own, frozenset(word for word, used_by in users.items() if used_by > 2))
    return {
        "rare": round(rare.total() / own.total(), 3),
        "different_words": len(own),
        "rare_of_different_words": round(len(rare) / len(own), 3),
    }


def _wheel(folder: Path, project: str) -> Path:
    found = sorted(folder.glob(f"{project}-*.whl"))
    if not found:
        raise SystemExit(f"no wheel of {project} in {folder}")
    return found[-1]


def _trees(wheel: Path) -> Iterator[ast.Module]:
    with ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.endswith(".py") and not LEFT_OUT & set(Path(name).parts):
                yield ast.parse(archive.read(name))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.vocabulary", description=__doc__)
    parser.add_argument("command", nargs="?", choices=["collect"])
    parser.add_argument("folder", nargs="?", type=Path, help="where the wheels lie")
    parser.add_argument("--list", action="store_true", help="print the rare words, too")
    asked = parser.parse_args()
    if asked.command:
        FIELD.write_text(json.dumps(collect(asked.folder), indent=1) + "\n", "utf-8")
        return
    files = sources(ROOT)
    if asked.list:
        for word, count in rare_words(product_words(files), field_words()).most_common():
            print(f"{count:4d} {word}")
    found = {"bench": "vocabulary", "figures": vocabulary(files), "environment": environment()}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
