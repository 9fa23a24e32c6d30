"""Figures by family over quotations and group mentions in the wording of real explanations.

The golden files are read where they are; our own sentences stand in `quote_examples` and
`group_examples`. Run as a module it prints the figures.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.explanation import detect_languages
from services.hatexscore.group_terms import GroupMention, read_passage
from services.hatexscore.groups import find_mentions
from services.hatexscore.lexicon import load_lexicon
from services.hatexscore.quotes import plain_format, quoted_spans
from services.hatexscore.variants import read_quotations
from tests.hatexscore.group_examples import FAMILIES
from tests.hatexscore.quote_examples import EXAMPLES

GOLDEN = Path(__file__).parents[3] / "shared" / "golden"
Row = dict[str, Any]


@dataclass
class Tally:
    """right, of: cases without an error. wrong: what was expected and what was found."""

    right: int = 0
    of: int = 0
    wrong: list[str] = field(default_factory=list)

    def add(self, right: bool, said: str) -> None:
        self.right += right
        self.of += 1
        if not right:
            self.wrong.append(said)


@dataclass
class Retrieval:
    """Of what was found how much was expected, and of what was expected how much was found."""

    both: int = 0
    found: int = 0
    expected: int = 0

    def add(self, found: set[Any], expected: set[Any]) -> None:
        self.both += len(found & expected)
        self.found += len(found)
        self.expected += len(expected)

    @property
    def precision(self) -> float:
        return self.both / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        return self.both / self.expected if self.expected else 1.0


@dataclass
class QuoteFigures:
    families: dict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))
    located: Retrieval = field(default_factory=Retrieval)
    hallucinated: Retrieval = field(default_factory=Retrieval)


def golden(name: str) -> list[Row]:
    path = GOLDEN / f"{name}.jsonl"
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def half(rows: Iterable[Row], kept: int) -> list[Row]:
    """One half of the rows by their ids: 0 was looked at while the rules were written, 1 not."""
    return [row for row in rows if sha256(row["id"].encode()).digest()[0] % 2 == kept]


def own_quotes() -> list[Row]:
    rows = []
    for number, one in enumerate(EXAMPLES):
        spans = [[at, at + len(q)] for q in one.located for at in (one.text.index(q),)]
        rows.append(
            {
                "id": f"own-{number}",
                "family": one.family,
                "language": one.language,
                "text": one.text,
                "explanation": one.explanation,
                "expected_quotes": spans,
                "hallucinated": list(one.hallucinated),
                "other": one.other,
            }
        )
    return rows


def measure_quotes(rows: Iterable[Row]) -> QuoteFigures:
    figures = QuoteFigures()
    for row in rows:
        plain = plain_format(row["explanation"])
        request = HatexscoreRequest(text=row["text"], explanation=plain, language=row["language"])
        read = read_quotations(request, detect_languages(request))
        located = {(one.start, one.end) for one in read.evidence}
        expected = {tuple(span) for span in row["expected_quotes"]}
        called = {one.text.strip(" .,…!") for one in read.hallucinated}
        meant = {text.strip(" .,…!") for text in row["hallucinated"]}
        figures.located.add(located, expected)
        figures.hallucinated.add(called, meant)
        other = {one.text: reason for one, reason in read.other}
        same = row.get("other", other).items() <= other.items()
        where = [row["text"][start:end] for start, end in sorted(located)]
        said = (
            f"{row['id']}: {row['explanation']!r}: {where}, "
            f"hallucinated {sorted(called)}, other {other}"
        )
        right = located == expected and called == meant and same
        figures.families[row["family"]].add(right, said)
    return figures


def own_groups() -> Iterator[Row]:
    for family, examples in FAMILIES.items():
        for number, (language, marked) in enumerate(examples):
            text, expected = unmarked(marked)
            yield {
                "id": f"own-{family}-{number}",
                "family": family,
                "language": language,
                "policy": "un",
                "hateful": not family.endswith("_harmless"),
                "explanation": text,
                "expected": expected,
            }


def unmarked(marked: str) -> tuple[str, list[Row]]:
    """The sentence without its braces, and the mentions that they held."""
    text, expected, position = "", [], 0
    for found in re.finditer(r"\{([+-])([^}]*)\}", marked):
        text += marked[position : found.start()]
        mention = {"start": len(text), "end": len(text) + len(found[2]), "counts": found[1] == "+"}
        expected.append({**mention, "text": found[2]})
        text, position = text + found[2], found.end()
    return text + marked[position:], expected


def measure_groups(rows: Iterable[Row]) -> tuple[dict[str, Tally], dict[str, Tally]]:
    """Mentions by family, and explanations whose TGI is right by family."""
    mentions: dict[str, Tally] = defaultdict(Tally)
    targets: dict[str, Tally] = defaultdict(Tally)
    for row in rows:
        found = find_mentions(
            read_passage(row["explanation"], row["language"], quoted_spans(row["explanation"])),
            load_lexicon(row["policy"], row["language"]),
            hateful=row["hateful"],
        )
        said = f"{row['id']}: {row['explanation']!r}: " + ", ".join(
            f"{one.text!r} {'counts' if one.counts else 'does not count'} ({one.reason})"
            for one in found
        )
        for wanted in row["expected"]:
            near = [one for one in found if overlap(one, wanted)]
            right = any(one.counts for one in near) == wanted["counts"]
            mentions[row["family"]].add(right, f"{said}; {wanted['text']!r}")
        for one in found:
            if one.counts and not any(overlap(one, wanted) for wanted in row["expected"]):
                mentions[row["family"]].add(False, f"{said}; {one.text!r} is not expected")
        meant = any(wanted["counts"] for wanted in row["expected"])
        targets[row["family"]].add(any(one.counts for one in found) == meant, said)
    return mentions, targets


def overlap(mention: GroupMention, wanted: Row) -> bool:
    return bool(mention.start < wanted["end"] and wanted["start"] < mention.end)


def share(tallies: Iterable[Tally]) -> float:
    every = list(tallies)
    return sum(one.right for one in every) / max(1, sum(one.of for one in every))


def table(tallies: dict[str, Tally]) -> str:
    rows = [f"{name:22} {one.right:3} / {one.of:3}" for name, one in sorted(tallies.items())]
    return "\n".join([*rows, f"{'all':22} {share(tallies.values()):.3f}"])


def quote_summary(figures: QuoteFigures) -> str:
    one, other = figures.hallucinated, figures.located
    return (
        f"{table(figures.families)}\nhallucinated: precision {one.precision:.3f}, recall "
        f"{one.recall:.3f}; located: precision {other.precision:.3f}, recall {other.recall:.3f}"
    )


if __name__ == "__main__":
    import sys

    everything = {
        "own": (own_quotes(), list(own_groups())),
        **{
            f"golden, half {kept}": (
                half(golden("quotes_real"), kept),
                half(golden("group_mentions"), kept),
            )
            for kept in (0, 1)
        },
    }
    for name, (quotes, groups) in everything.items():
        figures_ = measure_quotes(quotes)
        mentions_, targets_ = measure_groups(groups)
        print(f"\n== {name}: quotations\n{quote_summary(figures_)}")  # noqa: T201
        print(f"\n== {name}: mentions\n{table(mentions_)}")  # noqa: T201
        print(f"== {name}: TGI\n{table(targets_)}")  # noqa: T201
        if name in sys.argv[1:]:
            wrong = [
                w for t in (figures_.families, mentions_) for one in t.values() for w in one.wrong
            ]
            print("\n".join(wrong))  # noqa: T201
