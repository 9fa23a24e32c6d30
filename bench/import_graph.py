"""Which file of the product imports which: imports, floors, circles.

A file's floor is one above the highest floor that it imports; files without imports stand on the
first. Imports inside functions count, those for type checkers do not; `__init__` files are no
files here, so that `from services.haf import kernel` imports `kernel` alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter

Graph = Mapping[str, frozenset[str]]  # module → modules that it imports


def import_graph(modules: Mapping[str, ast.Module]) -> Graph:
    """The imports among these modules, by dotted name."""
    return {
        name: frozenset(found for found in _imported(tree) if found in modules and found != name)
        for name, tree in modules.items()
    }


def within(graph: Graph, package: str) -> Graph:
    """The imports among the modules of one package."""
    inside = {name for name in graph if name.startswith(f"{package}.")}
    return {name: graph[name] & inside for name in inside}


def count_imports(graph: Graph) -> int:
    """Pairs of modules of which one imports the other."""
    return sum(map(len, graph.values()))


def count_floors(graph: Graph) -> int:
    """The most modules of which each imports the next, one after another."""
    floors: dict[str, int] = {}
    for name in TopologicalSorter(graph).static_order():  # what is imported comes first
        floors[name] = 1 + max((floors[found] for found in graph[name]), default=0)
    return max(floors.values(), default=0)


def find_circle(graph: Graph) -> list[str]:
    """A circle of imports; empty: there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def _imported(node: ast.AST) -> Iterator[str]:
    """Every dotted name that may be a module: of `from a import b` both a and a.b."""
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        return
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module is not None:
        yield node.module
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
    for child in ast.iter_child_nodes(node):
        yield from _imported(child)
