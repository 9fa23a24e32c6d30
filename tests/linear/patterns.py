"""Every compiled pattern of our modules, found by walking them, and attacks from its own parts.

An attack is a prefix, a pump that is repeated, and an end that spoils the match. The pumps are what
the pattern itself repeats; the prefixes are what it asks for before that.
"""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import lru_cache
from itertools import product
from pathlib import Path
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as grammar  # type: ignore[attr-defined]
from types import FunctionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

ROOT = Path(__file__).parents[2]
PACKAGES = ("services", "shared", "cli", "bench/papers")
DEPTH = 4  # of containers within containers that are looked into
REPEATED = 4  # a part that may occur more often than this is a pump
ENDS = ("", "\x00", " ")
MOST_ATTACKS = 15  # of a pattern; of more as many, evenly chosen
MOST_PARTS = 12  # samples that are kept of one node
SCANS = frozenset(["search", "finditer", "findall", "split", "sub", "subn"])
MATCHES = frozenset(["match", "fullmatch"])
FEW = 2  # of a part within a prefix
REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)
CHARACTERS = " a1\t\nZ.,;:!?-*_#()[]\"'“”‘’«»「」/\\–—…中혐あé\u0301\u200d😀\u3000。，\u00a0"


@dataclass(frozen=True)
class Named:
    """A pattern and where it stands."""

    name: str
    pattern: re.Pattern[str]
    ways: frozenset[str]  # methods that our sources call on it

    def __call__(self, text: str) -> int:
        """Every match in the text; at its beginning where our sources look no further."""
        if self.ways <= MATCHES:
            return sum(bool(getattr(self.pattern, way)(text)) for way in sorted(self.ways))
        return sum(1 for _ in self.pattern.finditer(text))


def patterns(name: str) -> list[Named]:
    """Of a module, each once."""
    module = importlib.import_module(name)
    found: dict[tuple[str, int], Named] = {}
    for one in [*_of_module(module), *_written_in_place(module)]:
        if isinstance(one.pattern.pattern, str):
            found.setdefault((one.pattern.pattern, one.pattern.flags), one)
    return list(found.values())


@lru_cache(maxsize=1)
def modules() -> tuple[str, ...]:
    """Those whose source uses patterns."""
    return tuple(_sources())


@lru_cache(maxsize=1)
def _sources() -> dict[str, ast.Module]:
    files = [file for package in PACKAGES for file in sorted((ROOT / package).rglob("*.py"))]
    written = {file: file.read_text("utf-8") for file in files}
    return {
        ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): ast.parse(
            source
        )
        for file, source in written.items()
        if re.search(r"^(?:import re|from re )", source, re.MULTILINE)
    }


def ways(module: str, name: str) -> frozenset[str]:
    """The methods that are called on what has this name, there or where it is imported."""
    found = {
        method
        for other, (owners, made) in _uses().items()
        if other == module or name not in made
        for method in owners.get(name, ())
    }
    return frozenset(found) or SCANS


@lru_cache(maxsize=1)
def _uses() -> dict[str, tuple[dict[str, set[str]], frozenset[str]]]:
    """Of every module: last name → methods of patterns called on it; and the names made there."""
    return {name: (_owners(tree), _made(tree)) for name, tree in _sources().items()}


def _owners(tree: ast.Module) -> dict[str, set[str]]:
    owners: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in SCANS | MATCHES:
            owner = ast.unparse(node.value).partition("[")[0].partition("(")[0]
            owners.setdefault(owner.rpartition(".")[2], set()).add(node.attr)
    return owners


def _made(tree: ast.Module) -> frozenset[str]:
    plain = [one for node in tree.body if isinstance(node, ast.Assign) for one in node.targets]
    typed = [node.target for node in tree.body if isinstance(node, ast.AnnAssign)]
    return frozenset(map(ast.unparse, [*plain, *typed]))


def _of_module(module: Any) -> Iterator[Named]:
    """In its globals, in containers and dataclasses there, and made by cached functions."""
    for name, value in vars(module).items():
        if name in _uses()[module.__name__][1]:  # what is imported stands elsewhere
            yield from _inside(module.__name__, name, value, DEPTH)
        for arguments in _calls(module, value):
            yield from _inside(module.__name__, f"{name}{arguments}", value(*arguments), DEPTH)


def _calls(module: Any, value: Any) -> list[tuple[str, ...]]:
    """How to call a function that makes patterns: without arguments, or with one of few words."""
    plain = getattr(value, "__wrapped__", None)  # cached: it is called once and kept
    if not isinstance(plain, FunctionType) or plain.__module__ != module.__name__:
        return []
    hints = get_type_hints(plain)
    made = hints.pop("return", None)
    if not _holds_a_pattern(made) or any(
        get_origin(hint) is not Literal for hint in hints.values()
    ):
        return []
    return list(product(*(get_args(hint) for hint in hints.values())))


