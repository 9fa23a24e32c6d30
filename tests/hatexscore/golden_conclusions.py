"""Figures of the reading of conclusions over a file of snippets, by family, vocabulary, language.

`python -m tests.hatexscore.golden_conclusions [file]` prints them; a test holds them to account.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from services.hatexscore.conclusion import ConclusionStatement, read_conclusion
from services.hatexscore.quotes import plain_format
from services.hatexscore.vocabulary import Vocabulary, built_in, custom_vocabulary

GOLDEN = Path(__file__).parents[3] / "shared" / "golden" / "conclusions.jsonl"


@dataclass(frozen=True)
class Snippet:
    """expected: hateful, non-hateful or None; span: of the sentence that states it, or None.

    unread: a verdict that no rule reads yet.
    """

    name: str
    language: Any
    family: str
    vocabulary: Any
    explanation: str
    expected: str | None
    span: tuple[int, int] | None
    unread: bool = False

    @property
    def half(self) -> int:
        return hashlib.sha256(self.name.encode()).digest()[0] % 2


@dataclass(frozen=True)
class Outcome:
    snippet: Snippet
    read: ConclusionStatement | None

    @property
    def right(self) -> bool:
        return (self.read.label if self.read else None) == self.snippet.expected

    @property
    def inverted(self) -> bool:
        return self.snippet.expected is not None and self.read is not None and not self.right

    @property
    def placed(self) -> bool:
        """Does the reported sentence cover half of the expected one?"""
        if self.snippet.span is None or self.read is None:
            return False
        start, end = self.snippet.span
        return 2 * (min(end, self.read.end) - max(start, self.read.start)) >= end - start


def vocabulary_of(sent: Any) -> Vocabulary:
    return custom_vocabulary(sent) if isinstance(sent, Mapping) else built_in(sent)


def golden() -> list[Snippet]:
    rows = map(json.loads, GOLDEN.read_text(encoding="utf-8").splitlines())
    return [
        Snippet(
            row["id"],
            row["language"],
            row["family"],
            row["vocabulary"],
            row["explanation"],
            row["expected"],
            span_of(row["conclusion_span"]),
        )
        for row in rows
    ]


def span_of(held: Any) -> tuple[int, int] | None:
    if held is None:
        return None
    return (held["start"], held["end"]) if isinstance(held, dict) else (held[0], held[1])


LABELS = {"H": "hateful", "N": "non-hateful", "-": None, "h": "hateful", "n": "non-hateful"}
OWN = sorted((Path(__file__).parent / "conclusions").glob("*.txt"))


def own(files: Sequence[Path] = tuple(OWN)) -> list[Snippet]:
    """Our own sentences: `# family vocabulary`, then lines of H, N or - and the explanation.

    A small h or n is a verdict that no rule reads yet. The language ends the name of a file.
    """
    return [one for path in files for one in _of_file(path)]


def _of_file(path: Path) -> Iterator[Snippet]:
    family = ""
    vocabulary: Any = "hate"
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        mark, _, rest = line.partition(" ")
        if mark == "#":
            family, _, sent = rest.partition(" ")
            vocabulary = json.loads(sent) if sent.startswith("{") else sent
        elif mark:
            name, text = f"{path.name}:{number}", rest.replace("\\n", "\n")
            yield Snippet(
                name,
                path.stem.rpartition(".")[2],
                family,
                vocabulary,
                text,
                LABELS[mark],
                None,
                unread=mark in "hn",
            )


def outcomes(snippets: Sequence[Snippet]) -> list[Outcome]:
    return [
        Outcome(
            one,
            read_conclusion(
                plain_format(one.explanation), vocabulary_of(one.vocabulary), one.language
            ).conclusion,
        )
        for one in snippets
    ]


def figures(found: Sequence[Outcome], by: str) -> dict[str, Counter[str]]:
    """Counts of a group: verdicts, right, inverted, none, false, placed."""
    counted: dict[str, Counter[str]] = {}
    for one in found:
        group = getattr(one.snippet, by)
        own = counted.setdefault(group if isinstance(group, str) else "own words", Counter())
        stated = one.snippet.expected is not None
        own["verdicts"] += stated
        own["none"] += not stated
        own["right"] += stated and one.right
        own["inverted"] += one.inverted
        own["false"] += not stated and one.read is not None
        own["placed"] += stated and one.right and one.placed
    return counted


def table(found: Sequence[Outcome], by: str) -> str:
    rows = figures(found, by)
    total = sum(rows.values(), Counter())
    lines = [f"{by:<18} right/of  inverted  false/none  placed"]
    for name, own in [*sorted(rows.items()), ("all", total)]:
        lines.append(
            f"{name:<18} {own['right']:>4}/{own['verdicts']:<4} {own['inverted']:>6}"
            f" {own['false']:>6}/{own['none']:<4} {own['placed']:>6}"
        )
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> None:
    which = arguments[0] if arguments else "golden"
    snippets = own() if which == "own" else golden()
    if which in ("0", "1"):
        snippets = [one for one in snippets if one.half == int(which)]
    found = outcomes(snippets)
    for by in ("family", "vocabulary", "language"):
        sys.stdout.write(table(found, by) + "\n\n")
    if "wrong" in arguments:
        for one in found:
            if not one.right or (one.snippet.span and one.snippet.expected and not one.placed):
                said = one.read and f"{one.read.label} {one.read.form} {one.read.word}"
                snippet = one.snippet
                sys.stdout.write(
                    f"{snippet.family} [{snippet.vocabulary}] expected {snippet.expected}, "
                    f"read {said}: {snippet.explanation!r}\n"
                )


if __name__ == "__main__":
    main(sys.argv[1:])
