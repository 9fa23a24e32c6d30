"""The labelled texts that train the reader (a text classifier), in one common format.

Each file of `training/reader/data` has one author; the sentences of the project's tests count as
one author. Texts of `training/reader/test` are never included."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from services.hatexscore.vocabulary import Vocabulary, built_in, custom_vocabulary
from shared.readers.model import Reading, ask_group
from shared.readers.verdict import VerdictText
from shared.text.normalized import normalize

FOLDER = Path(__file__).parent
DATA = FOLDER / "data"
TESTS = FOLDER.parents[1] / "tests"
OLD = "sentences of the project's tests"
MENTION = re.compile(r"\{([+-])([^{}]+)\}")


@dataclass(frozen=True)
class ReaderRow:
    """A text in the input format of the reader model, with the correct labels."""

    asked: str
    reading: Reading
    labels: tuple[str, ...]
    author: str
    language: str
    style: str = ""
    text: str = ""  # as written


def training_rows(further: Sequence[Path] = ()) -> list[ReaderRow]:
    """Return all training rows in the order of their files, without duplicates. `further` adds
    files to the built-in ones."""
    files = sorted(file for file in DATA.glob("*.jsonl") if not file.name.startswith("tests_"))
    rows = [row for file in (*files, *further) for row in read_rows(file)]
    return list({(row.asked, row.labels): row for row in (*rows, *_old_rows())}.values())


def read_rows(file: Path) -> Iterator[ReaderRow]:
    """Yield the labelled rows of one author's JSON Lines file."""
    for one in json_lines(file):
        language, style = one["language"], one.get("style", "")
        yield ReaderRow(*_asked(one), file.stem, language, style, one["text"])


def json_lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def _asked(one: dict[str, Any]) -> tuple[str, Reading, tuple[str, ...]]:
    kind, text = one.get("kind", "verdict"), normalize(one["text"]).text
    if kind == "verdict":
        return as_asked(text), "verdict", (one["verdict"],)
    if kind == "group":
        mention = normalize(one["mention"]).text
        start = text.index(mention)
        return ask_group(text, start, start + len(mention)), "group", (one["label"],)
    if kind == "polarity":
        return f"polarity: [[{one['option']}]] {text}", "polarity", (one["label"],)
    if kind == "sor":
        return f"reasons: {text}", "reasons", tuple(one["labels"]) or ("none",)
    return f"{kind}: {text}", kind, (one["label"],)


def as_asked(text: str, vocabulary: Vocabulary | None = None) -> str:
    """Return a normalised text as the trained reader's input for the task `verdict`, with label
    words marked. Without `vocabulary`, the words of the vocabulary `default` are marked."""
    words = vocabulary or built_in("default")
    return VerdictText(text, words.marks(text)).part(0, len(text))


def _old_rows() -> Iterator[ReaderRow]:
    folder = TESTS / "hatexscore" / "data"
    for language in ("en", "zh", "ko"):
        for one in json_lines(DATA / f"tests_conclusions.{language}.jsonl"):
            text, named = normalize(one["text"]).text, one["vocabulary"]
            words = custom_vocabulary(named) if isinstance(named, dict) else built_in(named)
            asked, label = as_asked(text, words), one["expected"] or "none"
            yield ReaderRow(asked, "verdict", (label,), OLD, language, one["family"])
        for one in json_lines(DATA / f"tests_elicited.{language}.jsonl"):
            yield _verdict(one["text"], one["expected"], language, "elicited")
        for one in json_lines(folder / f"explanations.{language}.jsonl"):
            label = one["expected"]["htc"]
            if label and not one["labels"]:
                yield _verdict(one["explanation"], label, language, one["style"])
    for one in json_lines(DATA / "tests_groups.jsonl"):
        yield from _mentions(one["text"], one["language"], one["family"])


def _verdict(text: str, label: str | None, language: str, style: str) -> ReaderRow:
    plain = normalize(text).text
    return ReaderRow(as_asked(plain), "verdict", (label or "none",), OLD, language, style)


def _mentions(text: str, language: str, style: str) -> Iterable[ReaderRow]:
    """Yield a row for each marked mention of a group. `{+Muslims}` marks an attacked mention, and
    `{-Muslims}` one that is not attacked."""
    bare, places = "", []
    for piece, sign, mention in _pieces(text):
        bare += piece
        places.append((len(bare), len(bare) + len(mention), sign))
        bare += mention
    for start, end, sign in places:
        label = {"+": "attacked", "-": "mentioned"}.get(sign)
        if label:
            yield ReaderRow(ask_group(bare, start, end), "group", (label,), OLD, language, style)


def _pieces(text: str) -> Iterator[tuple[str, str, str]]:
    place = 0
    for match in MENTION.finditer(text):
        yield text[place : match.start()], match[1], match[2]
        place = match.end()
    yield text[place:], "", ""