def _holds_a_pattern(made: Any) -> bool:
    own = fields(made) if is_dataclass(made) else ()
    return "Pattern" in str(made) or any("Pattern" in str(field.type) for field in own)


def _inside(module: str, path: str, value: Any, depth: int) -> Iterator[Named]:
    if isinstance(value, re.Pattern):
        last = path.partition("[")[0].partition("(")[0]
        yield Named(f"{module}.{path}", value, ways(module, last.rpartition(".")[2]))
    elif depth > 0 and not isinstance(value, str | bytes | type):
        for step, item in _items(value):
            yield from _inside(module, f"{path}{step}", item, depth - 1)


def _items(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, Mapping):
        return [(f"[{key!r}]", item) for key, item in value.items()]
    if isinstance(value, list | tuple | set | frozenset):
        return [(f"[{place}]", item) for place, item in enumerate(value)]
    if is_dataclass(value):
        return [(f".{one.name}", getattr(value, one.name, None)) for one in fields(value)]
    return []


def _written_in_place(module: Any) -> Iterator[Named]:
    """`re.search("...", text)` within a function."""
    for node in ast.walk(_sources()[module.__name__]):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            owner, way, first = node.func.value, node.func.attr, node.args[0]
            ours = isinstance(owner, ast.Name) and owner.id == "re" and way in SCANS | MATCHES
            if ours and isinstance(first, ast.Constant) and isinstance(first.value, str):
                path = f"{module.__name__}:{node.lineno}"
                yield Named(path, re.compile(first.value), frozenset([way]))


def attacks(pattern: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    """(prefix, pump) pairs from the pattern's own parts."""
    tree = grammar.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    every = list(dict.fromkeys(_pumps(tree, [""], tree.state.flags)))
    yield from every[:: 1 + len(every) // MOST_ATTACKS]


def _pumps(tree: Any, before: list[str], flags: int) -> Iterator[tuple[str, str]]:
    """Of every part that repeats, after every sample of what stands before it."""
    for node in tree:
        for part, repeats in _parts(node):
            if repeats:
                for sample in _samples_of(part, flags, len(CHARACTERS)):
                    yield from ((prefix, sample) for prefix in before if sample)
            yield from _pumps(part, before, flags)
        before = _joined(before, _samples(node, flags, FEW), MOST_PARTS)
    yield from (("", whole) for whole in before if whole)


def _parts(node: Any) -> list[tuple[Any, bool]]:
    """The patterns within a node, and whether they may repeat."""
    kind, value = node
    if kind in REPEATS:
        return [(value[2], value[1] is codes.MAXREPEAT or value[1] > REPEATED)]
    if kind is codes.SUBPATTERN:
        return [(value[3], False)]
    if kind is codes.BRANCH:
        return [(part, False) for part in value[1]]
    if kind in (codes.ASSERT, codes.ASSERT_NOT):
        return [(value[1], False)]
    return [(value, False)] if kind is codes.ATOMIC_GROUP else []


def _samples_of(tree: Any, flags: int, most: int) -> list[str]:
    """A few strings that a part matches; most: of each character class."""
    found = [""]
    for node in tree:
        found = _joined(found, _samples(node, flags, most), max(most, MOST_PARTS))
    return found


def _samples(node: Any, flags: int, most: int) -> list[str]:
    kind, value = node
    if kind is codes.LITERAL:
        return [chr(value)]
    if kind in (codes.IN, codes.ANY, codes.NOT_LITERAL):
        return _accepted(node, flags)[:most]
    if kind in REPEATS:
        least, _, body = value
        inner = _samples_of(body, flags, most)
        return [sample * max(1, least) for sample in inner] + ([""] if least == 0 else [])
    if kind is codes.BRANCH:
        return [sample for part in value[1] for sample in _samples_of(part, flags, most)[:FEW]]
    if kind is codes.SUBPATTERN:
        return _samples_of(value[3], flags, most)
    if kind is codes.ASSERT and value[0] < 0:  # what must stand before
        return _samples_of(value[1], flags, most)[:FEW]
    return _samples_of(value, flags, most) if kind is codes.ATOMIC_GROUP else [""]


def _joined(before: list[str], after: list[str], most: int) -> list[str]:
    """Every sample of one after samples of the other, as evenly as so many allow."""
    pairs = sorted(
        ((i + j, a + b) for i, a in enumerate(before) for j, b in enumerate(after)),
        key=lambda pair: pair[0],
    )
    return list(dict.fromkeys(text for _, text in pairs))[:most]


def _accepted(node: Any, flags: int) -> list[str]:
    """The characters of ours that a class takes."""
    state = grammar.State()
    state.flags = flags
    one = re._compiler.compile(  # type: ignore[attr-defined]
        grammar.SubPattern(state, [node]), flags
    )
    return [c for c in CHARACTERS if one.fullmatch(c)]
